import { activityTables, movedTables } from './source-schema.ts'
import { firstIdOf } from './spool-ranges.ts'
import type { SourceRow, Spool } from './spool.ts'
import { dateOf } from './values.ts'

/** Which activity moves: that since a time, or all of it; null is none. */
export type ActivityScope = { from: Date | null; keptSince: Date } | null

const dayMs = 86_400_000
/** The columns with the time of an entry. */
const timeColumns: Record<string, string> = { activity_logs: 'timestamp', audit_logs: 'created_at' }

/**
 * Returns the scope of `all`, `none` or `90d`; without one it is what this panel keeps. `keptDays` are the days for which it
 * keeps entries.
 */
export function scopeOf(text: string | undefined, keptDays: number, now: Date): ActivityScope {
  if (text === 'none') return null
  const before = (days: number) => new Date(now.getTime() - days * dayMs)
  const keptSince = before(keptDays)
  if (text === 'all') return { from: null, keptSince }
  return { from: before(text === undefined ? keptDays : Number.parseInt(text, 10)), keptSince }
}

/** The tables that are read. */
export const tablesToRead = (activity: ActivityScope): string[] =>
  activity ? [...movedTables, ...activityTables] : movedTables

/** Whether a row is read: of activity only that of the scope. */
export function isInScope(activity: ActivityScope, table: string, row: SourceRow): boolean {
  const column = timeColumns[table]
  if (column === undefined || !activity?.from) return true
  const time = dateOf(row, column)
  return time === null || time >= activity.from
}

/** A day before the scope begins, since dates of a source can be in any zone. */
const dayBefore = (from: Date): string =>
  `${new Date(from.getTime() - dayMs).toISOString().slice(0, 10)} 00:00:00`

/** The place of the time in the rows of a log, and a time before which all are out of the scope, in any zone. */
export type AgeLimit = { at: number; before: string }

/** Returns what tells most of the rows that `isInScope` leaves out before they are read; null where it leaves out none. */
export function ageLimitOf(
  activity: ActivityScope,
  table: string,
  columns: readonly { name: string }[],
): AgeLimit | null {
  if (!activity?.from) return null
  const at = columns.findIndex(({ name }) => name === timeColumns[table])
  return at === -1 ? null : { at, before: dayBefore(activity.from) }
}

/** Whether an entry is from before the limit. The zero date is of no time. */
export const isTooOld = (time: unknown, { before }: AgeLimit): boolean =>
  typeof time === 'string' && time.length >= before.length && time < before && !time.startsWith('0000')

/**
 * Returns the condition by which a live database leaves out most of what `isInScope` does, so that it need not be
 * transferred. Dates there can be in any zone.
 */
export function conditionOf(activity: ActivityScope, spool: Spool, table: string): string {
  if (!activity?.from) return ''
  if (table === 'activity_log_subjects') {
    const [first] = spool.ranges.numbers('activity_logs')
    return first === undefined ? ' where 1 = 0' : ` where activity_log_id >= ${firstIdOf(first)}`
  }
  const column = timeColumns[table]
  if (column === undefined) return ''
  return ` where ${table}.${column} >= '${dayBefore(activity.from)}'`
}
