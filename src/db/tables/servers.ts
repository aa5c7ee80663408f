import { sql } from 'drizzle-orm'
import { type AnyPgColumn, boolean, check, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { id, instant, randomUuid, times } from '../columns.ts'
import { eggs } from './eggs.ts'
import { nodes } from './nodes.ts'
import { users } from './users.ts'

export const serverStatuses = [
  'installing',
  'install_failed',
  'reinstall_failed',
  'suspended',
  'restoring_backup',
] as const
/** Null is the normal status: installed and ready to run. */
export type ServerStatus = (typeof serverStatuses)[number] | null

/** Returns the short identifier where it is not the start of the uuid, which few have; null for the others. */
export const foreignShort = (server: Record<'uuid' | 'uuidShort', AnyPgColumn>) =>
  sql`(case when ${server.uuidShort} <> left(${server.uuid}::text, 8) then ${server.uuidShort} end)`

/** Game servers. Memory, swap and disk in MiB, CPU in percent of one core. */
export const servers = pgTable(
  'servers',
  {
    ...id,
    uuid: randomUuid(),
    /**
     * The first eight characters of the uuid, as in SFTP login names; of servers that moved in from another panel
     * whatever they had there. Letters of both cases are the same.
     */
    uuidShort: text().notNull().unique(),
    externalId: text().unique(),
    nodeId: integer()
      .notNull()
      .references(() => nodes.id, { onDelete: 'restrict' }),
    ownerId: integer()
      .notNull()
      .references(() => users.id, { onDelete: 'restrict' }),
    eggId: integer()
      .notNull()
      .references(() => eggs.id, { onDelete: 'restrict' }),
    /** The primary allocation; a deferred foreign key makes it one of the server's own. */
    allocationId: integer().notNull().unique(),
    name: text().notNull(),
    description: text().notNull().default(''),
    status: text({ enum: serverStatuses }),
    skipScripts: boolean().notNull().default(false),
    memory: integer().notNull(),
    swap: integer().notNull(),
    disk: integer().notNull(),
    io: integer().notNull(),
    cpu: integer().notNull(),
    threads: text(),
    oomDisabled: boolean().notNull().default(true),
    startup: text().notNull(),
    image: text().notNull(),
    /** Values of the egg's variables by environment name; a missing one means the egg's default. */
    variables: jsonb().notNull().$type<Record<string, string>>().default({}),
    databaseLimit: integer(),
    allocationLimit: integer(),
    backupLimit: integer().notNull().default(0),
    /** Set by every install callback, whatever its result. */
    installedAt: instant(),
    ...times,
  },
  (t) => [
    // A page reads each server by its id: two blocks, where the tree of a million has four.
    index('servers_id_hash_index').using('hash', t.id),
    index().on(t.ownerId, t.id),
    index().on(t.nodeId, t.id),
    index().on(t.nodeId, t.status),
    index().on(t.eggId),
    index().on(t.eggId, t.id),
    index('servers_uuid_short_index').on(sql`lower(${t.uuidShort})`),
    // The version before searches by it.
    index('servers_foreign_short_index')
      .on(t.uuidShort)
      .where(sql`${t.uuidShort} <> left(${t.uuid}::text, 8)`),
    index('servers_foreign_short_trigram_index').using('gin', sql`${foreignShort(t)} gin_trgm_ops`),
    index('servers_name_order_index').on(sql`lower(${t.name})`, t.id),
    index().on(t.memory, t.id),
    index('servers_name_trigram_index').using('gin', t.name.op('gin_trgm_ops')),
    index('servers_search_index').using(
      'gin',
      t.externalId.op('gin_trgm_ops'),
      t.description.op('gin_trgm_ops'),
      t.image.op('gin_trgm_ops'),
      sql`(${t.uuid}::text) gin_trgm_ops`,
    ),
    check(
      'servers_status',
      sql`${t.status} in ('installing', 'install_failed', 'reinstall_failed', 'suspended', 'restoring_backup')`,
    ),
    check('servers_name_length', sql`length(${t.name}) between 1 and 191`),
    check('servers_external_id_length', sql`length(${t.externalId}) between 1 and 255`),
    check('servers_limits', sql`${t.memory} >= 0 and ${t.swap} >= -1 and ${t.disk} >= 0 and ${t.cpu} >= 0`),
    check('servers_io', sql`${t.io} between 10 and 1000`),
    check(
      'servers_feature_limits',
      sql`${t.databaseLimit} >= 0 and ${t.allocationLimit} >= 0 and ${t.backupLimit} >= 0`,
    ),
  ],
)
export type Server = typeof servers.$inferSelect
