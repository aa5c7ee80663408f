import { sql } from 'drizzle-orm'
import { boolean, index, integer, pgTable, uniqueIndex } from 'drizzle-orm/pg-core'
import { id, instant, times } from '../columns.ts'
import { nodes } from './nodes.ts'
import { servers } from './servers.ts'

/** Transfers of servers between nodes; at most one open one per server. */
export const transfers = pgTable(
  'transfers',
  {
    ...id,
    serverId: integer()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    oldNodeId: integer()
      .notNull()
      .references(() => nodes.id, { onDelete: 'cascade' }),
    newNodeId: integer()
      .notNull()
      .references(() => nodes.id, { onDelete: 'cascade' }),
    // No foreign keys: the old and new allocations stay on record after they are deleted.
    oldAllocationId: integer().notNull(),
    newAllocationId: integer().notNull(),
    oldAdditionalAllocations: integer().array().notNull().default([]),
    newAdditionalAllocations: integer().array().notNull().default([]),
    /** Null while open. */
    successful: boolean(),
    /** When the transfer fails unless the daemons have reported. */
    deadlineAt: instant(),
    ...times,
  },
  (t) => [
    index().on(t.serverId),
    index().on(t.oldNodeId),
    index().on(t.newNodeId),
    uniqueIndex('transfers_open_index')
      .on(t.serverId)
      .where(sql`${t.successful} is null`),
  ],
)
export type Transfer = typeof transfers.$inferSelect
