import { DaemonError } from '../../adapters/daemon-error.ts'
import type { DaemonServer } from '../../adapters/daemon.ts'
import { daemonFailure } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { singleFlight } from '../single-flight.ts'
import type { ServerAccess } from './access.ts'

/**
 * State and resource usage of a server. Sizes and traffic in bytes, cpu in percent of one core, uptime in
 * milliseconds.
 */
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

/** What a daemon reports of a server; the state is null where it is missing. */
export type StatsReport = Omit<ServerStats, 'state'> & { state: string | null }

/** Seconds for which a report is cached. Spec: docs/servers.md#statistics. */
const cacheSeconds = 20
/** The same while the server changes its state, when users wait for the next one. */
const transitionCacheSeconds = 1

/**
 * Reads the stats of a server, at most 20 seconds old. Refuses with 504 on any failure of the daemon, which is not cached.
 *
 * Within one Node process at most one call per server is in flight; several processes may call once each, and
 * on Workers, where requests share nothing, each request. Without the cache every request calls.
 * Wings: GET /api/servers/{uuid}.
 */
export async function readStats(
  panel: Panel,
  { server, node }: Pick<ServerAccess, 'server' | 'node'>,
): Promise<ServerStats> {
  const { uuid } = server
  const report =
    (await getCachedReport(panel, uuid)) ??
    (await singleFlight(panel, cacheKey(uuid), () => fetchReport(panel, uuid, node)))
  return toServerStats(server, report)
}

/** Converts a report to stats; the panel knows better than the daemon whether a server is suspended. */
export function toServerStats(
  server: Pick<ServerAccess['server'], 'status'>,
  report: StatsReport,
): ServerStats {
  const isSuspended = server.status === 'suspended'
  return {
    ...report,
    state: report.state ?? (isSuspended ? 'offline' : 'stopped'),
    isSuspended: isSuspended || report.isSuspended,
  }
}

const cacheKey = (uuid: string) => `stats:${uuid}`
/** Of a `StateChange`. */
const changeKey = (uuid: string) => `stats-change:${uuid}`

/** Why the state in a report may be of the past: it is about to change, or the daemon has pushed the next one. */
type StateChange = { state: string | null }

/** Returns the cached report; null without one, or while the cache is unavailable. */
export const getCachedReport = (panel: Panel, uuid: string): Promise<StatsReport | null> =>
  panel.cache.get<StatsReport>(cacheKey(uuid)).catch(() => null)

/** Deletes the cached report and caches for a short time only, as the state is about to change. */
export async function invalidateStats(panel: Panel, server: { uuid: string }): Promise<void> {
  try {
    await setStateChange(panel, server.uuid, { state: null }, cacheSeconds)
    await panel.cache.remove(cacheKey(server.uuid))
  } catch {
    // Without the cache no report is stored.
  }
}

/**
 * Caches the state that a daemon has pushed, for as long as a reported one: in the cached report, and for reports that
 * were requested before.
 */
export async function renewState(panel: Panel, uuid: string, state: string): Promise<void> {
  try {
    await setStateChange(panel, uuid, { state }, secondsFor(state))
    const report = await panel.cache.get<StatsReport>(cacheKey(uuid))
    if (report) await panel.cache.set(cacheKey(uuid), { ...report, state }, secondsFor(state))
  } catch {
    // Without the cache no report is stored.
  }
}

const setStateChange = (panel: Panel, uuid: string, change: StateChange, seconds: number) =>
  panel.cache.set(changeKey(uuid), change, seconds)

const secondsFor = (state: string | null) =>
  state === 'starting' || state === 'stopping' ? transitionCacheSeconds : cacheSeconds

async function fetchReport(panel: Panel, uuid: string, node: ServerAccess['node']): Promise<StatsReport> {
  return panel
    .daemon(node)
    .showServer(uuid)
    .then(parseReport)
    .catch((error: unknown) => {
      if (!(error instanceof DaemonError)) throw error
      throw daemonFailure(504, 'state_unknown', 'The node could not report the state of the server.', {
        cause: error,
      })
    })
    .then((report) => cacheReport(panel, uuid, report))
}

/**
 * Caches a report, for a shorter time while the server changes its state. Returns it, with the state that the daemon
 * has pushed meanwhile.
 */
export async function cacheReport(panel: Panel, uuid: string, reported: StatsReport): Promise<StatsReport> {
  const change = await panel.cache.get<StateChange>(changeKey(uuid)).catch(() => null)
  const report = { ...reported, state: change?.state ?? reported.state }
  const isAboutToChange = change !== null && change.state === null
  const seconds = isAboutToChange ? transitionCacheSeconds : secondsFor(report.state)
  await panel.cache.set(cacheKey(uuid), report, seconds).catch(() => undefined)
  return report
}

/** Parses a daemon's report: missing values become null, false or zero, and no unexpected type passes. */
export function parseReport(answer: DaemonServer | null): StatsReport {
  const { state, is_suspended, utilization } = answer ?? {}
  return {
    state: typeof state === 'string' ? state : null,
    isSuspended: is_suspended === true,
    memoryBytes: numberOrZero(utilization?.memory_bytes),
    cpuAbsolute: numberOrZero(utilization?.cpu_absolute),
    diskBytes: numberOrZero(utilization?.disk_bytes),
    networkRxBytes: numberOrZero(utilization?.network?.rx_bytes),
    networkTxBytes: numberOrZero(utilization?.network?.tx_bytes),
    uptime: numberOrZero(utilization?.uptime),
  }
}

const numberOrZero = (value: unknown) => (typeof value === 'number' ? value : 0)
