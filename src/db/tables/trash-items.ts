import { boolean, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'
import { servers } from './servers.ts'

/** Files and folders that were moved aside and can be brought back. */
export const trashItems = pgTable(
  'trash_items',
  {
    id: uuid().primaryKey().defaultRandom(),
    serverId: integer()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    /** Where it was. */
    path: text().notNull(),
    isFile: boolean().notNull(),
    /** False until the move on the node was seen to have happened. */
    ready: boolean().notNull().default(false),
    /** While it is being restored or purged nobody else may: who does it holds it until then. */
    heldUntil: instant(),
    deletedAt: instant().notNull().defaultNow(),
    expiresAt: instant().notNull(),
  },
  (t) => [index().on(t.serverId, t.deletedAt), index().on(t.expiresAt)],
)
export type TrashItem = typeof trashItems.$inferSelect
