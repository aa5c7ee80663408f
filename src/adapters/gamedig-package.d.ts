/** The part of the package that is used here; it has no types of its own. */
declare module 'gamedig' {
  export type GameOptions = { protocol: string; port_query_offset?: number | number[] }
  export const games: Record<string, { options: GameOptions }>
  export class GameDig {
    static query(options: {
      type: string
      host: string
      port: number
      /** Queries this port only, not the usual ports of the game. */
      givenPortOnly: boolean
      maxRetries: number
      /** Milliseconds for one answer, and for the whole attempt. */
      socketTimeout: number
      attemptTimeout: number
      requestPlayers: boolean
      requestRules: boolean
    }): Promise<{ numplayers?: unknown; maxplayers?: unknown; version?: unknown; players?: unknown }>
  }
}
