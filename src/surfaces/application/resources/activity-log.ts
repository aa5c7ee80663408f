import * as z from 'zod'
import type { PanelActivityEntry } from '../../../domain/activity/panel-activity.ts'
import { resource, timestamp, Timestamp } from '../../../http/resource.ts'

/** An entry of the audit log as administrators see it, with the ids of what it is about. */
export const PanelActivityResource = resource(
  'activity_log',
  () =>
    z.object({
      id: z.int(),
      event: z.string(),
      source: z.enum(['web', 'api', 'sftp', 'system']),
      ip: z.string().nullable(),
      actor_id: z.int().nullable(),
      actor: z.string().nullable(),
      acted_for_id: z.int().nullable(),
      acted_for: z.string().nullable(),
      api_key_id: z.int().nullable(),
      api_key: z.string().nullable(),
      server_id: z.int().nullable(),
      user_id: z.int().nullable(),
      node_id: z.int().nullable(),
      subjects: z.array(z.object({ type: z.string(), id: z.int() })),
      description: z.string().nullable(),
      properties: z.record(z.string(), z.unknown()),
      timestamp: Timestamp(),
    }),
  ({ entry, actorName, actedForName, keyIdentifier, subjects }: PanelActivityEntry) => ({
    id: entry.id,
    event: entry.event,
    source: entry.source,
    ip: entry.ip,
    actor_id: entry.actorId,
    actor: actorName,
    acted_for_id: entry.actedForId,
    acted_for: actedForName,
    api_key_id: entry.apiKeyId,
    api_key: keyIdentifier,
    server_id: entry.serverId,
    user_id: entry.userId,
    node_id: entry.nodeId,
    subjects: subjects.map(({ subjectType, subjectId }) => ({ type: subjectType, id: subjectId })),
    description: entry.description,
    properties: entry.properties,
    timestamp: timestamp(entry.timestamp),
  }),
)

/** Schema of a page of the feed. */
export const PanelActivityPage = () =>
  PanelActivityResource.Page().and(z.object({ meta: z.object({ available_events: z.array(z.string()) }) }))

type Attributes = ReturnType<typeof PanelActivityResource.attributes>

/** Columns of an export as CSV. */
const csvColumns = [
  'id',
  'timestamp',
  'event',
  'source',
  'ip',
  'actor_id',
  'actor',
  'api_key_id',
  'api_key',
  'server_id',
  'user_id',
  'node_id',
  'subjects',
  'description',
  'properties',
  'acted_for_id',
  'acted_for',
] as const satisfies (keyof Attributes)[]

/** How an export is written: its content type, its first line and the line of each entry. */
export const exportFormats = {
  ndjson: {
    contentType: 'application/x-ndjson',
    header: '',
    line: (entry: PanelActivityEntry) => `${JSON.stringify(PanelActivityResource.attributes(entry))}\n`,
  },
  csv: {
    contentType: 'text/csv; charset=UTF-8; header=present',
    header: `${csvColumns.join(',')}\r\n`,
    line: (entry: PanelActivityEntry) => {
      const attributes = PanelActivityResource.attributes(entry)
      return `${csvColumns.map((name) => csvField(attributes[name])).join(',')}\r\n`
    },
  },
}
export type ExportFormat = keyof typeof exportFormats

/** Quotes a field as RFC 4180 says. Text that a spreadsheet would take for a formula gets an apostrophe in front. */
function csvField(value: unknown): string {
  if (value === null) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const harmless = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
