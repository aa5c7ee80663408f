import { and, eq, isNull, not } from 'drizzle-orm'
import { paginate, type PageNumbers, type RowPage } from '../../db/pagination.ts'
import { backups } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import { notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { backupCountSql } from './limits.ts'

/** A page of backups with the number that counts toward the server's limit. */
export type BackupPage = RowPage<Backup> & { backupCount: number }

/** Converts a backup to the fields of its activity entries. */
export const toBackupActivity = ({ id, serverId, name }: Pick<Backup, 'id' | 'serverId' | 'name'>) => ({
  serverId,
  properties: { name },
  subjects: [{ type: 'backup' as const, id }],
})

/** Converts a backup to what its notifications say. */
export const toBackupNotification = ({ serverId, name }: Pick<Backup, 'serverId' | 'name'>) => ({
  serverId,
  properties: { name },
})

/** Lists a page of the backups of a server by id, in one statement. Spec: getClientServersByServerBackups. */
export async function listBackups(
  panel: Panel,
  server: { id: number },
  pageNumbers: PageNumbers,
): Promise<BackupPage> {
  const { extraCount: backupCount = 0, ...page } = await paginate(panel.db, {
    ...pageNumbers,
    table: backups,
    where: ofServer(server),
    extraCount: backupCountSql(server),
  })
  return { ...page, backupCount }
}

/**
 * Finds a backup of the server. Refuses with 404, also while it is being removed. Spec:
 * getClientServersByServerBackupsByBackup.
 */
export async function findBackup(panel: Panel, server: { id: number }, uuid: string): Promise<Backup> {
  const [backup] = await panel.db.select().from(backups).where(byUuid(server, uuid))
  if (!backup) throw notFound()
  return backup
}

/** Finds a backup as `findBackup` does and locks its row until the transaction ends. */
export async function lockBackup(tx: Tx, server: { id: number }, uuid: string): Promise<Backup> {
  const [backup] = await tx.db.select().from(backups).where(byUuid(server, uuid)).for('update')
  if (!backup) throw notFound()
  return backup
}

/**
 * Locks an unlocked backup and unlocks a locked one. Records `server:backup.lock` or `server:backup.unlock`.
 * Refuses with 404. Spec: docs/backups.md#states.
 */
export function toggleBackupLock(panel: Panel, server: { id: number }, uuid: string): Promise<Backup> {
  return inTransaction(panel, async (tx) => {
    const [backup] = await tx.db
      .update(backups)
      .set({ isLocked: not(backups.isLocked), updatedAt: tx.now() })
      .where(byUuid(server, uuid))
      .returning()
    if (!backup) throw notFound()
    const event = backup.isLocked ? 'server:backup.lock' : 'server:backup.unlock'
    await recordEvent(tx, event, toBackupActivity(backup))
    return backup
  })
}

const ofServer = (server: { id: number }) => and(eq(backups.serverId, server.id), isNull(backups.deletingAt))

const byUuid = (server: { id: number }, uuid: string) => and(ofServer(server), eq(backups.uuid, uuid))
