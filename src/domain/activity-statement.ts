import { and, eq, sql, type SQL } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import { embedOne } from '../db/embed.ts'
import { activity, settings, subusers, users } from '../db/schema.ts'
import type { Activity } from '../db/tables/activity.ts'
import type { Server } from '../db/tables/servers.ts'
import type { User } from '../db/tables/users.ts'
import { definitionOf } from './setting-definitions.ts'

/** Up to here entries are counted. */
export const exactUpTo = 10_000

/** The event that no feed shows: daemons report each uploaded file. */
const hiddenEvent = 'server:file.upload'

/** Entries in which is searched by what no index knows. */
const searched = 100_000

/** Which entries. The conditions name columns of `activity`, without its own name in front. */
export type EntrySelection = {
  /** Equality on the column that is first in an index with `event` and in one with `timestamp`. */
  scope: SQL
  /** Ids of accounts whose entries are left out; null leaves out none. */
  hiddenActors: SQL | null
  /** Conditions on `name`, the event's. */
  named: SQL[]
  /** Conditions on the instant, and on the actor. */
  within: SQL[]
  /** Conditions which no index helps with: only the newest 100,000 of the other entries are searched. */
  searching: SQL[]
  oldestFirst: boolean
  withActor: boolean
  limit: number
  offset: number
}

export type FoundEntries = {
  entries: { entry: Activity; actor?: User | null }[]
  /** Entries on all pages, counted to one beyond `exactUpTo`. */
  counted: number
  /** The events of all entries in the scope, whatever the other conditions. */
  events: string[]
}

/**
 * A page of the audit log, in one statement that reads the indexes no further than the page lies and the count
 * goes: the names of events by one step each, and where events are asked for, those entries alone.
 */
export async function findEntries(db: Database, selection: EntrySelection): Promise<FoundEntries> {
  const { limit, offset, withActor } = selection
  const page = sql`(select id, timestamp from ${matching(selection, offset + limit)}
    order by ${orderOf(selection)} limit ${limit} offset ${offset}) page`
  const count = sql`(select count(*)::int as counted from
    (select 1 from ${matching(selection, exactUpTo + 1)} limit ${exactUpTo + 1}) few) counting`
  // With one of the rows: they are many names.
  const events = json<string[] | null>(sql`case when row_number() over () = 1 then to_json(named.events) end`)
  const actor = embedOne(users, { where: (user) => eq(user.id, activity.actorId) })
  const found = await db
    .select({
      counted: sql<number>`counting.counted`,
      events,
      entry: activity,
      ...(withActor ? { actor } : {}),
    })
    .from(sql`(select array(${selection.hiddenActors ?? nobody}) as ids offset 0) hidden`)
    .crossJoinLateral(sql`(${eventNames(selection)}) named`)
    .crossJoinLateral(count)
    .leftJoinLateral(page, sql`true`)
    .leftJoin(activity, and(eq(activity.id, sql`page.id`), eq(activity.timestamp, sql`page.timestamp`)))
    .orderBy(selection.oldestFirst ? sql`page.timestamp, page.id` : sql`page.timestamp desc, page.id desc`)
  return {
    entries: found.flatMap(({ entry, ...rest }) => (entry ? [{ entry, ...actorIn(rest) }] : [])),
    counted: found[0]?.counted ?? 0,
    events: found.flatMap(({ events }) => events ?? []),
  }
}

const actorIn = (row: { actor?: User | null }) => (row.actor === undefined ? {} : { actor: row.actor })

const nobody = sql`select id from ${users} where false`

/** The scope without what hidden actors did. */
const visible = ({ scope, hiddenActors }: EntrySelection): SQL[] =>
  hiddenActors ? [scope, sql`(actor_id is null or actor_id <> all(hidden.ids))`] : [scope]

const allOf = (...conditions: SQL[]) => sql.join(conditions, sql` and `)

/** Steps from each name to the next one: as many probes of the index as there are names. */
function eventNames(selection: EntrySelection): SQL {
  const scope = allOf(...visible(selection))
  return sql`with recursive names (event) as (
    (select event from ${activity} where ${scope} order by event limit 1)
    union all
    select (select event from ${activity} where ${scope} and event > names.event order by event limit 1)
    from names where names.event is not null
  ) select array(select event from names where event is not null and event <> ${hiddenEvent}) as events`
}

/**
 * What stands behind FROM to get the entries, no more of each event than `most`. Where events are asked for, each
 * is read by itself, since then the index gives its entries in order.
 */
function matching(selection: EntrySelection, most: number): SQL {
  const { named, within, searching } = selection
  const entriesOf = (event: SQL) => {
    const entries = sql`${activity} where ${allOf(...visible(selection), event, ...within)}`
    const found =
      searching.length === 0
        ? entries
        : sql`(select * from ${entries} order by timestamp desc limit ${searched}) searched where ${allOf(...searching)}`
    return sql`(select id, timestamp from ${found} order by ${orderOf(selection)} limit ${most}) entry`
  }
  if (named.length === 0) return entriesOf(sql`event <> ${hiddenEvent}`)
  return sql`unnest(named.events) wanted (name) cross join lateral ${entriesOf(sql`event = wanted.name`)}
    where ${allOf(...named)}`
}

const orderOf = ({ oldestFirst }: EntrySelection) =>
  oldestFirst ? sql`timestamp, id` : sql`timestamp desc, id desc`

/** Administrators without a share in the server, where the settings hide what they did there. */
export const hiddenAdministrators = ({ id, ownerId }: Pick<Server, 'id' | 'ownerId'>): SQL => sql`
  select administrator.id from ${users} administrator
  where coalesce((select value = 'true' from ${settings} where key = ${hidingKey}), ${definitionOf(hidingKey).fallback})
  and administrator.root_admin and administrator.id <> ${ownerId} and not exists (
    select 1 from ${subusers} share where share.server_id = ${id} and share.user_id = administrator.id
  )`

const hidingKey = 'activity.hide_admin_activity'

/** Drivers differ in whether they parse JSON. */
const json = <T>(selected: SQL) =>
  sql<T>`${selected}`.mapWith(
    (value: unknown) => (typeof value === 'string' ? JSON.parse(value) : value) as T,
  )
