import { sql } from 'drizzle-orm'
import { check, index, integer, pgTable, text, unique } from 'drizzle-orm/pg-core'
import { id, times } from '../columns.ts'
import { nodes } from './nodes.ts'
import { servers } from './servers.ts'

/** Address and port pairs of a node. */
export const allocations = pgTable(
  'allocations',
  {
    ...id,
    nodeId: integer()
      .notNull()
      .references(() => nodes.id, { onDelete: 'cascade' }),
    ip: text().notNull(),
    ipAlias: text(),
    port: integer().notNull(),
    /** Null while unassigned. */
    serverId: integer().references(() => servers.id, { onDelete: 'set null' }),
    notes: text(),
    ...times,
  },
  (t) => [
    unique().on(t.nodeId, t.ip, t.port),
    // Referenced by the foreign key that makes a server's primary allocation one of its own.
    unique('allocations_id_server_id_unique').on(t.id, t.serverId),
    index().on(t.serverId),
    // Those of each server of a page.
    index('allocations_server_id_hash_index').using('hash', t.serverId),
    index('allocations_free_index')
      .on(t.nodeId, t.ip, t.port)
      .where(sql`${t.serverId} is null`),
    index('allocations_address_index')
      .on(t.ip, t.port, t.serverId)
      .where(sql`${t.serverId} is not null`),
    // Servers of an address that many share, in order: a search ends with the first of them.
    index('allocations_ip_server_id_index')
      .on(t.ip, t.serverId)
      .where(sql`${t.serverId} is not null`),
    index('allocations_port_index')
      .on(t.port, t.serverId)
      .where(sql`${t.serverId} is not null`),
    check('allocations_port', sql`${t.port} between 1 and 65535`),
    check('allocations_notes_length', sql`length(${t.notes}) <= 256`),
    check('allocations_ip_alias_length', sql`length(${t.ipAlias}) <= 65535`),
  ],
)
export type Allocation = typeof allocations.$inferSelect
