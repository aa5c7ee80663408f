import { sql } from 'drizzle-orm'
import { check, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { id, times } from '../columns.ts'

/** Places where nodes stand. */
export const locations = pgTable(
  'locations',
  {
    ...id,
    short: text().notNull(),
    long: text(),
    /** Names the regional endpoint which daemons of this place call; null is the panel's own address. */
    region: text(),
    ...times,
  },
  (t) => [
    uniqueIndex('locations_short_index').on(sql`lower(${t.short})`),
    check('locations_short_length', sql`length(${t.short}) between 1 and 60`),
    check('locations_long_length', sql`length(${t.long}) between 1 and 191`),
  ],
)
export type Location = typeof locations.$inferSelect
