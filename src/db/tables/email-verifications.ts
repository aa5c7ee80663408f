import { index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { id, instant } from '../columns.ts'
import { users } from './users.ts'

/** Mailed links that verify an address of an account; a row is deleted by its use. */
export const emailVerifications = pgTable(
  'email_verifications',
  {
    ...id,
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** The address that the link was mailed to. */
    email: text().notNull(),
    tokenHash: text().notNull().unique(),
    createdAt: instant().notNull().defaultNow(),
    expiresAt: instant().notNull(),
  },
  (t) => [index().on(t.userId), index().on(t.expiresAt)],
)
export type EmailVerification = typeof emailVerifications.$inferSelect
