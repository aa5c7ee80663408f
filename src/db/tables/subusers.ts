import { boolean, index, integer, pgTable, text, unique } from 'drizzle-orm/pg-core'
import { id, times } from '../columns.ts'
import { servers } from './servers.ts'
import { users } from './users.ts'

/** Subusers of a server, with their permissions. */
export const subusers = pgTable(
  'subusers',
  {
    ...id,
    userId: integer()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    serverId: integer()
      .notNull()
      .references(() => servers.id, { onDelete: 'cascade' }),
    permissions: text().array().notNull().default([]),
    /** Invited by an address that the account has not verified: no access until it is. */
    pending: boolean().notNull().default(false),
    ...times,
  },
  (t) => [unique().on(t.serverId, t.userId), index().on(t.userId, t.serverId)],
)
export type Subuser = typeof subusers.$inferSelect
