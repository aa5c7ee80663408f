import { type OpenStream, queryMinecraft } from './minecraft-status.ts'

/** A game server, with the game's name in gamedig. */
export type GameTarget = {
  game: string
  host: string
  port: number
  /** All ports of the server on that host; no others are queried. */
  ownPorts: readonly number[]
}

/**
 * The result of a query. Players are null when an online game does not report them. `offline`: no answer; `failed`: an
 * invalid answer; `unsupported`: not queried.
 */
export type GameQueryResult =
  | {
      status: 'online'
      players: number | null
      maxPlayers: number | null
      /** Null when the game does not report it. */
      version: string | null
      /** Those that the game names, which need not be all. */
      playerNames: readonly string[]
    }
  | { status: 'offline' | 'failed' | 'unsupported' }

/** Queries a game for its players, within `queryTimeoutMs`. Never throws. */
export type GameQuery = (target: GameTarget) => Promise<GameQueryResult>

/** Milliseconds for a query. */
export const queryTimeoutMs = 5_000

const unsupported: GameQuery = async () => ({ status: 'unsupported' })

/** Returns a query that reads the status of Minecraft's Java Edition over TCP, and uses `fallback` for all other games. */
export const gameQuery =
  (openStream: OpenStream, fallback: GameQuery = unsupported, timeoutMs = queryTimeoutMs): GameQuery =>
  (target) =>
    target.game === 'minecraft' ? queryMinecraft(openStream, target, timeoutMs) : fallback(target)
