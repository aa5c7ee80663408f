import { type Placeholder, type SQL, sql } from 'drizzle-orm'
import { activity } from '../../db/schema.ts'

/** Never listed, because daemons report it for each uploaded file. */
export const hiddenEvent = 'server:file.upload'

/** Entries that are searched for a condition that no index answers. */
const maxScannedEntries = 100_000
/** A column that comes first in an index with `event` and in one with `timestamp`, and its value. */
type Scope = { column: SQL; value: SQL }
/** Which entries to list. The conditions name columns of `activity` without its name. */
export type EntrySelection = {
  /** Null for the whole log. */
  scope: Scope | null
  /** Only entries of a scope, or outside of it those of a condition that has an index and few entries. */
  either?: { scope: Scope; condition: SQL } | null
  /** Ids of accounts whose entries are hidden; null hides none. */
  hiddenActors: SQL | null
  /** Conditions on `name`, the name of the event. */
  eventConditions: SQL[]
  /** Only entries from this time on; null is the beginning. */
  from: Date | null
  /** Only entries before this time; null is the end. */
  until: Date | null
  /** Conditions on the address, the actor or the server, each of which has an index. */
  indexedConditions: SQL[]
  /** Conditions without an index: only the newest 100,000 entries that match the others are searched. */
  unindexedConditions: SQL[]
}

type Bound = SQL | Placeholder
/** The order of a page. A deep one is cheaper to find among all entries in an index than by reading those before it. */
export type EntryOrder = { oldestFirst: boolean; isDeep: boolean }

const joinConditions = (conditions: SQL[]) => sql.join(conditions, sql` and `)
const timestampSql = (date: Date) => sql`${date.toISOString()}::timestamptz`

/** Builds the conditions on the time. */
export const timeConditions = ({ from, until }: Pick<EntrySelection, 'from' | 'until'>): SQL[] => [
  ...(from ? [sql`timestamp >= ${timestampSql(from)}`] : []),
  ...(until ? [sql`timestamp < ${timestampSql(until)}`] : []),
]

/** Whether entries have to be read themselves: no index has all columns of the conditions. */
const needsEntries = ({ indexedConditions, unindexedConditions }: EntrySelection): boolean =>
  indexedConditions.length + unindexedConditions.length > 0

/** Divides a selection of either of two kinds, so that each is read from its own index; empty for others. */
function alternativesOf({ either, ...selection }: EntrySelection): EntrySelection[] {
  if (!either) return []
  const { scope, condition } = either
  const isOutside = sql`${scope.column} is distinct from ${scope.value}`
  const indexedConditions = [...selection.indexedConditions, condition, isOutside]
  return [
    { ...selection, scope },
    { ...selection, indexedConditions },
  ]
}

/**
 * Builds the FROM clause `entry` with the first entries in the order of the page, at most `limit` (of each event, where
 * the index of the events is read).
 */
export function firstEntries(selection: EntrySelection, order: EntryOrder, limit: Bound): SQL {
  const both = alternativesOf(selection).map(
    (each) => sql`select id, timestamp from ${firstEntries(each, order, limit)}`,
  )
  if (both.length > 0)
    return sql`(select id, timestamp from (${sql.join(both, sql` union all `)}) both_kinds
      order by ${directed([sql`timestamp`, sql`id`], order.oldestFirst)} limit ${limit}) entry`
  const isDeep = order.isDeep && selection.scope !== null && !needsEntries(selection)
  const reading = { ...order, isDeep, limit }
  return selection.eventConditions.length > 0 || isDeep
    ? ofEachEvent(selection, entriesOf(selection, sql`wanted.name`, reading))
    : entriesOf(selection, null, reading)
}

/** Builds the FROM clause `entry` with at most `limit` entries to count (of each event, as above). */
export function countedEntries(selection: EntrySelection, order: EntryOrder, limit: SQL): SQL {
  const both = alternativesOf(selection).map(
    (each) => sql`select 1 from ${countedEntries(each, order, limit)}`,
  )
  if (both.length > 0) return sql`(${sql.join(both, sql` union all `)}) entry`
  if (needsEntries(selection)) return firstEntries(selection, order, limit)
  const { scope, eventConditions, from, until } = selection
  // The index of the events has all columns of these conditions: PostgreSQL reads no entry.
  const counted = (event: SQL | null) => {
    const where = joinConditions([...scopeEquality(selection), ...commonConditions(selection, event)])
    return sql`(select 1 from ${activity} where ${where}${scope ? sql.empty() : sql` order by event`} limit ${limit}) entry`
  }
  const isByEvent = eventConditions.length > 0 || from || until
  return isByEvent ? ofEachEvent(selection, counted(sql`wanted.name`)) : counted(null)
}

/** Reads each event by itself; `named.events` are the names of all. */
function ofEachEvent({ eventConditions }: EntrySelection, entries: SQL): SQL {
  return sql`unnest(named.events) wanted (name) cross join lateral ${entries} where ${joinConditions([sql`true`, ...eventConditions])}`
}

type Reading = EntryOrder & { limit: Bound }

/** Reads the first entries, or those of one event, in the order of an index. */
function entriesOf(
  selection: EntrySelection,
  event: SQL | null,
  { oldestFirst, isDeep, limit }: Reading,
): SQL {
  const { unindexedConditions: unindexed } = selection
  const scope = isDeep ? scopeEquality(selection) : rangeOf(selection, event)
  const conditions = [...scope, ...commonConditions(selection, event)]
  const entries = sql`${activity} where ${joinConditions(conditions)}`
  const order = isDeep
    ? directed([sql`timestamp`, sql`id`], oldestFirst)
    : orderOf(selection, event, oldestFirst)
  const found =
    unindexed.length === 0
      ? entries
      : sql`(select * from ${entries} order by ${orderOf(selection, event, false)}
          limit ${sql.raw(String(maxScannedEntries))}) searched where ${joinConditions(unindexed)}`
  return sql`(select id, timestamp from ${found} order by ${order} limit ${limit}) entry`
}

const commonConditions = (selection: EntrySelection, event: SQL | null): SQL[] => [
  event ? sql`event = ${event}` : sql`event <> ${sql.raw(`'${hiddenEvent}'`)}`,
  ...timeConditions(selection),
  ...visibleConditions(selection),
  ...selection.indexedConditions,
]

/** The scope, where PostgreSQL may read all of it. */
export const scopeEquality = ({ scope }: Pick<EntrySelection, 'scope'>): SQL[] =>
  scope ? [sql`${scope.column} = ${scope.value}`] : []

/**
 * Bounds the scope as a range: for equality PostgreSQL expects what the average server has, and would sort all entries of
 * one that has many. For a range it expects many, and reads them in the order of the index.
 */
function rangeOf({ scope, from, until, indexedConditions }: EntrySelection, event: SQL | null): SQL[] {
  if (!scope) return []
  const { column, value } = scope
  if (indexedConditions.length > 0) return [sql`${column} between ${value} and ${value}`]
  const [first, last] = [
    from ? timestampSql(from) : sql`'-infinity'`,
    until ? timestampSql(until) : sql`'infinity'`,
  ]
  const columns = event ? sql`${column}, event, timestamp` : sql`${column}, timestamp`
  const values = event ? sql`${value}, ${event}` : value
  return [sql`(${columns}) >= (${values}, ${first})`, sql`(${columns}) <= (${values}, ${last})`]
}

/** The order of the index, which is that of the page within one scope and one event. */
function orderOf({ scope, indexedConditions }: EntrySelection, event: SQL | null, oldestFirst: boolean): SQL {
  const first = scope && indexedConditions.length === 0 ? [scope.column, ...(event ? [sql`event`] : [])] : []
  return directed([...first, sql`timestamp`, sql`id`], oldestFirst)
}

const directed = (columns: SQL[], oldestFirst: boolean): SQL =>
  sql.join(
    columns.map((column) => (oldestFirst ? column : sql`${column} desc`)),
    sql`, `,
  )

/** Leaves out entries of hidden actors; `hidden.ids` are theirs. */
export const visibleConditions = ({ hiddenActors }: Pick<EntrySelection, 'hiddenActors'>): SQL[] =>
  hiddenActors ? [sql`(actor_id is null or actor_id <> all(hidden.ids))`] : []
