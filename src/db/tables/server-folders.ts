import { sql } from 'drizzle-orm'
import { check, integer, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { id, times } from '../columns.ts'
import { users } from './users.ts'

/** Folders in which a user arranges servers in their own list; others do not see them. */
export const serverFolders = pgTable(
  'server_folders',
  {
    ...id,
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    ...times,
  },
  (t) => [
    uniqueIndex('server_folders_name_unique').on(t.userId, sql`lower(${t.name})`),
    check('server_folders_name_length', sql`length(${t.name}) between 1 and 50`),
  ],
)
export type ServerFolder = typeof serverFolders.$inferSelect
