import { sql } from 'drizzle-orm'
import { rowsOf, single } from '../../db/database.ts'
import { activity as log, activitySubjects } from '../../db/schema.ts'
import { ensureActivityPartitions } from '../../domain/activity/partitions.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { mapActivity, mapAudit, type MovedEntry } from './activity-entries.ts'
import { isAhead, moveMark, readMark, saveMark } from './activity-mark.ts'
import type { Move } from './move.ts'

const logs = ['audit_logs', 'activity_logs']
/** Entries in one statement. */
const statementRows = 500
const monthMs = 30 * 86_400_000

/** The entries of one range of ids, with the ids of all that were read. */
export type EntryRange = { ids: number[]; entries: MovedEntry[] }

/** The number of entries that were read. */
export const countActivity = ({ spool }: Pick<Move, 'spool'>): number =>
  logs.reduce((sum, table) => sum + (spool.counts.get(table) ?? 0), 0)

/** Reads the entries of a log range by range, as `accept` wants them by id, and reports them. */
export async function* entryRanges(
  move: Move,
  table: string,
  accept: (id: number) => boolean = () => true,
): AsyncGenerator<EntryRange> {
  const { ranges } = move.spool
  for (const number of ranges.numbers(table)) {
    const rows = (await ranges.read(table, number))
      .filter(({ id }) => accept(Number(id)))
      .toSorted((one, other) => Number(one.id) - Number(other.id))
    if (rows.length === 0) continue
    const entries =
      table === 'audit_logs'
        ? mapAudit(rows, move)
        : mapActivity(rows, await ranges.read('activity_log_subjects', number), move)
    yield { ids: rows.map(({ id }) => Number(id)), entries }
  }
}

/** The logs that the old panel has, where activity moves. */
export const logsOf = ({ activity, spool }: Move): string[] =>
  activity ? logs.filter((table) => spool.columns.has(table)) : []

/** Reports what would come. Writes nothing. */
export async function checkActivity(move: Move): Promise<void> {
  for (const table of logsOf(move)) {
    move.report.count('activity', 0)
    for await (const { entries } of entryRanges(move, table)) move.report.count('activity', entries.length)
  }
}

/**
 * Writes the entries that have not moved yet: one transaction a range, with the mark up to which they moved, so that a run
 * after a crash goes on there. Returns how many were written; `onRead` hears how many were read.
 */
export async function writeActivity(
  panel: Panel,
  move: Move,
  onRead: (rows: number) => void,
): Promise<number> {
  let written = 0
  const tables = logsOf(move)
  if (tables.length > 0) await ensureActivityPartitions(panel, monthsBackOf(move))
  for (const table of tables) {
    let mark = await readMark(panel, table, move.activity)
    const start = mark
    move.report.count('activity', start.entries)
    for await (const { ids, entries } of entryRanges(move, table, (id) => isAhead(start, id))) {
      move.report.count('activity', entries.length)
      mark = moveMark(mark, ids, entries.length)
      const next = mark
      written += await inTransaction(panel, async (tx) => {
        const added = await insertEntries(tx, entries)
        await saveMark(tx, table, next)
        return added
      })
      onRead(ids.length)
    }
  }
  return written
}

/** Months before this one whose entries get a partition, which is dropped when it is no longer kept; older ones share one. */
function monthsBackOf({ activity, now }: Move): number {
  if (!activity) return 0
  const from = Math.max(activity.from?.getTime() ?? 0, activity.keptSince.getTime())
  return Math.ceil((now.getTime() - from) / monthMs)
}

async function insertEntries(tx: Tx, entries: MovedEntry[]): Promise<number> {
  let added = 0
  for (let at = 0; at < entries.length; at += statementRows) {
    const part = entries.slice(at, at + statementRows)
    const subjects = part.flatMap(({ id, subjects: names }) => names.map((name) => [id, ...name.split('/')]))
    const result = await tx.db.execute(sql`
      with added as (
        insert into ${log} (id, timestamp, event, ip, source, actor_id, api_key_id, server_id, user_id, description, properties)
        select entry.* from json_to_recordset(${JSON.stringify(part)}::json) as entry (
          id bigint, timestamp timestamptz, event text, ip text, source text, "actorId" integer, "apiKeyId" integer,
          "serverId" integer, "userId" integer, description text, properties jsonb
        )
        on conflict do nothing returning 1
      ), named as (
        insert into ${activitySubjects} (activity_id, subject_type, subject_id)
        select (subject ->> 0)::bigint, subject ->> 1, (subject ->> 2)::integer
        from json_array_elements(${JSON.stringify(subjects)}::json) as listed (subject)
        on conflict do nothing
      )
      select count(*)::int as count from added`)
    added += single(rowsOf<{ count: number }>(result)).count
  }
  return added
}
