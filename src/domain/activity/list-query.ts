import { type Placeholder, sql, type SQL } from 'drizzle-orm'
import type { DataColumn } from '../../db/data-column.ts'
import { rowOf } from '../../db/embed.ts'
import { jsonColumn } from '../../db/json.ts'
import { elasticTotal, type RowPage } from '../../db/pagination.ts'
import { activity, servers, settings, subusers, users } from '../../db/schema.ts'
import type { Activity } from '../../db/tables/activity.ts'
import type { ListRequest } from '../filters.ts'
import { definitionOf } from '../settings/definitions.ts'

/** Entries are counted exactly up to here. */
const maxExactCount = 10_000

/** Entries that can be reached by paging; older ones are found by date. */
const maxOffset = 100_000

/** Never listed, because daemons report it for each uploaded file. */
export const hiddenEvent = 'server:file.upload'

/** Entries that are searched for conditions without an index. */
const maxScannedEntries = 100_000

/** Which entries to list. The conditions name columns of `activity` without its name. */
export type EntrySelection = {
  /**
   * Equality on the column that comes first in an index with `event` and in one with `timestamp`, or true for the
   * whole log.
   */
  scope: SQL
  /** Ids of accounts whose entries are hidden; null hides none. */
  hiddenActors: SQL | null
  /** Conditions on `name`, the name of the event. */
  eventConditions: SQL[]
  /** Conditions on the time and on the actor. */
  timeAndActorConditions: SQL[]
  /** Conditions without an index: only the newest 100,000 entries that match the others are searched. */
  unindexedConditions: SQL[]
}

type Bound = number | Placeholder
type Window = { oldestFirst: boolean; limit: Bound; offset: Bound; reach: Bound }

/** Entries with further columns, as a statement returns them. */
export type FoundEntries<Extra> = {
  entries: (Activity & Extra)[]
  /** Entries on all pages, counted up to `maxExactCount` + 1. */
  counted: number
  /** Names of all events in the scope, regardless of the other conditions. */
  events: string[]
}

/** Whether the request sorts by time, the oldest entry first. */
export const isOldestFirst = ({ sorts }: ListRequest): boolean => sorts[0]?.descending === false

/**
 * Selects the requested page of the activity log and the names of all events in the scope. It reads the indexes only as
 * far as the page and the count need: one probe for each event name, and with conditions on the event only the entries
 * of those events. `name` is equal for equal scopes and `columns`, which are further ones of an entry (`activity`).
 */
export function entriesColumn<Extra>(
  name: string,
  request: ListRequest,
  selection: EntrySelection,
  columns: Record<string, SQL>,
): DataColumn<FoundEntries<Extra>> {
  const { eventConditions, timeAndActorConditions, unindexedConditions } = selection
  const isFiltered = [eventConditions, timeAndActorConditions, unindexedConditions].some(
    (conditions) => conditions.length > 0,
  )
  const oldestFirst = isOldestFirst(request)
  const window = {
    oldestFirst,
    limit: placeholder('limit'),
    offset: placeholder('offset'),
    reach: placeholder('reach'),
  }
  return {
    name: isFiltered ? null : `${name}_${oldestFirst ? 'oldest' : 'newest'}`,
    column: () => entriesJson({ ...selection, ...window }, columns),
    values: windowOf(request),
  }
}

const { placeholder } = sql

function windowOf({ page, perPage }: ListRequest): { limit: number; offset: number; reach: number } {
  const offset = Math.min((page - 1) * perPage, maxOffset)
  const limit = offset < maxOffset ? perPage : 0
  return { limit, offset, reach: offset + limit }
}

/** Returns the page of entries that `entriesColumn` found. */
export function toEntryPage<Extra>(
  { entries, counted, events }: FoundEntries<Extra>,
  request: ListRequest,
): RowPage<Activity & Extra> & { events: string[] } {
  const { page, perPage } = request
  const { offset } = windowOf(request)
  const shown = entries.length
  const total = elasticTotal({ counted, maxExactTotal: maxExactCount, offset, shown, perPage })
  return { rows: entries, total, page, perPage, events: events.toSorted() }
}

function entriesJson<Extra>(
  selection: EntrySelection & Window,
  columns: Record<string, SQL>,
): SQL<FoundEntries<Extra>> {
  const { values, decode } = rowOf<Activity & Extra>(activity, columns)
  const { limit, offset, reach, oldestFirst } = selection
  const page = sql`select id, timestamp from ${matchingEntries(selection, reach, orderBySql(selection))}
    order by ${orderBySql(selection)} limit ${limit} offset ${offset}`
  const order = oldestFirst ? sql`page.timestamp, page.id` : sql`page.timestamp desc, page.id desc`
  const entries = sql`select coalesce(json_agg(entry), '[]'::json) from (
    select ${values} as entry from (${page}) page
    inner join ${activity} on activity.id = page.id and activity.timestamp = page.timestamp order by ${order}) entries`
  const json = sql`select json_build_array((${countSql(selection)}), named.events, (${entries}))
    from (select array(${selection.hiddenActors ?? noActors}) as ids offset 0) hidden
    cross join lateral (${eventNames(selection)}) named`
  return jsonColumn(json, (value) => {
    const [counted, events, found] = value as [number, string[], unknown[]]
    return { counted, events, entries: found.map(decode) }
  })
}

/** Returns the order of the index that has all columns of the conditions: PostgreSQL reads no entry to count them then. */
const countingOrder = (selection: EntrySelection & Window): SQL =>
  [selection.eventConditions, selection.timeAndActorConditions, selection.unindexedConditions].every(
    (conditions) => conditions.length === 0,
  )
    ? sql`event`
    : orderBySql(selection)

/** Counts matching entries, without the condition on their actors where no administrator is hidden: then an index is enough. */
function countSql(selection: EntrySelection & Window): SQL {
  const limit = maxExactCount + 1
  const count = (counted: EntrySelection & Window) =>
    sql`select count(*) from (select 1 from ${matchingEntries(counted, limit, countingOrder(selection))} limit ${limit}) few`
  if (selection.hiddenActors === null) return count(selection)
  return sql`select case when hidden.ids = '{}' then (${count({ ...selection, hiddenActors: null })}) else (${count(selection)}) end`
}

const noActors = sql`select id from ${users} where false`

/** The scope without entries of hidden actors. */
const visibleConditions = ({ scope, hiddenActors }: EntrySelection): SQL[] =>
  hiddenActors ? [scope, sql`(actor_id is null or actor_id <> all(hidden.ids))`] : [scope]

const joinConditions = (...conditions: SQL[]) => sql.join(conditions, sql` and `)

/** Skips from one event name to the next, which costs one index probe for each name. */
function eventNames(selection: EntrySelection): SQL {
  const scope = joinConditions(...visibleConditions(selection))
  return sql`with recursive names (event) as (
    (select event from ${activity} where ${scope} order by event limit 1)
    union all
    select (select event from ${activity} where ${scope} and event > names.event order by event limit 1)
    from names where names.event is not null
  ) select array(select event from names where event is not null and event <> ${hiddenEvent}) as events`
}

/**
 * Builds the FROM clause with at most `maxEntries` entries of each event. With conditions on the event each
 * one is read by itself, so that the index returns its entries in order.
 */
function matchingEntries(selection: EntrySelection & Window, limit: Bound, order: SQL): SQL {
  const { eventConditions, timeAndActorConditions, unindexedConditions } = selection
  const entriesOf = (event: SQL) => {
    const entries = sql`${activity} where ${joinConditions(...visibleConditions(selection), event, ...timeAndActorConditions)}`
    const found =
      unindexedConditions.length === 0
        ? entries
        : sql`(select * from ${entries} order by timestamp desc limit ${maxScannedEntries}) searched where ${joinConditions(...unindexedConditions)}`
    return sql`(select id, timestamp from ${found} order by ${order} limit ${limit}) entry`
  }
  if (eventConditions.length === 0) return entriesOf(sql`event <> ${hiddenEvent}`)
  return sql`unnest(named.events) wanted (name) cross join lateral ${entriesOf(sql`event = wanted.name`)}
    where ${joinConditions(...eventConditions)}`
}

const orderBySql = ({ oldestFirst }: Window) =>
  oldestFirst ? sql`timestamp, id` : sql`timestamp desc, id desc`

/**
 * Selects the administrators whose entries are hidden on a server (`servers`): neither owner nor subuser, while the
 * setting is on.
 */
export const hiddenAdministrators = (): SQL => sql`
  select administrator.id from ${users} administrator
  where coalesce((select value = 'true' from ${settings} where key = ${hideAdminSettingKey}), ${definitionOf(hideAdminSettingKey).defaultValue})
  and administrator.root_admin and administrator.id <> ${servers.ownerId} and not exists (
    select 1 from ${subusers} share where share.server_id = ${servers.id} and share.user_id = administrator.id
    and not share.pending
  )`

const hideAdminSettingKey = 'activity.hide_admin_activity'
