import { and, eq, isNull } from 'drizzle-orm'
import * as z from 'zod'
import { DaemonError } from '../../adapters/daemon-error.ts'
import { backups, nodes, servers } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import type { Server } from '../../db/tables/servers.ts'
import { badRequest } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { boolean } from '../fields.ts'
import { cancelJob, type JobPayloads, replaceJob } from '../jobs/enqueue.ts'
import { toDaemonApiError } from '../nodes/daemon-errors.ts'
import type { ServerOnNode } from '../servers/access.ts'
import { lockAvailableServer } from '../servers/lock.ts'
import type { ServerConflict } from '../servers/state.ts'
import {
  archiveContentType,
  archiveKey,
  callObjectStore,
  requireKnownDisk,
  requireStoredArchive,
} from './archives.ts'
import { findBackup, lockBackup, toBackupActivity } from './backups.ts'
import { signBackupDownloadToken } from './download.ts'
import { restoreJobKey, enqueueRestorationWatch, failRestoration } from './restoration-completion.ts'

/** Seconds after which a job takes over an unfinished dispatch: longer than the call itself. */
const dispatchJobDelaySeconds = 60
/** Seconds for which the URL of an archive is valid: the daemon uses it at once. */
const linkLifetimeSeconds = 900

/** States that a restoration refuses with 400 instead of 409. Spec: docs/backups.md#restoring. */
export const toleratedConflicts = ['suspended', 'installing', 'restoring'] as const satisfies ServerConflict[]

/** `truncate` deletes the server's files first. Spec: postClientServersByServerBackupsByBackupRestore. */
export const RestorationInput = () => z.object({ truncate: boolean() })

type Restoration = ServerOnNode & { backup: Backup; truncate: boolean }

/**
 * Starts to restore a backup; the daemon accepts it and continues by itself. The status is `restoring_backup`
 * until it reports, or for two hours. Records `server:backup.restore`, then `server:backup.restore-started`. When
 * the process ends on the way, a job continues.
 *
 * Refuses with 404; with 400 a server with any status, a backup that is not successful or on an unknown disk,
 * and, before files are deleted, one whose archive is lost; with 409 a node in maintenance and a server that is
 * being transferred. When the daemon does not accept it, answers with its status, 502 or 504, resets the status,
 * and records `server.backup.restore-failed`, since files may be deleted by then. Spec:
 * docs/backups.md#restoring. Wings: POST …/backup/{backup}/restore.
 */
export async function restoreBackup(
  panel: Panel,
  target: ServerOnNode,
  uuid: string,
  { truncate }: { truncate: boolean },
): Promise<void> {
  const found = await findBackup(panel, target.server, uuid)
  requireRestorable(target.server, found)
  await refuseLostArchive(panel, target, found, truncate)
  const restoration = await inTransaction(panel, (tx) =>
    beginRestoration(tx, target.server.id, uuid, truncate),
  )
  try {
    if (!(await dispatchRestorationOnce(panel, restoration))) return
  } catch (error) {
    await failRestoration(panel, restoration)
    throw toDaemonApiError(error)
  }
  await recordRestorationStarted(panel, restoration)
}

/**
 * Job: sends a restoration that no request has sent to its daemon, or fails it. One that was sent is left to its
 * watch. Wings: POST …/backup/{backup}/restore.
 */
export async function restoreBackupOnNode(
  panel: Panel,
  { backupId, truncate }: JobPayloads['restore-backup'],
): Promise<void> {
  const [found] = await panel.db
    .select({ backup: backups, server: servers, node: nodes })
    .from(backups)
    .innerJoin(servers, eq(servers.id, backups.serverId))
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .where(and(eq(backups.id, backupId), eq(servers.status, 'restoring_backup')))
  if (!found) return
  try {
    if (!(await dispatchRestorationOnce(panel, { ...found, truncate }))) return
  } catch (error) {
    if (!(error instanceof DaemonError)) throw error
    return failRestoration(panel, found)
  }
  await recordRestorationStarted(panel, found)
}

function requireRestorable({ status }: Pick<Server, 'status'>, backup: Backup): void {
  if (status !== null)
    throw badRequest('restore_while_busy', `The server cannot be restored while its status is ${status}.`, {
      values: { status },
    })
  if (!backup.isSuccessful || !backup.completedAt)
    throw badRequest('backup_not_successful', 'The backup was not completed successfully.')
  requireKnownDisk(backup)
}

/**
 * Refuses with 400 when the archive is lost: daemons delete files before they look for it. A node is asked only
 * with `truncate`.
 */
async function refuseLostArchive(
  panel: Panel,
  target: ServerOnNode,
  backup: Backup,
  truncate: boolean,
): Promise<void> {
  if (backup.disk === 's3') {
    await requireStoredArchive(panel, archiveKey({ ...target, backup }))
  } else if (truncate) {
    const token = await signBackupDownloadToken(panel, target, backup)
    const isLost = await panel
      .daemon(target.node)
      .isBackupMissing(token)
      .catch((error: unknown) => {
        throw toDaemonApiError(error)
      })
    if (isLost)
      throw badRequest('backup_archive_not_on_node', 'The archive of this backup is no longer on its node.')
  }
}

async function beginRestoration(
  tx: Tx,
  serverId: number,
  uuid: string,
  truncate: boolean,
): Promise<Restoration> {
  const { server, node } = await lockAvailableServer(tx, serverId, toleratedConflicts)
  const backup = await lockBackup(tx, server, uuid)
  requireRestorable(server, backup)
  const now = tx.now()
  await tx.db
    .update(servers)
    .set({ status: 'restoring_backup', updatedAt: now })
    .where(eq(servers.id, serverId))
  await tx.db.update(backups).set({ restoreDispatchedAt: null }).where(eq(backups.id, backup.id))
  const { properties, ...activity } = toBackupActivity(backup)
  await recordEvent(tx, 'server:backup.restore', { ...activity, properties: { ...properties, truncate } })
  const runAt = new Date(now.getTime() + dispatchJobDelaySeconds * 1000)
  const payload = { backupId: backup.id, truncate }
  await replaceJob(tx, 'restore-backup', payload, { key: restoreJobKey(server), runAt })
  await enqueueRestorationWatch(tx, { server, backup })
  return { server, node, backup, truncate }
}

/**
 * Marks the restoration as sent before it calls the daemon, so that it is sent at most once. False when it was
 * sent before.
 */
async function dispatchRestorationOnce(panel: Panel, restoration: Restoration): Promise<boolean> {
  const { server, node, backup, truncate } = restoration
  const adapter = requireKnownDisk(backup)
  const key = archiveKey(restoration)
  const signUrl = () => panel.objects.signedUrl(key, linkLifetimeSeconds, archiveContentType)
  const downloadUrl = adapter === 's3' ? await callObjectStore(signUrl) : null
  const claimed = await panel.db
    .update(backups)
    .set({ restoreDispatchedAt: panel.now() })
    .where(and(eq(backups.id, backup.id), isNull(backups.restoreDispatchedAt)))
    .returning({ id: backups.id })
  if (claimed.length === 0) return false
  const { uuid } = backup
  await panel.daemon(node).restoreBackup(server.uuid, { uuid, adapter, truncate, downloadUrl })
  return true
}

const recordRestorationStarted = (panel: Panel, { server, backup }: Pick<Restoration, 'server' | 'backup'>) =>
  inTransaction(panel, async (tx) => {
    await recordEvent(tx, 'server:backup.restore-started', toBackupActivity(backup))
    await cancelJob(tx, restoreJobKey(server))
  })
