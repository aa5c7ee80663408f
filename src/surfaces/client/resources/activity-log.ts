import { createHash } from 'node:crypto'
import * as z from 'zod'
import { events } from '../../../domain/activity.ts'
import type { Feed, FeedEntry } from '../../../domain/activity-feed.ts'
import { NullResource, nullResource, resource, timestamp, Timestamp } from '../../../http/resource.ts'
import { PersonResource } from './person.ts'

type Properties = Record<string, unknown>

/** What stands beside a text rather than in it. */
const technical = ['ip', 'useragent', 'using_sftp']

/** An entry of the audit log. The id says nothing but which entry it is. */
export const ActivityLogResource = resource(
  'activity_log',
  () =>
    z.object({
      id: z.string(),
      batch: z.null(),
      event: z.string(),
      is_api: z.boolean(),
      ip: z.string().nullable(),
      description: z.string().nullable(),
      properties: z.record(z.string(), z.unknown()),
      has_additional_metadata: z.boolean(),
      timestamp: Timestamp(),
      relationships: z.object({ actor: z.union([PersonResource.One(), NullResource()]) }).optional(),
    }),
  (row: FeedEntry) => ({
    id: createHash('sha1').update(String(row.entry.id)).digest('hex'),
    batch: null,
    event: row.entry.event,
    is_api: row.entry.apiKeyId !== null,
    ip: row.showsAddress ? row.entry.ip : null,
    description: row.entry.description,
    properties: shownProperties(row),
    has_additional_metadata: hasMore(row),
    timestamp: timestamp(row.entry.timestamp),
    ...(row.actor === undefined ? {} : { relationships: { actor: actorOf(row.actor, row.panelUrl) } }),
  }),
)

/** Schema of `presentFeed`. */
export const ActivityPage = () =>
  ActivityLogResource.Page().and(z.object({ meta: z.object({ available_events: z.array(z.string()) }) }))

/** A page of a feed; `url` is the address of the request. */
export function presentFeed(feed: Feed, url: string) {
  const page = ActivityLogResource.page(feed, url)
  return { ...page, meta: { ...page.meta, available_events: feed.events } }
}

const actorOf = (user: FeedEntry['actor'], panelUrl: string) =>
  user ? PersonResource.one({ user, panelUrl }) : nullResource

/** Lists have their lengths beside them: as `count` where there is one list, else as `<name>_count`. */
function shownProperties({ entry, isOwn }: FeedEntry): Properties {
  const shown = Object.entries(entry.properties).map(([name, value]) => {
    if (name === 'ip' && !isOwn) return [name, '[hidden]'] as const
    return [name, name === 'directory' && typeof value === 'string' ? folderOf(value) : value] as const
  })
  const lists = shown.flatMap(([name, value]) =>
    Array.isArray(value) ? [[name, value.length] as const] : [],
  )
  const counts = lists.map(
    ([name, length]) => [lists.length === 1 ? 'count' : `${name}_count`, length] as const,
  )
  return Object.fromEntries<unknown>([...shown, ...counts])
}

const folderOf = (path: string) => `/${path}/`.replace(/\/{2,}/g, '/')

/** Whether there is more than a text says: of lists it names files alone. */
function hasMore({ entry }: FeedEntry): boolean {
  const named: readonly string[] = Object.hasOwn(events, entry.event)
    ? events[entry.event as keyof typeof events]
    : []
  return Object.entries(entry.properties).some(
    ([name, value]) =>
      !technical.includes(name) && (!named.includes(name) || (Array.isArray(value) && name !== 'files')),
  )
}
