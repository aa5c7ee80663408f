import { sql } from 'drizzle-orm'
import { check, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'
import { bulkOperations } from './bulk-operations.ts'

export const bulkItemStates = ['pending', 'running', 'done', 'failed'] as const

/** What happened to one server of a bulk operation. */
export const bulkItems = pgTable(
  'bulk_items',
  {
    operationId: integer()
      .notNull()
      .references(() => bulkOperations.id, { onDelete: 'cascade' }),
    /** Without a foreign key: it stays when the server is deleted, and may never have existed. */
    serverId: integer().notNull(),
    /** Set to `running` before anything is done, so that what is not idempotent is never done twice. */
    state: text({ enum: bulkItemStates }).notNull().default('pending'),
    /** The refusal, as the route of a single server would answer. */
    errorStatus: integer(),
    errorCode: text(),
    errorDetail: text(),
    /** Its reason and what its text names, by which a browser translates it. */
    errorMeta: jsonb().$type<Record<string, unknown>>(),
    finishedAt: instant(),
  },
  (t) => [
    primaryKey({ columns: [t.operationId, t.serverId] }),
    check('bulk_items_state', sql`${t.state} in ('pending', 'running', 'done', 'failed')`),
    check('bulk_items_error', sql`(${t.state} = 'failed') = (${t.errorStatus} is not null)`),
  ],
)
export type BulkItem = typeof bulkItems.$inferSelect
