import { sql } from 'drizzle-orm'
import { bigint, boolean, check, index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { id, instant, randomUuid, times } from '../columns.ts'
import { locations } from './locations.ts'

/** Machines that run a daemon. Memory and disk in MiB. */
export const nodes = pgTable(
  'nodes',
  {
    ...id,
    uuid: randomUuid(),
    public: boolean().notNull().default(true),
    name: text().notNull(),
    description: text(),
    locationId: integer()
      .notNull()
      .references(() => locations.id, { onDelete: 'restrict' }),
    fqdn: text().notNull(),
    scheme: text({ enum: ['http', 'https'] })
      .notNull()
      .default('https'),
    behindProxy: boolean().notNull().default(false),
    maintenanceMode: boolean().notNull().default(false),
    memory: integer().notNull(),
    /** Percent above `memory` that may be allocated; -1 is unlimited. */
    memoryOverallocate: integer().notNull().default(0),
    disk: integer().notNull(),
    diskOverallocate: integer().notNull().default(0),
    /** MiB per uploaded file. */
    uploadSize: integer().notNull().default(100),
    daemonListen: integer().notNull().default(8080),
    daemonSftp: integer().notNull().default(2022),
    daemonBase: text().notNull().default('/var/lib/pterodactyl/volumes'),
    countryCode: text(),
    queryAddress: text(),
    sftpDomain: text(),
    /** Public part of the daemon's token. */
    daemonTokenId: text().notNull().unique(),
    /** Encrypted, not hashed: calls to the daemon and its JWTs need it. */
    daemonToken: text().notNull(),
    /** The token before the last reset, until the daemon uses the new one. */
    previousTokenId: text().unique(),
    previousToken: text(),
    /** The daemon may use the previous token until then; null when it may not. */
    previousTokenExpiresAt: instant(),
    /** Sums over the node's servers, kept in the statement that changes a server. */
    usedMemory: bigint({ mode: 'number' }).notNull().default(0),
    usedDisk: bigint({ mode: 'number' }).notNull().default(0),
    ...times,
  },
  (t) => [
    // Those of each server of a page.
    index('nodes_id_hash_index').using('hash', t.id),
    index().on(t.locationId),
    index('nodes_name_order_index').on(sql`lower(${t.name})`, t.id),
    index().on(t.memory, t.id),
    index().on(t.disk, t.id),
    index('nodes_search_index').using(
      'gin',
      t.name.op('gin_trgm_ops'),
      t.fqdn.op('gin_trgm_ops'),
      t.daemonTokenId.op('gin_trgm_ops'),
      sql`(${t.uuid}::text) gin_trgm_ops`,
    ),
    check('nodes_scheme', sql`${t.scheme} in ('http', 'https')`),
    check('nodes_name_length', sql`length(${t.name}) between 1 and 100`),
    check('nodes_capacity', sql`${t.memory} >= 1 and ${t.disk} >= 1 and ${t.uploadSize} >= 1`),
    check('nodes_overallocate', sql`${t.memoryOverallocate} >= -1 and ${t.diskOverallocate} >= -1`),
    check('nodes_used', sql`${t.usedMemory} >= 0 and ${t.usedDisk} >= 0`),
    check('nodes_ports', sql`${t.daemonListen} between 1 and 65535 and ${t.daemonSftp} between 1 and 65535`),
    check('nodes_country_code_length', sql`length(${t.countryCode}) = 2`),
  ],
)
export type Node = typeof nodes.$inferSelect
