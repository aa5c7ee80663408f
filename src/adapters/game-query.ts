import { askMinecraft, type OpenStream } from './minecraft-status.ts'

/** Which game to ask, named as gamedig names it, and where. */
export type GameTarget = {
  game: string
  host: string
  port: number
  /** Every port of the server on that host: no others are asked. */
  ownPorts: readonly number[]
}

/**
 * What came of asking. Players are null where an online game does not tell them. `offline` gave no answer,
 * `failed` one that cannot be read, `unsupported` was not asked.
 */
export type GameAnswer =
  | { status: 'online'; players: number | null; maxPlayers: number | null }
  | { status: 'offline' | 'failed' | 'unsupported' }

/** Asks a game who plays, within some seconds. Never throws. */
export type GameQuery = (target: GameTarget) => Promise<GameAnswer>

/** Milliseconds after which nobody answers any more. */
export const patience = 5_000

const unsupported: GameQuery = async () => ({ status: 'unsupported' })

/** Minecraft's Java Edition is asked over the platform's streams, every other game by `others`, where there is one. */
export const gameQuery =
  (open: OpenStream, others: GameQuery = unsupported): GameQuery =>
  (target) =>
    target.game === 'minecraft' ? askMinecraft(open, target, patience) : others(target)
