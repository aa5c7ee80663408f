import { DaemonError, type DaemonServer } from '../adapters/daemon.ts'
import { daemonFailure } from '../errors.ts'
import type { Panel } from '../panel.ts'
import type { ReachedServer } from './credentials.ts'

/** State and use of a server. Sizes and traffic in bytes, cpu in percent of one core, uptime in milliseconds. */
export type ServerStats = {
  state: string
  isSuspended: boolean
  memoryBytes: number
  cpuAbsolute: number
  diskBytes: number
  networkRxBytes: number
  networkTxBytes: number
  uptime: number
}

/** What a daemon said of a server; its state is null where it did not say. */
export type Report = Omit<ServerStats, 'state'> & { state: string | null }
type Flight = { landing: Promise<unknown>; takenOffAt: number }

/** Seconds for which a report is shown. Spec: Limits, resource statistics cache. */
const freshFor = 20
/** The same while the server is on its way to another state: whoever waits for it wants to know. */
const freshOnTheWay = 1
/** Milliseconds after which nobody joins a flight: its call is over, or died with the request that made it. */
const longestFlight = 15_000

/**
 * What the daemon says of the server, at most 20 seconds old; a suspended server says so even when its
 * daemon does not know yet. Any failure of the daemon is a 504 and is not remembered.
 *
 * Within one Node process no two calls for a server are under way at once; several processes may ask
 * once each, and on Workers, where requests share nothing, each request. Without the cache every request asks. Wings: GET /api/servers/{uuid}.
 */
export async function readStats(
  panel: Panel,
  { server, node }: Pick<ReachedServer, 'server' | 'node'>,
): Promise<ServerStats> {
  const { uuid } = server
  const report =
    (await rememberedReport(panel, uuid)) ??
    (await joinFlight(panel, cacheKey(uuid), () => ask(panel, uuid, node)))
  return statsOf(server, report)
}

/** The report on a server, which knows better than its daemon whether it is suspended. */
export function statsOf(server: Pick<ReachedServer['server'], 'status'>, report: Report): ServerStats {
  const isSuspended = server.status === 'suspended'
  return {
    ...report,
    state: report.state ?? (isSuspended ? 'offline' : 'stopped'),
    isSuspended: isSuspended || report.isSuspended,
  }
}

const cacheKey = (uuid: string) => `stats:${uuid}`
const changeKey = (uuid: string) => `stats-change:${uuid}`

/** What was last said of the server, if it is recent enough to be shown. */
export const rememberedReport = (panel: Panel, uuid: string): Promise<Report | null> =>
  panel.cache.get<Report>(cacheKey(uuid)).catch(() => null)

/** Joins the call under way under this key, or makes it. */
export function joinFlight<T>(panel: Panel, key: string, call: () => Promise<T>): Promise<T> {
  const underWay = panel.flights as Map<string, Flight> | null
  if (!underWay) return call()
  const now = panel.now().getTime()
  const joined = underWay.get(key)
  if (joined && now - joined.takenOffAt < longestFlight) return joined.landing as Promise<T>
  const landing = call()
  const flight: Flight = { landing, takenOffAt: now }
  underWay.set(key, flight)
  const land = () => {
    if (underWay.get(key) === flight) underWay.delete(key)
  }
  landing.then(land, land)
  return landing
}

/** What was remembered of the server is forgotten, and little is remembered for a while: it is about to change. */
export async function expectChange(panel: Panel, server: { uuid: string }): Promise<void> {
  try {
    await panel.cache.set(changeKey(server.uuid), true, freshFor)
    await panel.cache.remove(cacheKey(server.uuid))
  } catch {
    // Without the cache nothing was remembered.
  }
}

const isChanging = (panel: Panel, uuid: string, { state }: Report): Promise<boolean | null> =>
  state === 'starting' || state === 'stopping'
    ? Promise.resolve(true)
    : panel.cache.get<boolean>(changeKey(uuid)).catch(() => null)

async function ask(panel: Panel, uuid: string, node: ReachedServer['node']): Promise<Report> {
  const report = await panel
    .daemon(node)
    .showServer(uuid)
    .then(reportOf)
    .catch((error: unknown) => {
      if (!(error instanceof DaemonError)) throw error
      throw daemonFailure(504, 'The node could not say how the server is doing.', error)
    })
  await rememberReport(panel, uuid, report)
  return report
}

/** The report is shown to whoever asks in the next seconds, fewer while the server is on its way to another state. */
export async function rememberReport(panel: Panel, uuid: string, report: Report): Promise<void> {
  const seconds = (await isChanging(panel, uuid, report)) ? freshOnTheWay : freshFor
  await panel.cache.set(cacheKey(uuid), report, seconds).catch(() => undefined)
}

/** Daemons leave out what they do not know, and are other people's machines: nothing else passes. */
export function reportOf(answer: DaemonServer | null): Report {
  const { state, is_suspended, utilization } = answer ?? {}
  return {
    state: typeof state === 'string' ? state : null,
    isSuspended: is_suspended === true,
    memoryBytes: quantity(utilization?.memory_bytes),
    cpuAbsolute: quantity(utilization?.cpu_absolute),
    diskBytes: quantity(utilization?.disk_bytes),
    networkRxBytes: quantity(utilization?.network?.rx_bytes),
    networkTxBytes: quantity(utilization?.network?.tx_bytes),
    uptime: quantity(utilization?.uptime),
  }
}

const quantity = (value: unknown) => (typeof value === 'number' ? value : 0)
