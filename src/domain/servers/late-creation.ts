import { DaemonError } from '../../adapters/daemon-error.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import type { JobPayloads } from '../jobs/enqueue.ts'
import { failInstallation, lockInstallingServer } from './installation.ts'
import { findServerWithNode, isKnownToDaemon } from './node-jobs.ts'

/**
 * Runs `create-server-on-node`: has the node install a server whose creation got no answer or was abandoned, unless
 * the node knows it already. Records `server:installation.dispatch`, or `server:installation.abandon` when the node refuses the
 * server for good: then the installation has failed, and the owner gets a mail. Does nothing when the server is deleted
 * or installed. Wings: POST /api/servers
 */
export async function createServerOnNode(
  panel: Panel,
  payload: JobPayloads['create-server-on-node'],
): Promise<void> {
  const found = await findServerWithNode(panel, payload.serverId)
  if (!found || found.server.status !== 'installing' || found.server.installedAt) return
  const { server } = found
  const daemon = panel.daemon(found.node)
  let refusal: DaemonError | null = null
  if (!(await isKnownToDaemon(daemon, server.uuid))) {
    await daemon.createServer(server.uuid, payload.startOnCompletion).catch((error: unknown) => {
      if (!isFinalRefusal(error)) throw error
      refusal = error
    })
  }
  await inTransaction(panel, async (tx) => {
    const installing = await lockInstallingServer(tx, server.id)
    if (!installing) return
    if (refusal) return failInstallation(tx, installing, refusal.message)
    await recordEvent(tx, 'server:installation.dispatch', { serverId: server.id })
  })
}

/** Statuses after which it may go better later: the credential, the load and the state of the node change. */
const temporaryStatuses = [401, 403, 404, 408, 409, 423, 425, 429]

const isFinalRefusal = (error: unknown): error is DaemonError =>
  error instanceof DaemonError &&
  error.status !== null &&
  error.status >= 400 &&
  error.status < 500 &&
  !temporaryStatuses.includes(error.status)
