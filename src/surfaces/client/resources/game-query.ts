import * as z from 'zod'
import type { GameStatus } from '../../../domain/games/queries.ts'
import { resource, Timestamp, timestampOrNull } from '../../../http/resource.ts'

/** The latest answer of a game to a status query. Spec: getClientServersByServerQuery. */
export const GameQueryResource = resource(
  'game_query',
  () =>
    z.object({
      status: z.enum(['pending', 'online', 'offline', 'unsupported', 'failed']),
      players: z.int().min(0).nullable(),
      max_players: z.int().min(0).nullable(),
      checked_at: Timestamp().nullable(),
      game: z.string(),
    }),
  (row: GameStatus) => ({
    status: row.status,
    players: row.players,
    max_players: row.maxPlayers,
    checked_at: timestampOrNull(row.checkedAt),
    game: row.game,
  }),
)
