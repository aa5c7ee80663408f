import { and, eq, sql, type SQL } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { jsonColumn } from '../../db/json.ts'
import { elasticTotal, type RowPage } from '../../db/pagination.ts'
import { activity, settings, subusers, users } from '../../db/schema.ts'
import type { Activity } from '../../db/tables/activity.ts'
import type { Server } from '../../db/tables/servers.ts'
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

type Window = { oldestFirst: boolean; limit: number; offset: number }

/** Further columns of an entry, in a statement with `activity`. */
type Columns = Record<string, SQL>
type Values<C extends Columns> = { [Name in keyof C]: C[Name] extends SQL<infer Value> ? Value : never }

type FoundEntries<C extends Columns> = {
  entries: ({ entry: Activity } & Values<C>)[]
  /** Entries on all pages, counted up to `maxExactCount` + 1. */
  counted: number
  /** Names of all events in the scope, regardless of the other conditions. */
  events: string[]
}

/** Whether the request sorts by time, the oldest entry first. */
export const isOldestFirst = ({ sorts }: ListRequest): boolean => sorts[0]?.descending === false

/** Finds the requested page of the activity log and the names of all events in the scope, in one statement. */
export async function findPage<C extends Columns>(
  db: Database,
  request: ListRequest,
  selection: EntrySelection,
  columns: C,
): Promise<RowPage<{ entry: Activity } & Values<C>> & { events: string[] }> {
  const { page, perPage } = request
  const offset = Math.min((page - 1) * perPage, maxOffset)
  const { entries, counted, events } = await findEntries(
    db,
    {
      ...selection,
      oldestFirst: isOldestFirst(request),
      limit: offset < maxOffset ? perPage : 0,
      offset,
    },
    columns,
  )
  const total = elasticTotal({
    counted,
    maxExactTotal: maxExactCount,
    offset,
    shown: entries.length,
    perPage,
  })
  return { rows: entries, total, page, perPage, events: events.toSorted() }
}

/**
 * Finds a page of the activity log in one statement. It reads the indexes only as far as the page and the
 * count need: one probe for each event name, and with conditions on the event only the entries of those
 * events.
 */
async function findEntries<C extends Columns>(
  db: Database,
  selection: EntrySelection & Window,
  columns: C,
): Promise<FoundEntries<C>> {
  const { limit, offset } = selection
  const page = sql`(select id, timestamp from ${matchingEntries(selection, offset + limit)}
    order by ${orderBySql(selection)} limit ${limit} offset ${offset}) page`
  const count = sql`(select count(*)::int as counted from
    (select 1 from ${matchingEntries(selection, maxExactCount + 1)} limit ${maxExactCount + 1}) few) counting`
  // Only in the first row, because the list can be long.
  const events = jsonColumn<string[] | null>(
    sql`case when row_number() over () = 1 then to_json(named.events) end`,
  )
  const found = await db
    .select({ counted: sql<number>`counting.counted`, events, entry: activity, ...columns })
    .from(sql`(select array(${selection.hiddenActors ?? noActors}) as ids offset 0) hidden`)
    .crossJoinLateral(sql`(${eventNames(selection)}) named`)
    .crossJoinLateral(count)
    .leftJoinLateral(page, sql`true`)
    .leftJoin(activity, and(eq(activity.id, sql`page.id`), eq(activity.timestamp, sql`page.timestamp`)))
    .orderBy(selection.oldestFirst ? sql`page.timestamp, page.id` : sql`page.timestamp desc, page.id desc`)
  const rows = found as unknown as ({
    counted: number
    events: string[] | null
    entry: Activity | null
  } & Values<C>)[]
  return {
    entries: rows.flatMap(({ counted: _counted, events: _events, entry, ...rest }) =>
      entry ? [{ entry, ...(rest as unknown as Values<C>) }] : [],
    ),
    counted: rows[0]?.counted ?? 0,
    events: rows.flatMap(({ events }) => events ?? []),
  }
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
function matchingEntries(selection: EntrySelection & Window, maxEntries: number): SQL {
  const { eventConditions, timeAndActorConditions, unindexedConditions } = selection
  const entriesOf = (event: SQL) => {
    const entries = sql`${activity} where ${joinConditions(...visibleConditions(selection), event, ...timeAndActorConditions)}`
    const found =
      unindexedConditions.length === 0
        ? entries
        : sql`(select * from ${entries} order by timestamp desc limit ${maxScannedEntries}) searched where ${joinConditions(...unindexedConditions)}`
    return sql`(select id, timestamp from ${found} order by ${orderBySql(selection)} limit ${maxEntries}) entry`
  }
  if (eventConditions.length === 0) return entriesOf(sql`event <> ${hiddenEvent}`)
  return sql`unnest(named.events) wanted (name) cross join lateral ${entriesOf(sql`event = wanted.name`)}
    where ${joinConditions(...eventConditions)}`
}

const orderBySql = ({ oldestFirst }: Window) =>
  oldestFirst ? sql`timestamp, id` : sql`timestamp desc, id desc`

/**
 * Selects the administrators whose entries are hidden on this server: neither owner nor subuser, while the
 * setting is on.
 */
export const hiddenAdministrators = ({ id, ownerId }: Pick<Server, 'id' | 'ownerId'>): SQL => sql`
  select administrator.id from ${users} administrator
  where coalesce((select value = 'true' from ${settings} where key = ${hideAdminSettingKey}), ${definitionOf(hideAdminSettingKey).defaultValue})
  and administrator.root_admin and administrator.id <> ${ownerId} and not exists (
    select 1 from ${subusers} share where share.server_id = ${id} and share.user_id = administrator.id
    and not share.pending
  )`

const hideAdminSettingKey = 'activity.hide_admin_activity'
