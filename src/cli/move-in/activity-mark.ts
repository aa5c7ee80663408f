import { and, eq } from 'drizzle-orm'
import { movedRows } from '../../db/schema.ts'
import type { Tx } from '../../panel.ts'
import type { ActivityScope } from './activity-scope.ts'

/** Up to which entry a log of the old panel has moved. */
export type ActivityMark = {
  /** The time from which entries moved; null is all of them. */
  from: string | null
  /** How many entries moved. */
  entries: number
  /** The highest id that was read. */
  upTo: number
  /** Ids shortly below it that were not there: an entry can be written there later than one with a higher id. */
  missing: number[]
}

/** Ids below the highest in which entries can appear later. */
const missingIds = 1000

/**
 * Returns how far a log has moved, as a run with this scope sees it: where the scope reaches further back than before, the log is
 * gone through again.
 */
export async function readMark(tx: Tx, table: string, activity: ActivityScope): Promise<ActivityMark> {
  const from = activity?.from?.toISOString() ?? null
  const [row] = await tx.db.select({ mark: movedRows.digest }).from(movedRows).where(ofTable(table))
  const start: ActivityMark = { from, entries: 0, upTo: 0, missing: [] }
  if (!row) return start
  const mark = JSON.parse(row.mark) as ActivityMark
  return mark.from !== null && (from === null || from < mark.from) ? start : mark
}

/** Whether an entry has not moved yet. */
export const isAhead = ({ upTo, missing }: ActivityMark, id: number): boolean =>
  id > upTo || missing.includes(id)

/** Returns the mark behind further rows, whose ids ascend, of which `entries` move. */
export function moveMark(mark: ActivityMark, ids: readonly number[], entries: number): ActivityMark {
  const upTo = Math.max(mark.upTo, ids.at(-1) ?? 0)
  const read = new Set(ids)
  const first = Math.max(mark.upTo || (ids[0] ?? 0), upTo - missingIds)
  const gaps = Array.from({ length: upTo - first }, (_, at) => first + 1 + at)
  const missing = [...mark.missing, ...gaps].filter((id) => id > upTo - missingIds && !read.has(id))
  return { ...mark, entries: mark.entries + entries, upTo, missing }
}

/** Notes how far a log has moved. */
export async function saveMark(tx: Tx, table: string, mark: ActivityMark): Promise<void> {
  const digest = JSON.stringify(mark)
  await tx.db
    .insert(movedRows)
    .values({ tableName: 'activity', key: table, digest })
    .onConflictDoUpdate({ target: [movedRows.tableName, movedRows.key], set: { digest } })
}

const ofTable = (table: string) => and(eq(movedRows.tableName, 'activity'), eq(movedRows.key, table))
