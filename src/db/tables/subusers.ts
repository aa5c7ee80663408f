import { index, integer, pgTable, text, unique } from 'drizzle-orm/pg-core'
import { id, times } from '../columns.ts'
import { servers } from './servers.ts'
import { users } from './users.ts'

/** People whom the owner let in, with what they may do. */
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
    ...times,
  },
  (t) => [unique().on(t.serverId, t.userId), index().on(t.userId, t.serverId)],
)
export type Subuser = typeof subusers.$inferSelect
