import { type SQL, sql } from 'drizzle-orm'
import * as z from 'zod'
import { keptStatement, prepareCells } from '../../db/cell-statements.ts'
import { activity, activitySubjects, nodes, servers, subusers, throttles, users } from '../../db/schema.ts'
import type { Activity } from '../../db/tables/activity.ts'
import type { Node } from '../../db/tables/nodes.ts'
import { canonicalAddress } from '../../ip-addresses.ts'
import { log } from '../../log.ts'
import type { Panel } from '../../panel.ts'
import { isCurrentPair, type KnownPair } from '../auth/known-nodes.ts'
import { digest } from '../secrets.ts'
import { isStorable, limitProperties } from './properties.ts'

/** An event that a daemon reports about one of its servers, validated and ready to be stored. */
export type ActivityReport = {
  server: string
  user: string | null
  event: string
  source: Activity['source']
  ip: string
  /** ISO 8601, UTC, milliseconds. */
  at: string
  properties: Record<string, unknown>
}

const loopback = '127.0.0.1'
const maxTextLength = 191
/** The last time that PostgreSQL and RFC 3339 both write with a four-digit year. */
const maxTimestampMs = Date.UTC(9999, 11, 31)

/** Treats an empty text as null. */
const emptyAsNull = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === '' ? null : value), schema.nullish())

/** One entry of a daemon's batch. Spec: docs/remote.md#activity. */
export const DaemonActivityEntry = () =>
  z.object({
    user: emptyAsNull(z.guid()),
    server: z.guid(),
    event: z.string().startsWith('server:').max(maxTextLength),
    metadata: z.union([z.record(z.string(), z.unknown()), z.array(z.unknown())]).nullable(),
    ip: emptyAsNull(z.string()),
    timestamp: z.string(),
  })
let entrySchema: ReturnType<typeof DaemonActivityEntry> | null = null

/**
 * Parses an entry, or returns null when it has the wrong shape, holds text that PostgreSQL cannot store, or
 * is nested too deeply. A missing address becomes the loopback address; an unreadable time becomes `now`,
 * with the original in `original_timestamp`. Metadata above 8 KiB is replaced by a marker.
 */
export function parseActivityReport(entry: unknown, now: Date): ActivityReport | null {
  if (!isStorable(entry)) return null
  entrySchema ??= DaemonActivityEntry()
  const { success, data } = entrySchema.safeParse(entry)
  if (!success) return null
  const ip = data.ip ? parseAddress(data.ip) : loopback
  if (ip === null) return null
  const at = parseTimestamp(data.timestamp)
  return {
    server: data.server,
    user: data.user ?? null,
    event: data.event,
    source: data.event.startsWith('server:sftp.') ? 'sftp' : 'system',
    ip,
    at: (at ?? now).toISOString(),
    properties: {
      ...limitProperties(data.metadata),
      ...(at ? {} : { original_timestamp: data.timestamp.slice(0, maxTextLength).toWellFormed() }),
    },
  }
}

/** Returns the canonical address without a port, or null. */
function parseAddress(text: string): string | null {
  const [, bare = text] = /^(\[[^\]]+\]|[\d.]+):\d{1,5}$/.exec(text.trim()) ?? []
  return canonicalAddress(bare)
}

/** Daemons write nanoseconds; digits beyond milliseconds are cut. */
function parseTimestamp(text: string): Date | null {
  const [, seconds, fraction = '', zone] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,30}))?(Z|[+-]\d\d:\d\d)$/.exec(text.trim().toUpperCase()) ??
    []
  const time = Date.parse(`${seconds}.${fraction.slice(0, 3).padEnd(3, '0')}${zone}`)
  return time >= 0 && time < maxTimestampMs ? new Date(time) : null
}

/** Ten times what a daemon sends at once. */
const maxEntriesPerBatch = 1000
const deduplicationMs = 48 * 3_600_000
/** Entries of one node in a day: several times what a busy daemon sends. */
export const maxEntriesPerDay = 500_000
const dayMs = 86_400_000

/**
 * Adds the entries that a daemon reports to the activity log, in one statement. An entry that is repeated
 * within two days adds nothing. Drops entries that cannot be stored, that belong to servers of other nodes,
 * and, with a log line, those beyond half a million in a day. The actor is kept only if they have access to
 * the server or acted on it in the last two days; one who acted for a user in that time is kept with that user. Spec: docs/remote.md#activity. Wings: POST /activity.
 *
 * With a pair the node is not authenticated yet: returns false, and adds nothing, unless the node still has that pair.
 */
export async function recordDaemonActivity(
  panel: Panel,
  node: Node,
  entries: unknown[],
  pair: KnownPair | null,
): Promise<boolean> {
  const now = panel.now()
  const reports = entries.slice(0, maxEntriesPerBatch).flatMap((entry) => {
    const report = parseActivityReport(entry, now)
    return report ? [{ ...report, digest: entryDigest(node, entry) }] : []
  })
  if (reports.length === 0) return pair === null
  const statement = keptStatement(panel.db, 'daemon activity', () => prepareCells(panel.db, addReports()))
  const [counted] = await statement.execute({
    reports: JSON.stringify(reports),
    nodeId: node.id,
    tokenId: pair?.tokenId ?? null,
    encrypted: pair?.encrypted ?? null,
    now: now.toISOString(),
    deduplicatedSince: new Date(now.getTime() - deduplicationMs).toISOString(),
    key: `activity:${node.id}`,
    resetsAt: new Date(now.getTime() + dayMs).toISOString(),
  })
  if (!counted) return false
  const hits = Number(counted[0])
  if (hits >= maxEntriesPerDay) logDroppedEntries(node, hits)
  return true
}

const { placeholder } = sql

/**
 * Builds the statement that adds and counts the reports of a node; it returns no row when the node has another pair.
 * Earlier entries are found by `limit 1`, an index probe each: for `exists` PostgreSQL reads all entries of two days.
 */
function addReports(): SQL {
  const deduplicatedSince = sql`${placeholder('deduplicatedSince')}::timestamptz`
  const limit = dailyLimit()
  return sql`
    with caller as materialized (
      select ${nodes.id} as id from ${nodes} where ${nodes.id} = ${placeholder('nodeId')}::integer and ${isCurrentPair()}
    ), added as (insert into ${activity} (timestamp, event, ip, source, actor_id, acted_for_id, server_id, node_id, properties, digest)
    select report.at, report.event, report.ip, report.source,
      coalesce(acting.actor_id, actor.id), acting.acted_for_id, server.id, server.node_id,
      report.properties, report.digest
    from rows from (
      jsonb_to_recordset(${placeholder('reports')}::jsonb) as (
        at timestamptz, event text, ip text, source text, "user" uuid, server uuid, properties jsonb, digest text
      )
    ) with ordinality as report (at, event, ip, source, "user", server, properties, digest, position)
    join ${servers} server on server.uuid = report.server and server.node_id = ${placeholder('nodeId')}::integer
    left join ${users} actor on actor.uuid = report.user and (
      actor.root_admin or actor.id = server.owner_id
      or exists (
        select 1 from ${subusers} subuser
        where subuser.server_id = server.id and subuser.user_id = actor.id and not subuser.pending
      )
      or (
        select true from ${activity} earlier where earlier.actor_id = actor.id and earlier.server_id = server.id
        and earlier.timestamp > ${deduplicatedSince} order by earlier.timestamp desc limit 1
      )
    )
    left join lateral (
      select entry.actor_id, subject.subject_id as acted_for_id
      from ${activity} entry join ${activitySubjects} subject
        on subject.activity_id = entry.id and subject.subject_type = 'user'
      where actor.id is null and entry.event = 'admin:user.act' and entry.timestamp > ${deduplicatedSince}
        and entry.properties ->> 'token_user' = report."user"::text
      limit 1
    ) acting on true
    where exists (select 1 from caller) and not ${limit.isReached} and (
      select true from ${activity} earlier where earlier.digest = report.digest
      and earlier.timestamp > ${deduplicatedSince} limit 1
    ) is null
    order by report.position
    on conflict do nothing returning 1)
    ${limit.countAdded}`
}

/** SQL that checks and counts the daily limit of a node; parallel batches can exceed it a little. */
function dailyLimit() {
  const key = sql`${placeholder('key')}::text`
  const isOver = sql`${throttles.resetsAt} <= ${placeholder('now')}::timestamptz`
  return {
    isReached: sql`exists (
      select 1 from ${throttles}
      where ${throttles.key} = ${key} and ${throttles.hits} >= ${sql.raw(String(maxEntriesPerDay))} and not ${isOver}
    )`,
    countAdded: sql`
      insert into ${throttles} (key, hits, resets_at)
      select ${key}, count(*)::int, ${placeholder('resetsAt')}::timestamptz from added having exists (select 1 from caller)
      on conflict (key) do update set
        hits = case when ${isOver} then excluded.hits else ${throttles.hits} + excluded.hits end,
        resets_at = case when ${isOver} then excluded.resets_at else ${throttles.resetsAt} end
      returning hits`,
  }
}

function logDroppedEntries(node: Node, hits: number): void {
  const message = 'A node exceeded its daily limit of activity entries. Further entries are dropped.'
  log('warn', message, { node: node.uuid, entries: hits })
}

/**
 * Digest of the entry as it was sent, not as it is stored: the time of an entry with an unreadable
 * timestamp differs each time.
 */
function entryDigest(node: Node, entry: unknown): string {
  const { server, user, event, metadata, ip, timestamp } = entry as Record<string, unknown>
  return digest(JSON.stringify([node.id, server, user, event, metadata, ip, timestamp]))
}
