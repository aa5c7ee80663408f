import { index, integer, pgTable, text, unique } from 'drizzle-orm/pg-core'
import { id, instant, times } from '../columns.ts'
import { users } from './users.ts'

/** Accounts at OAuth providers that a user linked while signed in. */
export const identities = pgTable(
  'identities',
  {
    ...id,
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    provider: text().notNull(),
    issuer: text().notNull(),
    subject: text().notNull(),
    displayName: text().notNull(),
    lastUsedAt: instant(),
    ...times,
  },
  (t) => [unique().on(t.provider, t.issuer, t.subject), index().on(t.userId)],
)
export type Identity = typeof identities.$inferSelect
