import { index, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core'
import { announcements } from './announcements.ts'
import { users } from './users.ts'

/** The announcements that a user does not want to see again. */
export const announcementDismissals = pgTable(
  'announcement_dismissals',
  {
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    announcementId: integer()
      .notNull()
      .references(() => announcements.id, { onDelete: 'cascade' }),
  },
  (t) => [primaryKey({ columns: [t.userId, t.announcementId] }), index().on(t.announcementId)],
)
