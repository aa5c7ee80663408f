import { sql } from 'drizzle-orm'
import { check, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { instant } from '../columns.ts'
import { servers } from './servers.ts'

/** The latest answer of each game to a status query. Null players are unknown, not zero. */
export const gameQueries = pgTable(
  'game_queries',
  {
    serverId: integer()
      .primaryKey()
      .references(() => servers.id, { onDelete: 'cascade' }),
    status: text({ enum: ['pending', 'online', 'offline', 'unsupported', 'failed'] })
      .notNull()
      .default('pending'),
    players: integer(),
    maxPlayers: integer(),
    game: text().notNull().default(''),
    /** Of the game, as it reports it; null when it does not. */
    version: text(),
    /** Names of players, as the game reports them: untrusted, and perhaps not of all. */
    playerNames: text().array().notNull().default([]),
    checkedAt: instant(),
    requestedAt: instant(),
  },
  (t) => [
    check(
      'game_queries_status',
      sql`${t.status} in ('pending', 'online', 'offline', 'unsupported', 'failed')`,
    ),
  ],
)
export type GameQuery = typeof gameQueries.$inferSelect
