import { sql } from 'drizzle-orm'
import { check, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { id, instant } from '../columns.ts'

export const bulkActions = ['power', 'suspend', 'unsuspend', 'reinstall', 'transfer', 'delete'] as const
export type BulkAction = (typeof bulkActions)[number]

/** What the action needs besides the server. */
export type BulkParameters = {
  signal?: 'start' | 'stop' | 'restart' | 'kill'
  nodeId?: number
  force?: boolean
}

/** One action on many servers, which a job does for the administrator who asked. */
export const bulkOperations = pgTable(
  'bulk_operations',
  {
    ...id,
    action: text({ enum: bulkActions }).notNull(),
    parameters: jsonb().notNull().$type<BulkParameters>().default({}),
    /** The administrator; without a foreign key, as the operation outlives the account. */
    userId: integer().notNull(),
    /** The key they used; null for a browser. */
    apiKeyId: integer(),
    /** Their address. */
    ip: text().notNull(),
    createdAt: instant().notNull(),
    /** Null while items are left. */
    finishedAt: instant(),
  },
  (t) => [
    index().on(t.createdAt),
    check(
      'bulk_operations_action',
      sql`${t.action} in (${sql.raw(bulkActions.map((action) => `'${action}'`).join(', '))})`,
    ),
  ],
)
export type BulkOperation = typeof bulkOperations.$inferSelect
