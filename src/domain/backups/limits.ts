import { and, asc, eq, isNull, or, type SQL, sql } from 'drizzle-orm'
import { only, rowsOf } from '../../db/database.ts'
import { activity, activitySubjects, backups } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import type { Server } from '../../db/tables/servers.ts'
import { displayError, tooManyRequests } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import type { EventName } from '../activity.ts'
import { secondsUntil } from '../throttles.ts'

/** How many backups of one server may begin within so many seconds; 0 is any number. */
export type BackupThrottle = { most: number; seconds: number }

/** Those that failed or are being removed do not count. */
const counts = (server: { id: number }) =>
  and(
    eq(backups.serverId, server.id),
    isNull(backups.deletingAt),
    or(isNull(backups.completedAt), eq(backups.isSuccessful, true)),
  )

/** How many backups of the server count on its limit, for a statement that finds out more than this. */
export const countOf = (server: { id: number }): SQL<number> =>
  sql<number>`(select count(*)::int from ${backups} where ${counts(server)})`

/** Whether a locked server may have one more backup. Spec: Limits; reference: backup limits. */
export async function hasRoom(panel: Panel, server: Pick<Server, 'id' | 'backupLimit'>): Promise<boolean> {
  const { count } = only(
    await panel.db
      .select({ count: sql<number>`count(*)::int` })
      .from(backups)
      .where(counts(server)),
  )
  return count < server.backupLimit
}

/** 400. The server has all the backups it may have. */
export const tooManyBackups = () =>
  displayError('This server has all the backups it may have.', 'TooManyBackupsException')

/** The oldest backup of a locked server that may make room for another one: a good one that nobody locked. */
export async function oldestSpare(panel: Panel, server: { id: number }): Promise<Backup | null> {
  const [oldest] = await panel.db
    .select()
    .from(backups)
    .where(and(counts(server), eq(backups.isSuccessful, true), eq(backups.isLocked, false)))
    .orderBy(asc(backups.createdAt), asc(backups.id))
    .limit(1)
    .for('update')
  return oldest ?? null
}

/**
 * Another backup of a locked server may begin. The audit log knows what began lately, whatever became of the
 * rows; what failed does not count. Refuses with 429 until the newest one is long enough ago.
 */
export async function refuseThrottled(
  panel: Panel,
  server: { id: number },
  { most, seconds }: BackupThrottle,
): Promise<void> {
  if (most === 0) return
  const since = new Date(panel.now().getTime() - seconds * 1000)
  const { count, newest } = await startsSince(panel, server, since)
  if (count < most || newest === null) return
  const freeAt = new Date(newest.getTime() + seconds * 1000)
  throw tooManyRequests(secondsUntil(panel, freeAt), {}, 'TooManyRequestsHttpException')
}

const events = {
  start: 'server:backup.start',
  fail: 'server:backup.fail',
  complete: 'server:backup.complete',
} as const satisfies Record<string, EventName>

async function startsSince(
  panel: Panel,
  server: { id: number },
  since: Date,
): Promise<{ count: number; newest: Date | null }> {
  const names = sql.join(
    Object.values(events).map((name) => sql`${name}`),
    sql`, `,
  )
  const result = await panel.db.execute(sql`
    select count(*)::int as count, extract(epoch from max(started))::float8 as newest from (
      select max(entry.timestamp) filter (where entry.event = ${events.start}) as started,
        bool_or(entry.event = ${events.fail}) as failed,
        bool_or(entry.event = ${events.complete}) as completed
      from ${activity} entry
      join ${activitySubjects} subject on subject.activity_id = entry.id and subject.subject_type = 'backup'
      where entry.server_id = ${server.id} and entry.event in (${names})
        and entry.timestamp > ${since.toISOString()}::timestamptz
      group by subject.subject_id
    ) backup where started is not null and (completed or not failed)`)
  const { count, newest } = only(rowsOf<{ count: number; newest: number | null }>(result))
  return { count, newest: newest === null ? null : new Date(Number(newest) * 1000) }
}
