import { sql } from 'drizzle-orm'
import { check, index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { id, instant, times } from '../columns.ts'
import { users } from './users.ts'

/** What an announcement is about, which decides how it looks. */
export const announcementLevels = ['info', 'warning', 'maintenance'] as const
/** Everyone who signs in, or those with a server on the nodes and in the locations of the announcement. */
export const announcementAudiences = ['everyone', 'servers'] as const

/** Messages of administrators that users see in the panel for a time. */
export const announcements = pgTable(
  'announcements',
  {
    ...id,
    title: text().notNull(),
    /** Paragraphs with bold text and links; never HTML. */
    body: text().notNull().default(''),
    level: text({ enum: announcementLevels }).notNull().default('info'),
    audience: text({ enum: announcementAudiences }).notNull().default('everyone'),
    startsAt: instant().notNull().defaultNow(),
    /** Null until it is changed or deleted. */
    endsAt: instant(),
    authorId: integer().references(() => users.id, { onDelete: 'set null' }),
    ...times,
  },
  (t) => [
    index().on(t.startsAt),
    index().on(t.authorId),
    check('announcements_title_length', sql`length(${t.title}) between 1 and 120`),
    check('announcements_level', sql`${t.level} in ('info', 'warning', 'maintenance')`),
    check('announcements_audience', sql`${t.audience} in ('everyone', 'servers')`),
    check('announcements_times', sql`${t.endsAt} > ${t.startsAt}`),
  ],
)
export type Announcement = typeof announcements.$inferSelect
