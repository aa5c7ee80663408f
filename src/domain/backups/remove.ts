import { and, eq, isNotNull } from 'drizzle-orm'
import { only } from '../../db/database.ts'
import { backups, nodes, servers } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import { displayError } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { refuseDaemonFailure } from '../daemon-errors.ts'
import { cancelJob, enqueue, type JobPayloads } from '../jobs.ts'
import { lockAvailable, lockServer } from '../servers/lock.ts'
import { discardFromStore, eraseArchive, removalLifetime } from './archives.ts'
import { lockBackup, occurrenceOf } from './backups.ts'
import { hasRoom } from './limits.ts'

/** Seconds after which a removal that nobody finished is taken up by its job: longer than any call. */
const removalGrace = 60

/** Under which the job that finishes a removal waits. */
const removalKey = ({ id }: Pick<Backup, 'id'>) => `delete-backup:${id}`

/**
 * The backup is gone from the panel and from where its archive was; one that is being made is not made any more.
 * Records `server:backup.delete`. When the process dies on the way, a job goes on.
 *
 * Refuses with 404, with 400 a good one that is locked, with the daemon's status, 502 or 504, or with 503 when
 * the store does not remove the archive: then the backup is kept, unless another one has taken its place, when
 * the job goes on trying. Spec: Client API, backups. Wings: DELETE …/backup/{backup}
 */
export async function removeBackup(
  panel: Panel,
  target: { server: { id: number } },
  uuid: string,
): Promise<void> {
  const removal = await inTransaction(panel, async (inside) => {
    const place = await lockAvailable(inside, target.server.id)
    const backup = await lockBackup(inside, place.server, uuid)
    if (backup.isLocked && backup.isSuccessful) {
      throw displayError('A locked backup cannot be removed.', 'BackupLockedException')
    }
    return { ...place, backup: await beginRemoval(inside, backup) }
  })
  try {
    await eraseArchive(panel, removal)
  } catch (error) {
    await inTransaction(panel, (inside) => keepBackup(inside, removal.backup))
    refuseDaemonFailure(error)
  }
  await finishRemoval(panel, removal.backup)
}

/** The job: what somebody wanted gone is gone. Wings: DELETE …/backup/{backup} */
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
  await eraseArchive(panel, found)
  await finishRemoval(panel, found.backup)
}

/** In the transaction that decides it: the backup counts no more, and a job removes it in a minute. */
export async function beginRemoval(panel: Panel, { id }: Pick<Backup, 'id'>): Promise<Backup> {
  const now = panel.now()
  const backup = only(
    await panel.db
      .update(backups)
      .set({ deletingAt: now, updatedAt: now })
      .where(eq(backups.id, id))
      .returning(),
  )
  await enqueue(
    panel,
    'delete-backup',
    { backupId: id },
    {
      key: removalKey(backup),
      runAt: new Date(now.getTime() + removalGrace * 1000),
      lifetimeSeconds: removalLifetime,
    },
  )
  return backup
}

/** In a transaction: the backup is as before, if the server still has room for it. */
export async function keepBackup(panel: Panel, backup: Backup): Promise<void> {
  const server = await lockServer(panel, backup.serverId)
  const hasFailed = backup.completedAt !== null && !backup.isSuccessful
  if (!hasFailed && !(await hasRoom(panel, server))) return
  await panel.db
    .update(backups)
    .set({ deletingAt: null, updatedAt: panel.now() })
    .where(eq(backups.id, backup.id))
  await cancelJob(panel, removalKey(backup))
}

/** The archive is gone, now the row is as well; once, whoever comes to it. */
export async function finishRemoval(panel: Panel, { id }: Pick<Backup, 'id'>): Promise<void> {
  await inTransaction(panel, async (inside) => {
    const [backup] = await inside.db
      .delete(backups)
      .where(and(eq(backups.id, id), isNotNull(backups.deletingAt)))
      .returning()
    if (!backup) return
    await cancelJob(inside, removalKey(backup))
    const { properties, ...occurrence } = occurrenceOf(backup)
    const failed = backup.completedAt !== null && !backup.isSuccessful
    await record(inside, 'server:backup.delete', { ...occurrence, properties: { ...properties, failed } })
  })
}

/** In the transaction that erases the server: jobs remove what the object store holds of its backups. */
export async function letGoOfBackups(panel: Panel, serverId: number): Promise<void> {
  const kept = await panel.db
    .select({ backup: backups, server: { uuid: servers.uuid } })
    .from(backups)
    .innerJoin(servers, eq(servers.id, backups.serverId))
    .where(and(eq(backups.serverId, serverId), eq(backups.disk, 's3')))
  for (const each of kept) await discardFromStore(panel, each)
}
