import { pgTable, primaryKey, text } from 'drizzle-orm/pg-core'

/**
 * Rows that moved in from another panel: a later run adds none of them again that was deleted here, and finds out which
 * changed there since.
 */
export const movedRows = pgTable(
  'moved_rows',
  {
    /** The table of this panel. */
    tableName: text().notNull(),
    /** The values by which this panel knows the row, as a JSON list. */
    key: text().notNull(),
    /**
     * What moved, as an HMAC with the other panel's key. Of `activity`, whose key is the other panel's table, up to which
     * entry it moved, as JSON.
     */
    digest: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.tableName, t.key] })],
)
export type MovedRecord = typeof movedRows.$inferSelect
