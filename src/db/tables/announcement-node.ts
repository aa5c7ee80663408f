import { index, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core'
import { announcements } from './announcements.ts'
import { nodes } from './nodes.ts'

/** The nodes whose servers an announcement is about. */
export const announcementNode = pgTable(
  'announcement_node',
  {
    announcementId: integer()
      .notNull()
      .references(() => announcements.id, { onDelete: 'cascade' }),
    nodeId: integer()
      .notNull()
      .references(() => nodes.id, { onDelete: 'cascade' }),
  },
  (t) => [primaryKey({ columns: [t.announcementId, t.nodeId] }), index().on(t.nodeId)],
)
