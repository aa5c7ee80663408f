import { and, eq, isNull, not } from 'drizzle-orm'
import { paginate, type PageNumbers, type RowPage } from '../../db/pagination.ts'
import { backups } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import { notFound } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { countOf } from './limits.ts'

/** A page of backups, and how many of the server's count on its limit. */
export type BackupPage = RowPage<Backup> & { backupCount: number }

/** What the audit log says of a backup. */
export const occurrenceOf = ({ id, serverId, name }: Pick<Backup, 'id' | 'serverId' | 'name'>) => ({
  serverId,
  properties: { name },
  subjects: [{ type: 'backup' as const, id }],
})

/** One page of the backups of a server, in the order of their ids, in one statement. Spec: Client API, backups. */
export async function listBackups(
  panel: Panel,
  server: { id: number },
  numbers: PageNumbers,
): Promise<BackupPage> {
  const { alsoCounted: backupCount = 0, ...page } = await paginate(panel.db, {
    ...numbers,
    table: backups,
    where: kept(server),
    alsoCounted: countOf(server),
  })
  return { ...page, backupCount }
}

/** A backup of the server. Refuses with 404, also while it is being removed. Spec: Client API, backups. */
export async function findBackup(panel: Panel, server: { id: number }, uuid: string): Promise<Backup> {
  const [backup] = await panel.db.select().from(backups).where(named(server, uuid))
  if (!backup) throw notFound()
  return backup
}

/** The same, locked until the transaction ends. */
export async function lockBackup(panel: Panel, server: { id: number }, uuid: string): Promise<Backup> {
  const [backup] = await panel.db.select().from(backups).where(named(server, uuid)).for('update')
  if (!backup) throw notFound()
  return backup
}

/**
 * A locked backup is not locked any more, another one is. Records `server:backup.lock` or
 * `server:backup.unlock`. Refuses with 404. Spec: States and transitions, backup.
 */
export function toggleLock(panel: Panel, server: { id: number }, uuid: string): Promise<Backup> {
  return inTransaction(panel, async (inside) => {
    const [backup] = await inside.db
      .update(backups)
      .set({ isLocked: not(backups.isLocked), updatedAt: inside.now() })
      .where(named(server, uuid))
      .returning()
    if (!backup) throw notFound()
    const event = backup.isLocked ? 'server:backup.lock' : 'server:backup.unlock'
    await record(inside, event, occurrenceOf(backup))
    return backup
  })
}

const kept = (server: { id: number }) => and(eq(backups.serverId, server.id), isNull(backups.deletingAt))

const named = (server: { id: number }, uuid: string) => and(kept(server), eq(backups.uuid, uuid))
