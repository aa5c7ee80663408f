import { sql, type SQL } from 'drizzle-orm'
import * as z from 'zod'
import { canonicalAddress } from '../../ip-addresses.ts'
import type { Panel } from '../../panel.ts'
import { integer, text } from '../fields.ts'
import type { ListRequest } from '../filters.ts'
import type { EntrySelection } from './list-query.ts'

const periodDays = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 }
const sources = ['web', 'api', 'sftp', 'system'] as const
const dayMs = 86_400_000

/**
 * Query of an activity log. Several events, separated by commas, are alternatives. By address and source
 * only the newest 100,000 entries that match the other filters are searched. Spec:
 * getClientAccountActivity.
 */
export const ActivityQuery = () =>
  z.object({
    page: integer(1).nullish(),
    per_page: integer(1, 100).nullish(),
    filter: z
      .object({
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
      .nullish(),
    sort: z
      .string()
      .nullish()
      .describe('timestamp or -timestamp (default)')
      .meta({ acceptedAs: { type: 'string', pattern: '^\\s*(?:(?:-?timestamp)?(?:,|\\s*$))*$' } }),
  })

/** Names of the filters. */
export const activityFilters = ['event', 'event_exact', 'ip', 'period', 'date', 'source'] as const

const isAddress = (value: string) => canonicalAddress(value) !== null

/** Years that JavaScript and PostgreSQL write the same way, including the following day. */
const isSupportedYear = (date: string) => date >= '1970' && date < '9999'

type FilterConditions = Pick<
  EntrySelection,
  'eventConditions' | 'timeAndActorConditions' | 'unindexedConditions'
>

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
  eventConditions: eventConditions(filters, event),
  timeAndActorConditions: timeAndActorConditions(panel, filters, hasVisibleAddress),
  unindexedConditions: addressAndSourceConditions(filters),
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

function timeAndActorConditions(
  panel: Panel,
  filters: ListRequest['filters'],
  hasVisibleAddress: SQL | null,
): SQL[] {
  const { ip, period: [period] = [], date: [date] = [] } = filters
  const start = date === undefined ? null : new Date(`${date}T00:00:00Z`)
  const since =
    period === undefined ? null : addDays(panel.now(), -periodDays[period as keyof typeof periodDays])
  return [
    ...(since ? [sql`timestamp >= ${timestampSql(since)}`] : []),
    ...(start
      ? [sql`timestamp >= ${timestampSql(start)} and timestamp < ${timestampSql(addDays(start, 1))}`]
      : []),
    ...(ip === undefined || hasVisibleAddress === null ? [] : [hasVisibleAddress]),
  ]
}

function addressAndSourceConditions(filters: ListRequest['filters']): SQL[] {
  const { ip: [ip] = [], source: [source] = [] } = filters
  return [
    ...(ip === undefined ? [] : [sql`ip = ${canonicalAddress(ip)}`]),
    ...(source === undefined ? [] : [sql`source = ${source}`]),
  ]
}

const addDays = (date: Date, days: number) => new Date(date.getTime() + days * dayMs)
const timestampSql = (date: Date) => sql`${date.toISOString()}::timestamptz`
