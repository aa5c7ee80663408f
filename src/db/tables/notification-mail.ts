import { boolean, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { notificationKinds } from './notifications.ts'
import { users } from './users.ts'

/** Whether a user gets mails about a kind of notification; without a row the kind's default holds. */
export const notificationMail = pgTable(
  'notification_mail',
  {
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    kind: text({ enum: notificationKinds }).notNull(),
    isOn: boolean().notNull(),
  },
  (t) => [primaryKey({ columns: [t.userId, t.kind] })],
)
