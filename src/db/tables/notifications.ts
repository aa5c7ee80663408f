import { sql } from 'drizzle-orm'
import { check, index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { id, instant } from '../columns.ts'
import { servers } from './servers.ts'
import { users } from './users.ts'

/** What users are notified of. */
export const notificationKinds = [
  'install.completed',
  'install.failed',
  'backup.completed',
  'backup.failed',
  'restore.completed',
  'restore.failed',
  'schedule.failed',
  'server.invited',
  'server.suspended',
  'server.unsuspended',
] as const
export type NotificationKind = (typeof notificationKinds)[number]

/** What happened to the servers of a user. One that is unread counts what repeats it. */
export const notifications = pgTable(
  'notifications',
  {
    ...id,
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    serverId: integer()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    kind: text({ enum: notificationKinds }).notNull(),
    /** What a subuser needs to see it; null for access to the server. */
    permission: text(),
    /** What of the server it is about, such as the id of a schedule; empty for the server. */
    subject: text().notNull().default(''),
    /** Names for its text. */
    properties: jsonb().$type<Record<string, unknown>>().notNull().default({}),
    /** How often it happened since it was read last. */
    count: integer().notNull().default(1),
    createdAt: instant().notNull().defaultNow(),
    readAt: instant(),
  },
  (t) => [
    index().on(t.userId, t.createdAt),
    index().on(t.serverId),
    index().on(t.createdAt),
    uniqueIndex('notifications_unread_index')
      .on(t.userId, t.serverId, t.kind, t.subject)
      .where(sql`${t.readAt} is null`),
    check('notifications_count', sql`${t.count} > 0`),
  ],
)
export type Notification = typeof notifications.$inferSelect
