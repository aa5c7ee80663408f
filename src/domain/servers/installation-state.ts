import { and, eq } from 'drizzle-orm'
import * as z from 'zod'
import { DaemonError } from '../../adapters/daemon-error.ts'
import { jobs, servers } from '../../db/schema.ts'
import { conflict, serverStateConflict } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { cancelJob, type JobPayloads } from '../jobs/enqueue.ts'
import { enqueueInstallNotice } from '../mail/enqueue.ts'
import { notifyUsers } from '../notifications/notify.ts'
import type { ServerOnNode } from './access.ts'
import { cancelInstallWatch, creationKey, installWatchKey, reinstallKey } from './installation.ts'
import { findServerNode, lockServer } from './lock.ts'

/** Characters of an install log that are shown: its end. */
const maxLogLength = 128 * 1024

/** Since when an installation runs, null when none does; and its log, null when the daemon gives none. */
export type Installation = { startedAt: Date | null; log: string | null }

/**
 * Shows the installation of a server with the end of its log, at most 128 KiB. Stock daemons give none, and one that
 * does not answer either. Spec: docs/servers.md#installation. Wings: GET /api/servers/{uuid}/install-logs
 */
export async function showInstallation(panel: Panel, { server, node }: ServerOnNode): Promise<Installation> {
  const [[watch], log] = await Promise.all([
    panel.db
      .select({ payload: jobs.payload })
      .from(jobs)
      .where(and(eq(jobs.key, installWatchKey(server.id)), eq(jobs.state, 'waiting'))),
    panel.daemon(node).installLog(server.uuid).catch(ignoreDaemonError),
  ])
  const isRunning = server.status === 'installing' && watch !== undefined
  const startedAt = isRunning ? new Date((watch.payload as JobPayloads['watch-install']).since) : null
  return { startedAt, log: typeof log?.data === 'string' ? log.data.slice(-maxLogLength) : null }
}

function ignoreDaemonError(error: unknown): null {
  if (error instanceof DaemonError) return null
  throw error
}

/** How an administrator says that an installation ended. Spec: postApplicationServersByServerInstallation. */
export const InstallationInput = () => z.object({ status: z.enum(['installed', 'failed']) })
type InstallationInput = z.output<ReturnType<typeof InstallationInput>>

/**
 * Ends an installation of which no report came, or corrects its end: the status becomes normal, or `install_failed`
 * or `reinstall_failed`. Sets `installed_at` on success, cancels the jobs of the installation, and mails the owner when
 * it was running and succeeded. Records `server:installation.complete` or `server:installation.fail`. Does nothing
 * when that is the status already.
 *
 * Refuses with 404; with 409 while the server is suspended, being restored or transferred, and `failed` for a server
 * that is installed. Spec: postApplicationServersByServerInstallation.
 */
export async function setInstallation(
  panel: Panel,
  id: number,
  { status: end }: InstallationInput,
): Promise<void> {
  const isInstalled = end === 'installed'
  await inTransaction(panel, async (tx) => {
    const { status, installedAt, ...server } = await lockServer(tx, id)
    if (status === 'suspended') throw serverStateConflict('server_suspended', 'The server is suspended.')
    if (status === 'restoring_backup')
      throw serverStateConflict('server_restoring', 'The server is being restored from a backup.')
    const { targetNodeId } = await findServerNode(tx, server)
    if (targetNodeId !== null)
      throw conflict('server_transferring', 'The server is being transferred to another node.')
    if (status === null && !isInstalled)
      throw serverStateConflict('server_installed', 'The server is installed.')
    const failedStatus = installedAt === null ? 'install_failed' : 'reinstall_failed'
    const newStatus = isInstalled ? null : failedStatus
    if (status === newStatus) return
    const now = tx.now()
    await tx.db
      .update(servers)
      .set({ status: newStatus, ...(isInstalled ? { installedAt: now } : {}), updatedAt: now })
      .where(eq(servers.id, id))
    for (const key of [creationKey(id), reinstallKey(id)]) await cancelJob(tx, key)
    await cancelInstallWatch(tx, id)
    await recordEvent(tx, isInstalled ? 'server:installation.complete' : 'server:installation.fail', {
      serverId: id,
    })
    if (status === 'installing')
      await notifyUsers(tx, isInstalled ? 'install.completed' : 'install.failed', { serverId: id })
    if (isInstalled && status === 'installing') await enqueueInstallNotice(tx, id, installedAt === null)
  })
}
