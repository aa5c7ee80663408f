import { index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'

/** The cache of several processes without Redis: counters with `hits`, everything else as JSON in `value`. An unlogged table. */
export const cacheEntries = pgTable(
  'cache_entries',
  {
    key: text().primaryKey(),
    value: text(),
    hits: integer().notNull().default(0),
    expiresAt: instant().notNull(),
  },
  (t) => [index().on(t.expiresAt)],
)
