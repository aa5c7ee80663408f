import { and, eq, isNull } from 'drizzle-orm'
import { DaemonError, isUnanswered } from '../../adapters/daemon-error.ts'
import { backups, nodes, servers } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import type { AccessNode } from '../servers/access.ts'
import type { Server } from '../../db/tables/servers.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { deleteSubjectEvents } from '../activity/record.ts'
import { cancelJob, enqueueJob, deleteWaitingJob, type JobPayloads } from '../jobs/enqueue.ts'
import { requireKnownDisk, removalLifetimeSeconds } from './archives.ts'
import { failBackup } from './completion.ts'

/** A backup whose row exists, with what the call to its daemon needs. */
export type BackupDispatch = { server: Pick<Server, 'uuid'>; node: AccessNode; backup: Backup }

/** The key of the job that sends the backup to the daemon. */
export const startJobKey = ({ id }: Pick<Backup, 'id'>) => `start-backup:${id}`
/** The key of the job that fails a backup at its deadline. */
export const expiryJobKey = ({ id }: Pick<Backup, 'id'>) => `expire-backup:${id}`

/**
 * Sends a backup to its daemon, which accepts it. When that fails, deletes the backup as if it had never been
 * requested and throws the failure; a backup on which the daemon has reported meanwhile is kept. Wings: POST
 * …/backup.
 */
export async function dispatchBackup(panel: Panel, dispatch: BackupDispatch): Promise<Backup> {
  try {
    await dispatchOnce(panel, dispatch)
  } catch (error) {
    const hasFailed = error instanceof DaemonError && (error.status ?? 0) >= 500
    const mayHaveStarted = hasFailed || isUnanswered(error)
    const isRolledBack = await inTransaction(panel, (tx) => rollBackStart(tx, dispatch, { mayHaveStarted }))
    if (isRolledBack) throw error
  }
  await cancelJob(panel, startJobKey(dispatch.backup))
  return dispatch.backup
}

/**
 * Job: sends a backup to its daemon that no request has sent. A refusal fails the backup; without an answer it is
 * left to its deadline, since the daemon may be working on it. Wings: POST …/backup.
 */
export async function startBackupOnNode(
  panel: Panel,
  { backupId }: JobPayloads['start-backup'],
): Promise<void> {
  const [dispatch] = await panel.db
    .select({ backup: backups, server: servers, node: nodes })
    .from(backups)
    .innerJoin(servers, eq(servers.id, backups.serverId))
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .where(and(eq(backups.id, backupId), isNull(backups.completedAt)))
  if (!dispatch) return
  try {
    await dispatchOnce(panel, dispatch)
  } catch (error) {
    if (!(error instanceof DaemonError)) throw error
    if (error.retryAfterSeconds !== null) {
      await panel.db.update(backups).set({ dispatchedAt: null }).where(eq(backups.id, backupId))
      throw error
    }
    if (error.status !== null) await failBackup(panel, dispatch)
  }
}

/** Marks the backup as sent before it calls the daemon, so that it is sent at most once. */
async function dispatchOnce(panel: Panel, { server, node, backup }: BackupDispatch): Promise<void> {
  const claimed = await panel.db
    .update(backups)
    .set({ dispatchedAt: panel.now() })
    .where(and(eq(backups.id, backup.id), isNull(backups.dispatchedAt), isNull(backups.deletingAt)))
    .returning({ id: backups.id })
  if (claimed.length === 0) return
  const { uuid, ignoredFiles: ignored } = backup
  await panel.daemon(node).createBackup(server.uuid, { uuid, adapter: requireKnownDisk(backup), ignored })
}

/**
 * Deletes row, event and jobs of a backup and returns true; false when its daemon has reported on it or it is
 * being removed: then it is kept. Where the daemon may have started, a job deletes the archive. Call it in a
 * transaction.
 */
export async function rollBackStart(
  tx: Tx,
  { server, node, backup }: BackupDispatch,
  { mayHaveStarted }: { mayHaveStarted: boolean },
): Promise<boolean> {
  const { id, uuid, serverId, disk } = backup
  const deleted = await tx.db
    .delete(backups)
    .where(
      and(
        eq(backups.id, id),
        isNull(backups.completedAt),
        isNull(backups.uploadId),
        isNull(backups.deletingAt),
      ),
    )
    .returning({ id: backups.id })
  if (deleted.length === 0) return false
  await deleteSubjectEvents(tx, 'server:backup.start', { serverId, subject: { type: 'backup', id } })
  await deleteWaitingJob(tx, startJobKey(backup))
  await deleteWaitingJob(tx, expiryJobKey(backup))
  if (mayHaveStarted && disk === 'wings') {
    const payload = { nodeId: node.id, serverUuid: server.uuid, backupUuid: uuid }
    await enqueueJob(tx, 'discard-backup-archive', payload, { lifetimeSeconds: removalLifetimeSeconds })
  }
  return true
}

/**
 * Job: deletes the archive of a backup whose row was rolled back from its node. Wings: DELETE …/backup/{backup}.
 */
export async function discardNodeArchive(
  panel: Panel,
  { nodeId, serverUuid, backupUuid }: JobPayloads['discard-backup-archive'],
): Promise<void> {
  const [node] = await panel.db.select().from(nodes).where(eq(nodes.id, nodeId))
  if (node) await panel.daemon(node).deleteBackup(serverUuid, backupUuid)
}
