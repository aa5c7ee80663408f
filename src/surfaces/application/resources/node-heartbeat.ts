import * as z from 'zod'
import type { NodeHeartbeat } from '../../../db/tables/node-heartbeats.ts'
import { heartbeatCauses } from '../../../domain/heartbeats/heartbeats.ts'
import { resource, timestamp, Timestamp, timestampOrNull } from '../../../http/resource.ts'

/** The last answer of a node to the check of each minute. */
export const NodeHeartbeatResource = resource(
  'node_heartbeat',
  () =>
    z.object({
      node_id: z.int(),
      state: z
        .enum(['up', 'down', 'unknown'])
        .describe('`unknown` until the node was asked for the first time'),
      since: Timestamp().nullable(),
      checked_at: Timestamp().nullable(),
      last_up_at: Timestamp().nullable().describe('Null while it never answered'),
      cause: z.enum(heartbeatCauses).nullable().describe('Why it is down'),
      status: z.int().nullable().describe('The HTTP status of a refusal'),
      version: z.string().nullable(),
      clock_offset_seconds: z
        .int()
        .nullable()
        .describe("By how much the node's clock is ahead of the panel's"),
      latency_ms: z.int().nullable(),
      certificate_ends_at: Timestamp()
        .nullable()
        .describe(
          'When the certificate of the daemon ends; null without one, and where the panel cannot read it',
        ),
      usage: z
        .object({
          cpu_absolute: z.number().describe('Percent of one core'),
          memory_bytes: z.int(),
          disk_bytes: z.int(),
          servers: z.int().describe('Servers that the daemon lists'),
          running_servers: z.int(),
        })
        .nullable()
        .describe('The sum over the servers; null while the node is down or lists more than the panel reads'),
    }),
  (row: NodeHeartbeat | { id: number }) => ('isUp' in row ? attributesOf(row) : neverAsked(row.id)),
)

const attributesOf = (row: NodeHeartbeat) => ({
  node_id: row.id,
  state: row.isUp ? ('up' as const) : ('down' as const),
  since: timestamp(row.since),
  checked_at: timestamp(row.checkedAt),
  last_up_at: timestampOrNull(row.lastUpAt),
  cause: row.cause,
  status: row.status,
  version: row.version,
  clock_offset_seconds: row.clockOffset,
  latency_ms: row.latencyMs,
  certificate_ends_at: timestampOrNull(row.certificateEndsAt),
  usage:
    row.servers === null
      ? null
      : {
          cpu_absolute: row.cpu ?? 0,
          memory_bytes: row.memoryBytes ?? 0,
          disk_bytes: row.diskBytes ?? 0,
          servers: row.servers,
          running_servers: row.runningServers ?? 0,
        },
})

const neverAsked = (id: number) => ({
  node_id: id,
  state: 'unknown' as const,
  since: null,
  checked_at: null,
  last_up_at: null,
  cause: null,
  status: null,
  version: null,
  clock_offset_seconds: null,
  latency_ms: null,
  certificate_ends_at: null,
  usage: null,
})
