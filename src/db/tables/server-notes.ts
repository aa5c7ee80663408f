import { sql } from 'drizzle-orm'
import { check, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'
import { servers } from './servers.ts'

/** What administrators note about a server; only they see it. */
export const serverNotes = pgTable(
  'server_notes',
  {
    /** That of the server. */
    id: integer()
      .primaryKey()
      .references(() => servers.id, { onDelete: 'cascade' }),
    notes: text().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [check('server_notes_length', sql`length(${t.notes}) <= 65535`)],
)
export type ServerNotes = typeof serverNotes.$inferSelect
