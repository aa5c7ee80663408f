import { index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { id } from '../columns.ts'
import { servers } from './servers.ts'
import { users } from './users.ts'

/** Console commands that users keep for themselves. Those of an egg are in `eggs`. */
export const commandSnippets = pgTable(
  'command_snippets',
  {
    ...id,
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** The server where it is offered; null is all of them. */
    serverId: integer().references(() => servers.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    command: text().notNull(),
  },
  (t) => [index().on(t.userId), index().on(t.serverId)],
)
export type CommandSnippet = typeof commandSnippets.$inferSelect
