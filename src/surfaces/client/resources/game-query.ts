import * as z from 'zod'
import type { GameStatus } from '../../../domain/games/queries.ts'
import { resource, Timestamp, timestampOrNull } from '../../../http/resource.ts'

const Attributes = () =>
  z.object({
    status: z.enum(['pending', 'online', 'offline', 'unsupported', 'failed']),
    players: z.int().min(0).nullable(),
    max_players: z.int().min(0).nullable(),
    checked_at: Timestamp().nullable(),
    game: z.string(),
  })

const GameQueryResource = resource('game_query', Attributes, (row: GameStatus) => ({
  status: row.status,
  players: row.players,
  max_players: row.maxPlayers,
  checked_at: timestampOrNull(row.checkedAt),
  game: row.game,
}))

/** The latest answer of a game to a status query, with its version and the players that it names. Spec: docs/servers.md#players. */
export const GameQueryWithMeta = () =>
  z.object({
    object: z.literal('game_query'),
    attributes: Attributes(),
    meta: z.object({ version: z.string().nullable(), player_names: z.array(z.string()) }),
  })

/** Presents the latest answer of a game. */
export const presentGameQuery = (row: GameStatus) => ({
  ...GameQueryResource.one(row),
  meta: { version: row.version, player_names: row.playerNames },
})
