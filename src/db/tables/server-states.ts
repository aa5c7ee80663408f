import { sql } from 'drizzle-orm'
import { check, index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'
import { servers } from './servers.ts'

/** States of a server's process, by their number in samples. */
export const processStates = ['offline', 'starting', 'running', 'stopping'] as const
export type ProcessState = (typeof processStates)[number]

/** The state of each server's process as its node last reported it; written when it changes. */
export const serverStates = pgTable(
  'server_states',
  {
    /** That of the server. */
    id: integer('server_id')
      .primaryKey()
      .references(() => servers.id, { onDelete: 'cascade' }),
    state: text({ enum: processStates }).notNull(),
    since: instant().notNull(),
  },
  (t) => [
    index('server_states_state_index').on(t.state, t.id),
    check(
      'server_states_state',
      sql`${t.state} in (${sql.raw(processStates.map((state) => `'${state}'`).join(', '))})`,
    ),
  ],
)
export type ServerState = typeof serverStates.$inferSelect
