import { sql } from 'drizzle-orm'
import {
  bigserial,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'

/**
 * The audit log, partitioned by month of `timestamp`.
 *
 * It has no foreign keys: an entry outlives its users and servers. Feeds are selected by columns of the row itself;
 * further subjects are in `activity_subjects`.
 */
export const activity = pgTable(
  'activity',
  {
    id: bigserial({ mode: 'number' }).notNull(),
    timestamp: instant().notNull().defaultNow(),
    event: text().notNull(),
    ip: text(),
    source: text({ enum: ['web', 'api', 'sftp', 'system'] }).notNull(),
    /** The user who acted; null is the system. */
    actorId: integer(),
    apiKeyId: integer(),
    /** The user for whom an administrator acted. */
    actedForId: integer(),
    /** The server concerned. */
    serverId: integer(),
    /** The account concerned. */
    userId: integer(),
    /** The node that reported it. */
    nodeId: integer(),
    description: text(),
    properties: jsonb().notNull().$type<Record<string, unknown>>().default({}),
    /** Hash of a reported entry: a batch that is sent again adds nothing. */
    digest: text(),
  },
  (t) => [
    primaryKey({ columns: [t.id, t.timestamp] }),
    index().on(t.serverId, t.timestamp, t.id),
    index().on(t.serverId, t.event, t.timestamp, t.id),
    index().on(t.userId, t.timestamp, t.id),
    index().on(t.userId, t.event, t.timestamp, t.id),
    index().on(t.actorId, t.timestamp, t.id),
    index().on(t.timestamp, t.id),
    index().on(t.event, t.timestamp, t.id),
    // The last two columns are there to be compared before an entry is read.
    index('activity_ip_index').on(t.ip, t.timestamp, t.id, t.serverId, t.userId),
    uniqueIndex('activity_digest_index')
      .on(t.digest, t.timestamp)
      .where(sql`${t.digest} is not null`),
    check('activity_source', sql`${t.source} in ('web', 'api', 'sftp', 'system')`),
  ],
)
export type Activity = typeof activity.$inferSelect
