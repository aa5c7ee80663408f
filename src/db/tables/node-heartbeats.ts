import { sql } from 'drizzle-orm'
import { bigint, boolean, check, doublePrecision, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'
import { nodes } from './nodes.ts'

/** Why a node counts as down. */
export const heartbeatCauses = [
  'dns',
  'refused',
  'no_route',
  'timeout',
  'reset',
  'certificate',
  'tls',
  'credential',
  'answer',
  'failed',
  'unreachable',
] as const
export type HeartbeatCause = (typeof heartbeatCauses)[number]

/** What each node answered when it was last asked. Usage is the sum over its servers; null where it is unknown. */
export const nodeHeartbeats = pgTable(
  'node_heartbeats',
  {
    /** That of the node. */
    id: integer()
      .primaryKey()
      .references(() => nodes.id, { onDelete: 'cascade' }),
    isUp: boolean().notNull(),
    /** Since when it is up or down. */
    since: instant().notNull(),
    checkedAt: instant().notNull(),
    /** Null while it never answered. */
    lastUpAt: instant(),
    /** Why it is down; null while it is up. */
    cause: text({ enum: heartbeatCauses }),
    /** The HTTP status of a refusal. */
    status: integer(),
    version: text(),
    /** Seconds by which the node's clock is ahead of the panel's. */
    clockOffset: integer(),
    /** Milliseconds until it answered. */
    latencyMs: integer(),
    /** Percent of one core. */
    cpu: doublePrecision(),
    memoryBytes: bigint({ mode: 'number' }),
    diskBytes: bigint({ mode: 'number' }),
    /** Servers that the daemon lists, and those of them that run. */
    servers: integer(),
    runningServers: integer(),
    /** When the certificate of the daemon ends; null without one, and where it is unknown. */
    certificateEndsAt: instant(),
    /** When the certificate was read last, also in vain. */
    certificateReadAt: instant(),
  },
  (t) => [
    check(
      'node_heartbeats_cause',
      sql`${t.cause} in (${sql.raw(heartbeatCauses.map((cause) => `'${cause}'`).join(', '))})`,
    ),
  ],
)
export type NodeHeartbeat = typeof nodeHeartbeats.$inferSelect
