import { cancelJob, type JobPayloads, replaceJob } from '../jobs.ts'
import type { Panel } from '../../panel.ts'

/** Seconds between two looks at an installation. */
const interval = 30 * 60

/** Under which the job that watches the installation of a server waits. */
export const watchKey = (serverId: number) => `watch-install:${serverId}`

/** Under which the job that finishes a creation waits. */
export const creationKey = (serverId: number) => `create-server:${serverId}`

/** Under which the job that finishes the start of a reinstallation waits. */
export const reinstallKey = (serverId: number) => `reinstall-server:${serverId}`

const inAWhile = (panel: Panel) => new Date(panel.now().getTime() + interval * 1000)

/**
 * The installation that begins now is watched, and the one before no more: call it in the transaction that gives
 * the server its status.
 */
export async function watchInstall(panel: Panel, serverId: number): Promise<void> {
  const since = panel.now().toISOString()
  const options = { key: watchKey(serverId), runAt: inAWhile(panel) }
  await replaceJob(panel, 'watch-install', { serverId, since }, options)
}

/** Looks at the same installation again later. */
export const watchOn = (panel: Panel, payload: JobPayloads['watch-install']): Promise<void> =>
  replaceJob(panel, 'watch-install', payload, { key: watchKey(payload.serverId), runAt: inAWhile(panel) })

/** Nobody watches the installation any more: it has ended. */
export const endWatch = (panel: Panel, serverId: number): Promise<void> =>
  cancelJob(panel, watchKey(serverId))
