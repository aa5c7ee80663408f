import { boolean, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'
import { servers } from './servers.ts'

/** Files and folders in the trash, which can be restored. */
export const trashItems = pgTable(
  'trash_items',
  {
    id: uuid().primaryKey().defaultRandom(),
    serverId: integer()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    /** Original path. */
    path: text().notNull(),
    isFile: boolean().notNull(),
    /** False until the move on the node is confirmed. */
    ready: boolean().notNull().default(false),
    /** Until then the restore or purge that holds the lease is the only one that may change the item. */
    heldUntil: instant(),
    deletedAt: instant().notNull().defaultNow(),
    expiresAt: instant().notNull(),
  },
  (t) => [index().on(t.serverId, t.deletedAt), index().on(t.expiresAt)],
)
export type TrashItem = typeof trashItems.$inferSelect
