import { boolean, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'
import { users } from './users.ts'

/** Browser sessions, also the guest ones that carry a sign-in challenge. */
export const sessions = pgTable(
  'sessions',
  {
    /** SHA-256 of the cookie's value, in hex. */
    id: text().primaryKey(),
    userId: integer().references(() => users.id, { onDelete: 'cascade' }),
    authVersion: integer().notNull().default(0),
    /** CSRF token, pending challenges, one-time notices. */
    data: jsonb().notNull().$type<Record<string, unknown>>().default({}),
    ip: text().notNull(),
    userAgent: text().notNull().default(''),
    isRemembered: boolean().notNull().default(false),
    createdAt: instant().notNull().defaultNow(),
    lastActiveAt: instant().notNull().defaultNow(),
    expiresAt: instant().notNull(),
  },
  (t) => [index().on(t.userId), index().on(t.expiresAt)],
)
export type Session = typeof sessions.$inferSelect
