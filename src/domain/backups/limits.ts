import { and, asc, eq, isNull, or, type SQL, sql } from 'drizzle-orm'
import { single, rowsOf } from '../../db/database.ts'
import { activity, activitySubjects, backups } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import type { Server } from '../../db/tables/servers.ts'
import { displayError, tooManyRequests } from '../../errors.ts'
import type { Tx } from '../../panel.ts'
import type { EventName } from '../activity/events.ts'
import { secondsUntil } from '../auth/attempt-limits.ts'

/** How many backups of a server may start within a period; a limit of 0 disables the throttle. */
export type BackupThrottle = { limit: number; periodSeconds: number }

/** Selects the backups of a server without failed ones and those that are being removed. */
const countsTowardLimit = (server: { id: number }) =>
  and(
    eq(backups.serverId, server.id),
    isNull(backups.deletingAt),
    or(isNull(backups.completedAt), eq(backups.isSuccessful, true)),
  )

/** Counts the backups toward the server's limit, as part of another statement. */
export const backupCountSql = (server: { id: number }): SQL<number> =>
  sql<number>`(select count(*)::int from ${backups} where ${countsTowardLimit(server)})`

/** Whether a locked server may have one more backup (P-2). Spec: docs/backups.md#states. */
export async function hasFreeBackupSlot(
  tx: Tx,
  server: Pick<Server, 'id' | 'backupLimit'>,
): Promise<boolean> {
  const { count } = single(
    await tx.db
      .select({ count: sql<number>`count(*)::int` })
      .from(backups)
      .where(countsTowardLimit(server)),
  )
  return count < server.backupLimit
}

/** Creates the 400 for a server at its limit; `schedules/reasons.ts` finds stored reasons by its text. */
export const tooManyBackups = () =>
  displayError('backup_limit_reached', 'This server has all the backups it may have.', {
    code: 'TooManyBackupsException',
  })

/**
 * Finds the oldest successful, unlocked backup of a locked server and locks it; null without one. `onlyScheduled`
 * leaves those alone that users made.
 */
export async function findOldestRemovableBackup(
  tx: Tx,
  server: { id: number },
  { onlyScheduled }: { onlyScheduled: boolean },
): Promise<Backup | null> {
  const [oldest] = await tx.db
    .select()
    .from(backups)
    .where(
      and(
        countsTowardLimit(server),
        eq(backups.isSuccessful, true),
        eq(backups.isLocked, false),
        onlyScheduled ? eq(backups.isScheduled, true) : undefined,
      ),
    )
    .orderBy(asc(backups.createdAt), asc(backups.id))
    .limit(1)
    .for('update')
  return oldest ?? null
}

/**
 * Refuses with 429 while too many backups of a locked server have started within the period. Counts activity
 * entries, since rows may have been deleted; failed backups do not count.
 */
export async function refuseThrottled(
  tx: Tx,
  server: { id: number },
  { limit, periodSeconds }: BackupThrottle,
): Promise<void> {
  if (limit === 0) return
  const since = new Date(tx.now().getTime() - periodSeconds * 1000)
  const { count, newest } = await countStartsSince(tx, server, since)
  if (count < limit || newest === null) return
  const retryAt = new Date(newest.getTime() + periodSeconds * 1000)
  throw tooManyRequests(secondsUntil(tx, retryAt), {}, 'TooManyRequestsHttpException')
}

const backupEvents = {
  start: 'server:backup.start',
  fail: 'server:backup.fail',
  complete: 'server:backup.complete',
} as const satisfies Record<string, EventName>

async function countStartsSince(
  tx: Tx,
  server: { id: number },
  since: Date,
): Promise<{ count: number; newest: Date | null }> {
  const names = sql.join(
    Object.values(backupEvents).map((name) => sql`${name}`),
    sql`, `,
  )
  const result = await tx.db.execute(sql`
    select count(*)::int as count, extract(epoch from max(started))::float8 as newest from (
      select max(entry.timestamp) filter (where entry.event = ${backupEvents.start}) as started,
        bool_or(entry.event = ${backupEvents.fail}) as failed,
        bool_or(entry.event = ${backupEvents.complete}) as completed
      from ${activity} entry
      join ${activitySubjects} subject on subject.activity_id = entry.id and subject.subject_type = 'backup'
      where entry.server_id = ${server.id} and entry.event in (${names})
        and entry.timestamp > ${since.toISOString()}::timestamptz
      group by subject.subject_id
    ) backup where started is not null and (completed or not failed)`)
  const { count, newest } = single(rowsOf<{ count: number; newest: number | null }>(result))
  return { count, newest: newest === null ? null : new Date(Number(newest) * 1000) }
}
