/** The package has no types of its own: this is what is used of it. */
declare module 'gamedig' {
  export type GameOptions = { protocol: string; port_query_offset?: number | number[] }
  export const games: Record<string, { options: GameOptions }>
  export class GameDig {
    static query(options: {
      type: string
      host: string
      port: number
      /** Asks that port alone, not those which the game usually has. */
      givenPortOnly: boolean
      maxRetries: number
      /** Milliseconds for one answer, and for all of it. */
      socketTimeout: number
      attemptTimeout: number
      requestPlayers: boolean
      requestRules: boolean
    }): Promise<{ numplayers?: unknown; maxplayers?: unknown }>
  }
}
