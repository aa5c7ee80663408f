import { type GameAnswer, type GameTarget, patience } from './game-query.ts'
import { headcount } from './minecraft-status.ts'

/**
 * Protocols that speak to the server's own address alone and tell how many play. The rest of the package's asks
 * lists on the internet or follows redirects of HTTP, which whoever rents a server could send anywhere.
 */
const protocols: ReadonlySet<string> = new Set(
  `armagetron ase battlefield cs2d dayz doom3 ffow gamespy1 gamespy2 gamespy3 goldsrc gtasao hexen2
  jc2mp mafia2mp mafia2online minecraftbedrock mumbleping openttd quake1 quake2 quake3 rfactor samp
  savage2 soldat starmade toxikk tribes1 unreal2 ut3 valve vcmp warsow xonotic`.split(/\s+/),
)

/** Tries the edition for which the name stands, where the package would try several. */
const spelt: ReadonlyMap<string, string> = new Map([['mbe', 'protocol-minecraftbedrock']])

/** Asks a game by the package, which is loaded by the first question. Needs UDP, so it is nothing for Workers. */
export async function askByGamedig(target: GameTarget): Promise<GameAnswer> {
  const { GameDig, games } = await import('gamedig')
  const type = spelt.get(target.game) ?? target.game
  const options = Object.hasOwn(games, type) ? games[type]?.options : null
  const protocol = options?.protocol ?? type.replace(/^protocol-/, '')
  if (!protocols.has(protocol)) return { status: 'unsupported' }
  const ports = portsOf(target, options?.port_query_offset)
  const timeout = Math.floor(patience / ports.length)
  let last: GameAnswer = { status: 'offline' }
  for (const port of ports) {
    try {
      const state = await GameDig.query({
        type,
        host: target.host,
        port,
        givenPortOnly: true,
        maxRetries: 1,
        socketTimeout: Math.min(2_000, timeout),
        attemptTimeout: timeout,
        requestPlayers: false,
        requestRules: false,
      })
      // The package reads what is missing as 0: a game without places did not tell who plays either.
      const maxPlayers = headcount(state.maxplayers) || null
      const players = headcount(state.numplayers)
      return { status: 'online', players: maxPlayers === null && players === 0 ? null : players, maxPlayers }
    } catch (error) {
      last = { status: isSilence(error) ? 'offline' : 'failed' }
    }
  }
  return last
}

/** Some games answer a little above their port: there first, where that port is the server's own. */
function portsOf({ port, ownPorts }: GameTarget, offset: number | number[] = []): number[] {
  const above = [offset].flat().map((distance) => port + distance)
  return [...above.filter((each) => ownPorts.includes(each)), port]
}

/** What went wrong stands only in the stack, which tells of each attempt. */
const isSilence = (error: unknown) =>
  error instanceof Error &&
  /Timed out|Connection Refused|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/.test(
    error.stack ?? '',
  )
