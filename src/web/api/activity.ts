import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ActivityLogResource } from '../../surfaces/client/resources/activity-log.ts'
import { request } from './request.ts'
import type { Item, PageOf, Wire } from './resources.ts'

export type ActivityEntry = Wire<typeof ActivityLogResource>
type ActivityPage = PageOf<ActivityEntry>
type ActivityPageWithEvents = ActivityPage & { meta: { available_events: string[] } }
type Person = { uuid: string; username: string; email: string; image: string }

export const periods = ['24h', '7d', '30d', '90d'] as const
export const sources = ['web', 'api', 'sftp', 'system'] as const

/** Which entries of a feed are asked for, as the address of the page says it. */
export type ActivitySearch = {
  event?: string
  period?: (typeof periods)[number]
  date?: string
  source?: (typeof sources)[number]
  ip?: string
  page?: number
}

/** The search of a page with a feed; what is none of it is left out. For `validateSearch` of a route. */
export function readActivitySearch(search: Record<string, unknown>): ActivitySearch {
  const { event, period, date, source, ip, page } = search
  const isDate = typeof date === 'string' && /^\d{4}-\d\d-\d\d$/.test(date)
  return given({
    event: typeof event === 'string' && event !== '' ? event : undefined,
    period: periods.find((each) => each === period),
    date: isDate ? date : undefined,
    source: sources.find((each) => each === source),
    ip: typeof ip === 'string' && ip !== '' ? ip : undefined,
    page: typeof page === 'number' && Number.isInteger(page) && page > 1 ? page : undefined,
  })
}

const given = <Values extends object>(values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Values]?: NonNullable<Values[Name]>
  }

const mostPerPage = 100

function fetchPage(feed: string, search: ActivitySearch, perPage: number | null, signal?: AbortSignal) {
  const { event, period, date, source, ip, page } = search
  return request<ActivityPageWithEvents>('GET', feed, {
    query: {
      include: 'actor',
      'filter[event_exact]': event,
      'filter[period]': period,
      'filter[date]': date,
      'filter[source]': source,
      'filter[ip]': ip,
      page,
      per_page: perPage,
    },
    ...(signal ? { signal } : {}),
  })
}

/** One page of a feed, newest first; `feed` is its address in the Client API. */
export const activityQuery = (feed: string, search: ActivitySearch) =>
  queryOptions({
    queryKey: ['activity', feed, search],
    queryFn: ({ signal }) => fetchPage(feed, search, null, signal),
    placeholderData: keepPreviousData,
  })

/** All entries that are asked for, newest first, up to `most`: page after page. */
export async function fetchActivity(
  feed: string,
  search: ActivitySearch,
  most: number,
): Promise<ActivityEntry[]> {
  const entries: ActivityEntry[] = []
  for (let page = 1; entries.length < most; page += 1) {
    const { data, meta } = await fetchPage(feed, { ...search, page }, mostPerPage)
    entries.push(...data.map(({ attributes }) => attributes))
    if (data.length === 0 || page >= meta.pagination.total_pages) break
  }
  return entries.slice(0, most)
}

/** Who did it; null where it was nobody, or somebody who is gone. */
export function actorOf({ relationships }: ActivityEntry): Person | null {
  const actor = relationships?.actor as Item<Person | null> | undefined
  return actor?.attributes ?? null
}
