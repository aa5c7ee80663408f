import { boolean, index, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core'
import { serverFolders } from './server-folders.ts'
import { servers } from './servers.ts'
import { users } from './users.ts'

/** Where a user keeps a server in their own list. It gives no access: without it the server is not listed. */
export const serverPlacements = pgTable(
  'server_placements',
  {
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    serverId: integer()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    isFavourite: boolean().notNull().default(false),
    folderId: integer().references(() => serverFolders.id, { onDelete: 'set null' }),
  },
  (t) => [primaryKey({ columns: [t.userId, t.serverId] }), index().on(t.serverId), index().on(t.folderId)],
)
export type ServerPlacement = typeof serverPlacements.$inferSelect
