import { createHash } from 'node:crypto'
import * as z from 'zod'
import { activityEvents } from '../../../domain/activity/events.ts'
import type { ActivityEntry, ActivityEntryPage } from '../../../domain/activity/list.ts'
import { NullResource, nullResource, resource, timestamp, Timestamp } from '../../../http/resource.ts'
import { PublicUserResource } from './public-user.ts'

type Properties = Record<string, unknown>

/** Properties that the interface shows beside a text, not in it. */
const metadataProperties = ['ip', 'useragent', 'using_sftp']

/** An entry of the audit log; its id is a hash. Properties are withheld without the permission to see the same elsewhere. */
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
      /** Left out unless the caller may not see the properties. */
      properties_withheld: z.literal(true).optional(),
      /** Left out unless an administrator acted for a user, and the actor is included. */
      acted_for: z.string().optional(),
      has_additional_metadata: z.boolean(),
      timestamp: Timestamp(),
      relationships: z.object({ actor: z.union([PublicUserResource.One(), NullResource()]) }).optional(),
    }),
  (row: ActivityEntry) => ({
    id: hashOf(row.entry.id),
    batch: null,
    event: row.entry.event,
    is_api: row.entry.apiKeyId !== null,
    ip: row.isAddressVisible ? row.entry.ip : null,
    description: row.entry.description,
    properties: row.arePropertiesVisible ? presentProperties(row) : {},
    ...(row.arePropertiesVisible ? {} : { properties_withheld: true as const }),
    ...(row.actedFor ? { acted_for: row.actedFor } : {}),
    has_additional_metadata: row.arePropertiesVisible && hasAdditionalMetadata(row),
    timestamp: timestamp(row.entry.timestamp),
    ...(row.actor === undefined ? {} : { relationships: { actor: actorOf(row) } }),
  }),
)

/** Hashes of entries that were shown of late: users look at the newest ones over and over. */
const hashes = new Map<number, string>()
const maxHashes = 10_000

function hashOf(id: number): string {
  const known = hashes.get(id)
  if (known !== undefined) return known
  const hash = createHash('sha1').update(String(id)).digest('hex')
  if (hashes.size >= maxHashes) hashes.clear()
  hashes.set(id, hash)
  return hash
}

/** Schema of a page of activity. */
export const ActivityPage = () =>
  ActivityLogResource.Page().and(z.object({ meta: z.object({ available_events: z.array(z.string()) }) }))

/** Presents a page of activity; `url` is that of the request. */
export function presentFeed(feed: ActivityEntryPage, url: string) {
  const page = ActivityLogResource.page(feed, url)
  return { ...page, meta: { ...page.meta, available_events: feed.events } }
}

/** Presents the actor. Their picture would tell the address, too: Gravatar finds it by the hash. */
function actorOf({ actor, isEmailVisible, panelUrl }: ActivityEntry) {
  if (!actor) return nullResource
  if (isEmailVisible) return PublicUserResource.one({ user: actor, panelUrl })
  const { attributes, ...item } = PublicUserResource.one({ user: { ...actor, email: actor.uuid }, panelUrl })
  return { ...item, attributes: { ...attributes, email: '[hidden]' } }
}

/** Adds the lengths of lists: as `count` where there is one list, else as `<name>_count`. */
function presentProperties({ entry, isOwn }: ActivityEntry): Properties {
  if (isShownAsItIs(entry.properties)) return entry.properties
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

/** Whether no property is shown another way than it is kept: so most entries are. */
function isShownAsItIs(properties: Properties): boolean {
  for (const name in properties)
    if (name === 'ip' || name === 'directory' || Array.isArray(properties[name])) return false
  return true
}

const folderOf = (path: string) => `/${path}/`.replace(/\/{2,}/g, '/')

/** Tells whether the entry has more than its text shows; of lists a text shows files only. */
function hasAdditionalMetadata({ entry }: ActivityEntry): boolean {
  const named: readonly string[] = Object.hasOwn(activityEvents, entry.event)
    ? activityEvents[entry.event as keyof typeof activityEvents]
    : []
  return Object.entries(entry.properties).some(
    ([name, value]) =>
      !metadataProperties.includes(name) &&
      (!named.includes(name) || (Array.isArray(value) && name !== 'files')),
  )
}
