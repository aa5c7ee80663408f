import { index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'

/** Counters that must survive the loss of Redis: sign-in, SFTP, e-mail changes. */
export const throttles = pgTable(
  'throttles',
  {
    key: text().primaryKey(),
    hits: integer().notNull(),
    resetsAt: instant().notNull(),
  },
  (t) => [index().on(t.resetsAt)],
)
export type Throttle = typeof throttles.$inferSelect
