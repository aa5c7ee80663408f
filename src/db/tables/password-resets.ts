import { index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { id, instant } from '../columns.ts'
import { users } from './users.ts'

/** Pending password resets; a row is deleted by its use. */
export const passwordResets = pgTable(
  'password_resets',
  {
    ...id,
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    tokenHash: text().notNull().unique(),
    /** The address that the link was mailed to; it works for no other. Null in rows of version 0.1. */
    email: text(),
    createdAt: instant().notNull().defaultNow(),
    expiresAt: instant().notNull(),
  },
  (t) => [index().on(t.userId), index().on(t.expiresAt)],
)
export type PasswordReset = typeof passwordResets.$inferSelect
