import { sql, type SQL } from 'drizzle-orm'
import type { DataColumn } from '../../db/data-column.ts'
import { plannedForValues } from '../../db/database.ts'
import { rowOf } from '../../db/embed.ts'
import { jsonColumn } from '../../db/json.ts'
import { elasticTotal, type RowPage } from '../../db/pagination.ts'
import { activity, servers, settings, subusers, users } from '../../db/schema.ts'
import type { Activity } from '../../db/tables/activity.ts'
import type { ListRequest } from '../filters.ts'
import { definitionOf } from '../settings/definitions.ts'
import {
  countedEntries,
  type EntryOrder,
  type EntrySelection,
  firstEntries,
  hiddenEvent,
  scopeEquality,
  visibleConditions,
} from './matching-entries.ts'

/** Entries are counted exactly up to here. */
const maxExactCount = 10_000
/** With a condition that no index answers: each further one costs a look at several entries. */
const maxExactMatches = 1000

/** Entries that can be reached by paging; older ones are found by date. */
const maxOffset = 100_000
const deepOffset = 1000

/**
 * Sizes of a first page whose statement has them in its text: PostgreSQL then expects as many rows, and keeps its plan
 * in place of making one each time, which takes three times as long as to run it.
 */
const usualPageSizes = [25, 50, 100]

/** The columns of an entry that are read, all when `names` is left out, and further ones (of `activity`). */
export type EntryColumns = { names?: readonly (keyof Activity)[]; further: Record<string, SQL> }

/** Entries as a statement returns them. */
export type FoundEntries<Entry> = {
  entries: Entry[]
  /** Entries on all pages, counted up to one beyond the exact ones. */
  counted: number
  /** Names of all events in the scope, regardless of the other conditions. */
  events: string[]
}

/** Whether the request sorts by time, the oldest entry first. */
export const isOldestFirst = ({ sorts }: ListRequest): boolean => sorts[0]?.descending === false

/**
 * Selects the requested page of the activity log and the names of all events in the scope. It reads the indexes only as
 * far as the page and the count need: one probe for each event name, and with conditions on the event only the entries
 * of those events. `name` is equal for equal scopes and columns.
 */
export function entriesColumn<Entry>(
  name: string,
  request: ListRequest,
  selection: EntrySelection,
  columns: () => EntryColumns,
): DataColumn<FoundEntries<Entry>> {
  const { eventConditions, from, until, indexedConditions, unindexedConditions } = selection
  const isFiltered =
    Boolean(selection.either) ||
    [eventConditions, indexedConditions, unindexedConditions].some((conditions) => conditions.length > 0) ||
    from !== null ||
    until !== null
  const isDeep = windowOf(request).offset >= deepOffset
  const oldestFirst = isOldestFirst(request)
  const { page, perPage } = request
  const isUsual = page === 1 && usualPageSizes.includes(perPage)
  const order = oldestFirst ? 'oldest' : 'newest'
  const size = isUsual ? literal(perPage) : null
  return {
    name: isFiltered || isDeep ? null : [name, order, ...(isUsual ? [perPage] : [])].join('_'),
    column: () =>
      entriesJson(
        selection,
        { oldestFirst, isDeep, size, maxExactTotal: maxExactTotalOf(request) },
        columns(),
      ),
    values: windowOf(request),
  }
}

/** Writes a number into the text of a statement, for the same reason. */
const literal = (value: number): SQL => sql.raw(String(value))

const maxExactTotalOf = ({ filters }: ListRequest): number =>
  filters.source?.length ? maxExactMatches : maxExactCount

function windowOf({ page, perPage }: ListRequest): { limit: number; offset: number; reach: number } {
  const offset = Math.min((page - 1) * perPage, maxOffset)
  const limit = offset < maxOffset ? perPage : 0
  return { limit, offset, reach: limit === 0 ? 0 : offset + limit }
}

/** Returns the page of entries that `entriesColumn` found. */
export function toEntryPage<Entry>(
  { entries, counted, events }: FoundEntries<Entry>,
  request: ListRequest,
): RowPage<Entry> & { events: string[] } {
  const { page, perPage } = request
  const { offset } = windowOf(request)
  const shown = entries.length
  const total = elasticTotal({ counted, maxExactTotal: maxExactTotalOf(request), offset, shown, perPage })
  return { rows: entries, total, page, perPage, events: events.toSorted() }
}

/** `size` is that of a first page, where the text of the statement has it. */
type Listing = EntryOrder & { maxExactTotal: number; size: SQL | null }

function entriesJson<Entry>(
  selection: EntrySelection,
  listing: Listing,
  { names, further }: EntryColumns,
): SQL<FoundEntries<Entry>> {
  const { values, decode } = rowOf<Entry>(activity, further, names)
  const direction = sql.raw(listing.oldestFirst ? '' : ' desc')
  const page = sql`select id, timestamp from (${entriesBefore(selection, listing)}) found
    order by timestamp${direction}, id${direction} ${listing.size ? sql`limit ${listing.size}` : sql`limit ${sql.placeholder('limit')} offset ${sql.placeholder('offset')}`}`
  const entries = sql`select coalesce(json_agg(entry), '[]'::json) from (
    select ${values} as entry from (${page}) page
    inner join ${activity} on activity.id = page.id and activity.timestamp = page.timestamp
    order by page.timestamp${direction}, page.id${direction}) entries`
  const plan = selection.indexedConditions.length > 0 ? sql.raw(plannedForValues) : sql.empty()
  const json = sql`${plan}select json_build_array((${countSql(selection, listing)}), named.events, (${entries}))
    from (select array(${selection.hiddenActors ?? noActors}) as ids offset 0) hidden
    cross join lateral (${eventNames(selection)}) named`
  return jsonColumn(json, (value) => {
    const [counted, events, found] = value as [number, string[], unknown[]]
    return { counted, events, entries: found.map(decode) }
  })
}

/** Selects the entries up to the end of the page; those before a deep one from an index, as they are counted. */
function entriesBefore(selection: EntrySelection, listing: Listing): SQL {
  const read = (read: EntrySelection) =>
    sql`select id, timestamp from ${firstEntries(read, listing, listing.size ?? sql.placeholder('reach'))}`
  if (!listing.isDeep || selection.hiddenActors === null) return read(selection)
  return sql`select * from (${read({ ...selection, hiddenActors: null })}) every_one where hidden.ids = '{}'
    union all select * from (${read(selection)}) visible where hidden.ids <> '{}'`
}

/** Counts matching entries, without the condition on their actors where no administrator is hidden: then an index is enough. */
function countSql(selection: EntrySelection, listing: Listing): SQL {
  const limit = literal(listing.maxExactTotal + 1)
  const count = (counted: EntrySelection) =>
    sql`select count(*) from (select 1 from ${countedEntries(counted, listing, limit)} limit ${limit}) few`
  if (selection.hiddenActors === null) return count(selection)
  return sql`select case when hidden.ids = '{}' then (${count({ ...selection, hiddenActors: null })}) else (${count(selection)}) end`
}

const noActors = sql`select id from ${users} where false`

/** Skips from one event name to the next, which costs one index probe for each name. */
function eventNames(selection: EntrySelection): SQL {
  const condition = sql.join(
    [sql`true`, ...scopeEquality(selection), ...visibleConditions(selection)],
    sql` and `,
  )
  return sql`with recursive names (event) as (
    (select event from ${activity} where ${condition} order by event limit 1)
    union all
    select (select event from ${activity} where ${condition} and event > names.event order by event limit 1)
    from names where names.event is not null
  ) select array(select event from names where event is not null and event <> ${sql.raw(`'${hiddenEvent}'`)}) as events`
}

/**
 * Selects the administrators whose entries are hidden on a server (`servers`): neither owner nor subuser, while the
 * setting is on.
 */
export const hiddenAdministrators = (): SQL => sql`
  select administrator.id from ${users} administrator
  where coalesce((select value = 'true' from ${settings} where key = ${sql.raw(`'${hideAdminSettingKey}'`)}), ${definitionOf(hideAdminSettingKey).defaultValue})
  and administrator.root_admin and administrator.id <> ${servers.ownerId} and not exists (
    select 1 from ${subusers} share where share.server_id = ${servers.id} and share.user_id = administrator.id
    and not share.pending
  )`

const hideAdminSettingKey = 'activity.hide_admin_activity'
