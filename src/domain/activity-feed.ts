import { sql, type SQL } from 'drizzle-orm'
import * as z from 'zod'
import { canonicalAddress } from '../addresses.ts'
import { elasticTotal, type RowPage } from '../db/pagination.ts'
import type { Activity } from '../db/tables/activity.ts'
import type { User } from '../db/tables/users.ts'
import type { Panel } from '../panel.ts'
import { callersAccount } from './account/caller.ts'
import { type EntrySelection, exactUpTo, findEntries, hiddenAdministrators } from './activity-statement.ts'
import type { ReachedServer } from './credentials.ts'
import { integer, text } from './fields.ts'
import type { ListRequest } from './filters.ts'

const periods = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 }
const sources = ['web', 'api', 'sftp', 'system'] as const
const dayInMilliseconds = 86_400_000

/** Entries that can be paged to; what is older is found by date. */
const deepest = 100_000

/**
 * Query of a feed; of several events, parted by commas, any will do. By address and by source only the newest
 * 100,000 entries of the others' choice are searched. Spec: Client API, account: activity.
 */
export const FeedQuery = () =>
  z.object({
    page: integer(1).nullish(),
    per_page: integer(1, 100).nullish(),
    filter: z
      .object({
        event: text(255).nullish().describe('Part of the name of the event'),
        event_exact: text(255).nullish().describe('Name of the event'),
        ip: z.string().refine(isAddress, 'ip').nullish().describe('Address; of your own entries only'),
        period: z.enum(Object.keys(periods)).nullish(),
        date: z.iso
          .date({ error: 'date_format', abort: true })
          .refine(isUsualYear, 'date_format')
          .nullish()
          .describe('Day in UTC'),
        source: z.enum(sources).nullish(),
      })
      .nullish(),
    sort: z.string().nullish().describe('timestamp or -timestamp, which is the default'),
  })

/** Names of the filters of a feed. */
export const feedFilters = ['event', 'event_exact', 'ip', 'period', 'date', 'source'] as const

const isAddress = (value: string) => canonicalAddress(value) !== null

/** Years that JavaScript and Postgres write alike, and the day after them too. */
const isUsualYear = (date: string) => date >= '1970' && date < '9999'

/** An entry as the caller may see it. */
export type FeedEntry = {
  entry: Activity
  /** Who did it; null where it was nobody, or he is gone. Left out unless it was asked for. */
  actor?: User | null
  /** Whether the caller did it. */
  isOwn: boolean
  /** Whether the caller may see from where. */
  showsAddress: boolean
  panelUrl: string
}

/** A page of a feed, with the names of the events in all of it. */
export type Feed = RowPage<FeedEntry> & { events: string[] }

/**
 * What happened to the caller's account, newest first, in one statement. He sees the addresses of his own
 * actions, administrators all. Spec: Client API, account: activity.
 */
export const accountFeed = (panel: Panel, request: ListRequest, withActor: boolean): Promise<Feed> =>
  readFeed(panel, request, {
    scope: sql`user_id = ${callersAccount(panel).id}`,
    hiddenActors: null,
    withActor,
  })

/**
 * What happened to the server, newest first, in one statement; where the settings say so, without what
 * administrators did who have no share in it. Addresses as in `accountFeed`. Spec: Client API, server
 * control: activity.
 */
export const serverFeed = (
  panel: Panel,
  { server }: Pick<ReachedServer, 'server'>,
  request: ListRequest,
  withActor: boolean,
): Promise<Feed> =>
  readFeed(panel, request, {
    scope: sql`server_id = ${server.id}`,
    hiddenActors: hiddenAdministrators(server),
    withActor,
  })

async function readFeed(
  panel: Panel,
  request: ListRequest,
  about: Pick<EntrySelection, 'scope' | 'hiddenActors' | 'withActor'>,
): Promise<Feed> {
  const caller = callersAccount(panel)
  const { page, perPage, filters } = request
  const offset = Math.min((page - 1) * perPage, deepest)
  const { entries, counted, events } = await findEntries(panel.db, {
    ...about,
    named: namesMatching(filters),
    within: instantsAndActor(panel, filters, caller),
    searching: addressAndSource(filters),
    oldestFirst: request.sorts[0]?.descending === false,
    limit: offset < deepest ? perPage : 0,
    offset,
  })
  const rows = entries.map((found) => {
    const isOwn = found.entry.actorId === caller.id
    return { ...found, isOwn, showsAddress: isOwn || caller.rootAdmin, panelUrl: panel.config.url }
  })
  const total = elasticTotal({ counted, exactUpTo, offset, shown: rows.length, perPage })
  return { rows, total, page, perPage, events: events.toSorted() }
}

/** Which events are asked for, as conditions on `name`; none asks for all of them. */
function namesMatching({ event = [], event_exact: exact = [] }: ListRequest['filters']): SQL[] {
  const contains = event.map((part) => sql`strpos(lower(name), ${part.toLowerCase()}) > 0`)
  const equals = exact.map((wanted) => sql`name = ${wanted}`)
  return [contains, equals]
    .filter((alternatives) => alternatives.length > 0)
    .map((alternatives) => sql`(${sql.join(alternatives, sql` or `)})`)
}

/** Whoever is no administrator finds by address only what he did himself. */
function instantsAndActor(panel: Panel, filters: ListRequest['filters'], caller: User): SQL[] {
  const { ip, period: [period] = [], date: [date] = [] } = filters
  const start = date === undefined ? null : new Date(`${date}T00:00:00Z`)
  const since = period === undefined ? null : after(panel.now(), -periods[period as keyof typeof periods])
  return [
    ...(since ? [sql`timestamp >= ${instant(since)}`] : []),
    ...(start ? [sql`timestamp >= ${instant(start)} and timestamp < ${instant(after(start, 1))}`] : []),
    ...(ip === undefined || caller.rootAdmin ? [] : [sql`actor_id = ${caller.id}`]),
  ]
}

function addressAndSource(filters: ListRequest['filters']): SQL[] {
  const { ip: [ip] = [], source: [source] = [] } = filters
  return [
    ...(ip === undefined ? [] : [sql`ip = ${canonicalAddress(ip)}`]),
    ...(source === undefined ? [] : [sql`source = ${source}`]),
  ]
}

const after = (date: Date, days: number) => new Date(date.getTime() + days * dayInMilliseconds)
const instant = (date: Date) => sql`${date.toISOString()}::timestamptz`
