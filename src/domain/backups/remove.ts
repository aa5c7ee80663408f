import { and, eq, isNotNull } from 'drizzle-orm'
import { single } from '../../db/database.ts'
import { backups, nodes, servers } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import { displayError } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { cancelJob, enqueueJob, type JobPayloads } from '../jobs/enqueue.ts'
import { toDaemonApiError } from '../nodes/daemon-errors.ts'
import { lockAvailableServer, lockServer } from '../servers/lock.ts'
import { enqueueStoredArchiveDiscard, deleteArchive, removalLifetimeSeconds } from './archives.ts'
import { lockBackup, toBackupActivity } from './backups.ts'
import { hasFreeBackupSlot } from './limits.ts'

/** Seconds after which a job takes over an unfinished removal: longer than any call. */
const removalJobDelaySeconds = 60

/** The key of the job that finishes a removal. */
const removalJobKey = ({ id }: Pick<Backup, 'id'>) => `delete-backup:${id}`

/**
 * Removes a backup and its archive; one that is being created is cancelled. Records `server:backup.delete`. When
 * the process ends on the way, a job continues.
 *
 * Refuses with 404, with 400 a successful backup that is locked, and with the daemon's status, 502, 503 or 504
 * when the archive cannot be deleted: then the backup is kept, unless another one has taken its slot; in that
 * case the job keeps trying. Spec: docs/backups.md#deleting. Wings: DELETE …/backup/{backup}.
 */
export async function removeBackup(
  panel: Panel,
  target: { server: { id: number } },
  uuid: string,
): Promise<void> {
  const removal = await inTransaction(panel, async (tx) => {
    const locked = await lockAvailableServer(tx, target.server.id)
    const backup = await lockBackup(tx, locked.server, uuid)
    if (backup.isLocked && backup.isSuccessful) {
      throw displayError('backup_locked', 'A locked backup cannot be deleted. Unlock it first.', {
        code: 'BackupLockedException',
      })
    }
    return { ...locked, backup: await beginRemoval(tx, backup) }
  })
  try {
    await deleteArchive(panel, removal)
  } catch (error) {
    await inTransaction(panel, (tx) => cancelRemoval(tx, removal.backup))
    throw toDaemonApiError(error)
  }
  await finishRemoval(panel, removal.backup)
}

/** Job: finishes the removal of a backup. Wings: DELETE …/backup/{backup}. */
export async function finishRemovalOnNode(
  panel: Panel,
  { backupId }: JobPayloads['delete-backup'],
): Promise<void> {
  const [found] = await panel.db
    .select({ backup: backups, server: servers, node: nodes })
    .from(backups)
    .innerJoin(servers, eq(servers.id, backups.serverId))
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .where(and(eq(backups.id, backupId), isNotNull(backups.deletingAt)))
  if (!found) return
  await deleteArchive(panel, found)
  await finishRemoval(panel, found.backup)
}

/**
 * Marks a backup as being removed, so that it no longer counts, and enqueues the job for it. Call it in a
 * transaction.
 */
export async function beginRemoval(tx: Tx, { id }: Pick<Backup, 'id'>): Promise<Backup> {
  const now = tx.now()
  const backup = single(
    await tx.db
      .update(backups)
      .set({ deletingAt: now, updatedAt: now })
      .where(eq(backups.id, id))
      .returning(),
  )
  await enqueueJob(
    tx,
    'delete-backup',
    { backupId: id },
    {
      key: removalJobKey(backup),
      runAt: new Date(now.getTime() + removalJobDelaySeconds * 1000),
      lifetimeSeconds: removalLifetimeSeconds,
    },
  )
  return backup
}

/**
 * Restores a backup whose archive could not be deleted, if the server still has a free slot. Call it in a
 * transaction.
 */
export async function cancelRemoval(tx: Tx, backup: Backup): Promise<void> {
  const server = await lockServer(tx, backup.serverId)
  const hasFailed = backup.completedAt !== null && !backup.isSuccessful
  if (!hasFailed && !(await hasFreeBackupSlot(tx, server))) return
  await tx.db.update(backups).set({ deletingAt: null, updatedAt: tx.now() }).where(eq(backups.id, backup.id))
  await cancelJob(tx, removalJobKey(backup))
}

/** Deletes the row of a backup whose archive is deleted; only the first of several calls records the event. */
export async function finishRemoval(panel: Panel, { id }: Pick<Backup, 'id'>): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const [backup] = await tx.db
      .delete(backups)
      .where(and(eq(backups.id, id), isNotNull(backups.deletingAt)))
      .returning()
    if (!backup) return
    await cancelJob(tx, removalJobKey(backup))
    const { properties, ...activity } = toBackupActivity(backup)
    const failed = backup.completedAt !== null && !backup.isSuccessful
    await recordEvent(tx, 'server:backup.delete', { ...activity, properties: { ...properties, failed } })
  })
}

/**
 * Enqueues jobs that delete a server's archives in the object store. Call it in the transaction that deletes the
 * server.
 */
export async function discardStoredBackups(tx: Tx, serverId: number): Promise<void> {
  const storedBackups = await tx.db
    .select({ backup: backups, server: { uuid: servers.uuid } })
    .from(backups)
    .innerJoin(servers, eq(servers.id, backups.serverId))
    .where(and(eq(backups.serverId, serverId), eq(backups.disk, 's3')))
  for (const each of storedBackups) await enqueueStoredArchiveDiscard(tx, each)
}
