import { type GameQueryResult, type GameTarget, queryTimeoutMs } from './game-query.ts'
import { playerCount } from './minecraft-status.ts'
import { reportedNames, reportedVersion } from './reported-text.ts'

/**
 * Protocols that query only the server's own address and report the number of players. The package's others query lists
 * on the internet or follow HTTP redirects, which the user of a server could direct anywhere.
 */
const protocols: ReadonlySet<string> = new Set(
  `armagetron ase battlefield cs2d dayz doom3 ffow gamespy1 gamespy2 gamespy3 goldsrc gtasao hexen2
  jc2mp mafia2mp mafia2online minecraftbedrock mumbleping openttd quake1 quake2 quake3 rfactor samp
  savage2 soldat starmade toxikk tribes1 unreal2 ut3 valve vcmp warsow xonotic`.split(/\s+/),
)

/** Names of games for which the package would try several editions, with the protocol to use. */
const protocolNames: ReadonlyMap<string, string> = new Map([['mbe', 'protocol-minecraftbedrock']])

/**
 * Queries a game with gamedig within `timeoutMs`; the first query loads the package. Needs UDP, which Workers do not
 * have.
 */
export async function queryWithGamedig(
  target: GameTarget,
  timeoutMs = queryTimeoutMs,
): Promise<GameQueryResult> {
  const { games } = await import('gamedig')
  const type = protocolNames.get(target.game) ?? target.game
  const options = Object.hasOwn(games, type) ? games[type]?.options : null
  const protocol = options?.protocol ?? type.replace(/^protocol-/, '')
  if (!protocols.has(protocol)) return { status: 'unsupported' }
  const ports = candidatePorts(target, options?.port_query_offset)
  const timeout = Math.floor(timeoutMs / ports.length)
  let lastResult: GameQueryResult = { status: 'offline' }
  for (const port of ports) {
    lastResult = await queryPort({ type, host: target.host, port }, timeout)
    if (lastResult.status === 'online') return lastResult
  }
  return lastResult
}

/** Queries a port with the names of players, and without them where the game's list of names makes no sense. */
async function queryPort(
  address: { type: string; host: string; port: number },
  timeoutMs: number,
): Promise<GameQueryResult> {
  const named = await attempt(address, timeoutMs, true)
  return named.status === 'failed' ? attempt(address, timeoutMs, false) : named
}

async function attempt(
  address: { type: string; host: string; port: number },
  timeoutMs: number,
  requestPlayers: boolean,
): Promise<GameQueryResult> {
  const { GameDig } = await import('gamedig')
  try {
    const state = await GameDig.query({
      ...address,
      givenPortOnly: true,
      maxRetries: 1,
      // Many games never answer the question for names: the rest must not wait for it.
      socketTimeout: Math.min(1_500, Math.floor(timeoutMs / 3)),
      attemptTimeout: timeoutMs,
      requestPlayers,
      requestRules: false,
    })
    // The package reads missing numbers as 0: without a maximum, 0 players means unknown.
    const maxPlayers = playerCount(state.maxplayers) || null
    const players = playerCount(state.numplayers)
    return {
      status: 'online',
      players: maxPlayers === null && players === 0 ? null : players,
      maxPlayers,
      version: reportedVersion(state.version),
      playerNames: reportedNames(state.players),
    }
  } catch (error) {
    return { status: isUnreachable(error) ? 'offline' : 'failed' }
  }
}

/** Returns the ports to query: first the game's query port, when it belongs to the server, then the server's port. */
function candidatePorts({ port, ownPorts }: GameTarget, offset: number | number[] = []): number[] {
  const offsetPorts = [offset].flat().map((distance) => port + distance)
  return [...offsetPorts.filter((each) => ownPorts.includes(each)), port]
}

/** Whether no attempt had an answer; only the stack has the reasons of the attempts. */
const isUnreachable = (error: unknown) =>
  error instanceof Error &&
  /Timed out|Connection Refused|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/.test(
    error.stack ?? '',
  )
