import { integer, pgTable, text, unique } from 'drizzle-orm/pg-core'
import { id, instant } from '../columns.ts'
import { users } from './users.ts'

/** One-time codes for an account whose authenticator is lost; a row is deleted by its use. */
export const recoveryTokens = pgTable(
  'recovery_tokens',
  {
    ...id,
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** By which a token is found; of those that came from another panel a bcrypt hash, which begins with `$2`. */
    tokenHash: text().notNull(),
    createdAt: instant().notNull().defaultNow(),
  },
  (t) => [unique().on(t.userId, t.tokenHash)],
)
export type RecoveryToken = typeof recoveryTokens.$inferSelect
