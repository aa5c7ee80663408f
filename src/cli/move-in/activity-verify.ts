import { between } from 'drizzle-orm'
import { activity as log, activitySubjects } from '../../db/schema.ts'
import type { Panel } from '../../panel.ts'
import { entryRanges, logsOf } from './activity.ts'
import type { MovedEntry } from './activity-entries.ts'
import { stable } from './ledger.ts'
import type { Move } from './move.ts'
import type { Difference } from './verify.ts'

/** Compares the entries that can move with this panel's, but those that are too old for it. Returns at most `limit` differences. */
export async function verifyActivity(panel: Panel, move: Move, limit: number): Promise<Difference[]> {
  const differences: Difference[] = []
  for (const table of logsOf(move)) {
    move.report.count('activity', 0)
    for await (const { entries } of entryRanges(move, table)) {
      move.report.count('activity', entries.length)
      if (differences.length >= limit) continue
      const here = await readEntries(panel, entries)
      for (const entry of entries) differences.push(...compare(entry, here.get(entry.id), move))
    }
  }
  return differences.slice(0, limit)
}

function compare(there: MovedEntry, here: MovedEntry | undefined, { activity }: Move): Difference[] {
  const differing = (columns: string[]) => [{ table: 'activity', id: there.id, columns }]
  if (!here) return activity && there.timestamp < activity.keptSince ? [] : differing(['(missing)'])
  const columns = (Object.keys(there) as (keyof MovedEntry)[]).filter(
    (name) => stable(there[name]) !== stable(here[name]),
  )
  return columns.length > 0 ? differing(columns) : []
}

async function readEntries(panel: Panel, entries: MovedEntry[]): Promise<Map<number, MovedEntry>> {
  const ids = entries.map(({ id }) => id)
  if (ids.length === 0) return new Map()
  const rows = await panel.db
    .select()
    .from(log)
    .where(between(log.id, Math.min(...ids), Math.max(...ids)))
  const named = await panel.db
    .select()
    .from(activitySubjects)
    .where(between(activitySubjects.activityId, Math.min(...ids), Math.max(...ids)))
  const subjects = Map.groupBy(named, ({ activityId }) => activityId)
  return new Map(
    rows.map((row) => {
      const names = (subjects.get(row.id) ?? []).map(
        ({ subjectType, subjectId }) => `${subjectType}/${subjectId}`,
      )
      return [row.id, { ...row, subjects: names.toSorted() }]
    }),
  )
}
