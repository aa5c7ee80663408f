import { sql } from 'drizzle-orm'
import { check, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { id, times } from '../columns.ts'

/** Places of nodes. */
export const locations = pgTable(
  'locations',
  {
    ...id,
    short: text().notNull(),
    long: text(),
    /** The regional endpoint that daemons of this location call; null is the panel's own URL. */
    region: text(),
    ...times,
  },
  (t) => [
    uniqueIndex('locations_short_index').on(sql`lower(${t.short})`),
    check('locations_short_length', sql`length(${t.short}) between 1 and 191`),
    check('locations_long_length', sql`length(${t.long}) between 1 and 65535`),
  ],
)
export type Location = typeof locations.$inferSelect
