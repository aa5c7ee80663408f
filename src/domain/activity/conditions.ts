import { sql, type SQL } from 'drizzle-orm'
import * as z from 'zod'
import { activitySubjects } from '../../db/schema.ts'
import { canonicalAddress } from '../../ip-addresses.ts'
import type { Panel } from '../../panel.ts'
import { integer, text } from '../fields.ts'
import type { ListRequest } from '../filters.ts'
import type { EntrySelection } from './matching-entries.ts'

const periodDays = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 }
const sources = ['web', 'api', 'sftp', 'system'] as const
const dayMs = 86_400_000

/**
 * Query of an activity log. Several events, separated by commas, are alternatives. By source only
 * the newest 100,000 entries that match the other filters are searched. Spec: getClientAccountActivity.
 */
export const ActivityQuery = () =>
  z.object({
    page: integer(1).nullish(),
    per_page: integer(1, 100).nullish(),
    filter: ActivityFilter().nullish(),
    sort: z
      .string()
      .nullish()
      .describe('timestamp or -timestamp (default)')
      .meta({ acceptedAs: { type: 'string', pattern: '^\\s*(?:(?:-?timestamp)?(?:,|\\s*$))*$' } }),
  })

/** The filters of an activity log. */
export const ActivityFilter = () =>
  z.object({
    event: text(255).nullish().describe('Part of an event name'),
    event_exact: text(255).nullish().describe('Event name'),
    ip: z
      .string()
      .refine(isAddress, 'ip')
      .nullish()
      .describe('IP address; finds only your own entries unless you are an administrator'),
    period: z.enum(Object.keys(periodDays)).nullish(),
    date: z.iso
      .date({ error: 'date_format', abort: true })
      .refine(isSupportedYear, 'date_format')
      .nullish()
      .describe('Day, in UTC'),
    source: z.enum(sources).nullish(),
  })

/** Names of the filters. */
export const activityFilters = ['event', 'event_exact', 'ip', 'period', 'date', 'source'] as const

const isAddress = (value: string) => canonicalAddress(value) !== null

/** Years that JavaScript and PostgreSQL write the same way, including the following day. */
const isSupportedYear = (date: string) => date >= '1970' && date < '9999'

type FilterConditions = Omit<EntrySelection, 'scope' | 'hiddenActors'>

/**
 * Builds the conditions of the filters; `event` selects the name of the event. `hasVisibleAddress` holds for the entries
 * that a filter by address may find; null is all of them.
 */
export const filterConditions = (
  panel: Panel,
  filters: ListRequest['filters'],
  hasVisibleAddress: SQL | null,
  event: SQL = sql`name`,
): FilterConditions => ({
  ...timesOf(panel, filters),
  eventConditions: eventConditions(filters, event),
  indexedConditions: [...addressConditions(filters, hasVisibleAddress), ...actorConditions(filters)],
  unindexedConditions: (filters.source ?? []).slice(0, 1).map((source) => sql`source = ${source}`),
})

/** Conditions on the name of the event; none means all events. */
function eventConditions(
  { event: parts = [], event_exact: exact = [] }: ListRequest['filters'],
  name: SQL,
): SQL[] {
  const contains = parts.map((part) => sql`strpos(lower(${name}), ${part.toLowerCase()}) > 0`)
  const equals = exact.map((eventName) => sql`${name} = ${eventName}`)
  return [contains, equals]
    .filter((alternatives) => alternatives.length > 0)
    .map((alternatives) => sql`(${sql.join(alternatives, sql` or `)})`)
}

function timesOf(panel: Panel, filters: ListRequest['filters']): Pick<EntrySelection, 'from' | 'until'> {
  const { period: [period] = [], date: [date] = [] } = filters
  const since =
    period === undefined ? [] : [addDays(panel.now(), -periodDays[period as keyof typeof periodDays])]
  const days = date === undefined ? [] : [new Date(`${date}T00:00:00Z`)]
  const [from = null] = [...since, ...days].toSorted((one, other) => other.getTime() - one.getTime())
  return { from, until: days[0] ? addDays(days[0], 1) : null }
}

/** Selects the entries that are about a server, also as one of their subjects. */
export function eitherOfServer({ server_id: ids }: ListRequest['filters']): EntrySelection['either'] {
  const [id] = ids ?? []
  if (id === undefined) return null
  const server = Number(id)
  // An array, since PostgreSQL then reads the index of the entries for each of its few ids.
  const subjects = sql`array(select activity_id from ${activitySubjects}
    where subject_type = 'server' and subject_id = ${server})`
  return {
    scope: { column: sql`server_id`, value: sql`${server}::integer` },
    condition: sql`activity.id = any(${subjects})`,
  }
}

/** Conditions on who acted. */
const actorConditions = ({ actor_id: actors = [] }: ListRequest['filters']): SQL[] =>
  actors.slice(0, 1).map((actor) => sql`actor_id = ${Number(actor)}`)

function addressConditions({ ip }: ListRequest['filters'], hasVisibleAddress: SQL | null): SQL[] {
  if (ip === undefined || ip.length === 0) return []
  return [sql`ip = ${canonicalAddress(ip[0] ?? '')}`, ...(hasVisibleAddress ? [hasVisibleAddress] : [])]
}

const addDays = (date: Date, days: number) => new Date(date.getTime() + days * dayMs)
