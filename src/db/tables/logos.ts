import { sql } from 'drizzle-orm'
import { check, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'

/** Pictures of the panel's own logo: few and small, so that a panel without an object store has them, too. */
export const logos = pgTable(
  'logos',
  {
    /** Hash of the content with the extension of its format. */
    name: text().primaryKey(),
    /** In base64: every driver reads it alike. */
    content: text().notNull(),
    createdAt: instant().notNull(),
  },
  (t) => [check('logos_length', sql`length(${t.content}) <= 400000`)],
)
