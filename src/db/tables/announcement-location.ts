import { index, integer, pgTable, primaryKey } from 'drizzle-orm/pg-core'
import { announcements } from './announcements.ts'
import { locations } from './locations.ts'

/** The locations whose servers an announcement is about. */
export const announcementLocation = pgTable(
  'announcement_location',
  {
    announcementId: integer()
      .notNull()
      .references(() => announcements.id, { onDelete: 'cascade' }),
    locationId: integer()
      .notNull()
      .references(() => locations.id, { onDelete: 'cascade' }),
  },
  (t) => [primaryKey({ columns: [t.announcementId, t.locationId] }), index().on(t.locationId)],
)
