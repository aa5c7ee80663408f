import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ActivityLogResource } from '../../surfaces/client/resources/activity-log.ts'
import type { PublicUserResource } from '../../surfaces/client/resources/public-user.ts'
import { abortedBy, clientApi, json, serverApi } from './client.ts'
import type { AttributesOf } from './resources.ts'

export type ActivityEntry = AttributesOf<typeof ActivityLogResource>
type Actor = AttributesOf<typeof PublicUserResource>

/** The activity of a server by its identifier, or of the account. */
export type Feed = { server: string } | 'account'

export const periods = ['24h', '7d', '30d', '90d'] as const
export const sources = ['web', 'api', 'sftp', 'system'] as const

/** The filters and the page of a feed, as they stand in the address of the page. */
export type ActivitySearch = {
  event?: string
  period?: (typeof periods)[number]
  date?: string
  source?: (typeof sources)[number]
  ip?: string
  page?: number
}

/** Reads the search of a page with a feed, without what does not fit. For `validateSearch` of a route. */
export function readActivitySearch(search: Record<string, unknown>): ActivitySearch {
  const { event, period, date, source, ip, page } = search
  const isDate = typeof date === 'string' && /^\d{4}-\d\d-\d\d$/.test(date)
  return withoutUndefined({
    event: typeof event === 'string' && event !== '' ? event : undefined,
    period: periods.find((each) => each === period),
    date: isDate ? date : undefined,
    source: sources.find((each) => each === source),
    ip: typeof ip === 'string' && ip !== '' ? ip : undefined,
    page: typeof page === 'number' && Number.isInteger(page) && page > 1 ? page : undefined,
  })
}

const withoutUndefined = <Values extends object>(values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Values]?: NonNullable<Values[Name]>
  }

const maxPerPage = 100

function fetchPage(feed: Feed, search: ActivitySearch, perPage?: number, signal?: AbortSignal) {
  const { event, period, date, source, ip, page } = search
  const query = {
    include: 'actor',
    'filter[event_exact]': event,
    'filter[period]': period,
    'filter[date]': date,
    'filter[source]': source,
    'filter[ip]': ip,
    page,
    per_page: perPage,
  }
  return json(
    feed === 'account'
      ? clientApi.account.activity.$get({ query }, abortedBy(signal))
      : serverApi.activity.$get({ param: feed, query }, abortedBy(signal)),
  )
}

/** One page of a feed, newest first. */
export const activityQuery = (feed: Feed, search: ActivitySearch) =>
  queryOptions({
    queryKey: ['activity', feed, search],
    queryFn: ({ signal }) => fetchPage(feed, search, undefined, signal),
    placeholderData: keepPreviousData,
  })

/** Fetches the entries that match the filters, newest first, at most `maxEntries`: page after page. */
export async function fetchActivity(
  feed: Feed,
  search: ActivitySearch,
  maxEntries: number,
): Promise<ActivityEntry[]> {
  const entries: ActivityEntry[] = []
  for (let page = 1; entries.length < maxEntries; page += 1) {
    const { data, meta } = await fetchPage(feed, { ...search, page }, maxPerPage)
    entries.push(...data.map(({ attributes }) => attributes))
    if (data.length === 0 || page >= meta.pagination.total_pages) break
  }
  return entries.slice(0, maxEntries)
}

/** Returns the user who did it; null for the system and for deleted users. */
export const actorOf = ({ relationships }: ActivityEntry): Actor | null =>
  relationships?.actor.attributes ?? null
