import { and, eq, isNull } from 'drizzle-orm'
import { backups, servers } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import type { Server } from '../../db/tables/servers.ts'
import { badRequest } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import type { JobPayloads } from '../jobs.ts'
import { discardFromStore } from './archives.ts'
import { occurrenceOf } from './backups.ts'
import { unknownBackup } from './node-backups.ts'

/** 400. What is said of a backup comes too late. Spec: States and transitions, backup. */
export const alreadySuccessful = () => badRequest('The backup is already successful.')

/**
 * The backup is failed and unlocked; one that has failed before is left as it is. What the store holds of it, a
 * job removes. Records `server:backup.fail`. Refuses with 400 a successful one, with 404 one that is gone or
 * being removed. Spec: States and transitions, backup.
 */
export async function failBackup(
  panel: Panel,
  { backup, server }: { backup: Pick<Backup, 'id'>; server: Pick<Server, 'uuid'> },
): Promise<void> {
  const now = panel.now()
  await inTransaction(panel, async (inside) => {
    const [locked] = await inside.db.select().from(backups).where(eq(backups.id, backup.id)).for('update')
    if (!locked || locked.deletingAt) throw unknownBackup()
    if (locked.isSuccessful) throw alreadySuccessful()
    if (locked.completedAt) return
    await inside.db
      .update(backups)
      .set({ isLocked: false, bytes: 0, checksum: null, completedAt: now, uploadId: null, updatedAt: now })
      .where(eq(backups.id, locked.id))
    await record(inside, 'server:backup.fail', occurrenceOf(locked))
    if (locked.disk === 's3') await discardFromStore(inside, { backup: locked, server })
  })
}

/** The job: a backup that nobody reported of in time has failed. */
export async function expireBackup(panel: Panel, { backupId }: JobPayloads['expire-backup']): Promise<void> {
  const [running] = await panel.db
    .select({ backup: backups, server: servers })
    .from(backups)
    .innerJoin(servers, eq(servers.id, backups.serverId))
    .where(and(eq(backups.id, backupId), isNull(backups.completedAt), isNull(backups.deletingAt)))
  if (running) await failBackup(panel, running)
}
