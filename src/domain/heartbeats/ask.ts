import { DaemonError, hasTimedOut } from '../../adapters/daemon-error.ts'
import type { Daemon, ListedServer } from '../../adapters/daemon.ts'
import type { HeartbeatCause } from '../../db/tables/node-heartbeats.ts'
import { processStates } from '../../db/tables/server-states.ts'
import { parseReport, type StatsReport } from '../servers/stats.ts'

/** Milliseconds that a node has for each of the two answers. */
const maxWaitMs = 5_000
const maxVersionLength = 64
const uuidPattern = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** A server as its node reports it; `state` is a position in `processStates`. */
export type ReportedServer = Pick<
  StatsReport,
  'memoryBytes' | 'cpuAbsolute' | 'diskBytes' | 'networkRxBytes' | 'networkTxBytes' | 'uptime'
> & { uuid: string; state: number }

/** The answer of a node; `servers` is null where it lists more than the panel reads. */
export type Heartbeat =
  | {
      isUp: true
      version: string | null
      clockOffset: number | null
      latencyMs: number
      servers: ReportedServer[] | null
    }
  | { isUp: false; cause: HeartbeatCause; status: number | null }

/**
 * Asks a node for its version, its clock and its servers, one after the other: the first answer closes its circuit
 * breaker. Wings: GET /api/system, GET /api/servers.
 */
export async function askNode(daemon: Daemon, now: () => Date): Promise<Heartbeat> {
  try {
    const startMs = performance.now()
    const { version, clock } = await daemon.system(maxWaitMs)
    const latencyMs = Math.round(performance.now() - startMs)
    const clockOffset = clock && Math.round((clock.getTime() - now().getTime()) / 1000)
    const servers = await daemon.listServers(maxWaitMs).then(parseServers, nullWhereTooLarge)
    return { isUp: true, version: parseVersion(version), clockOffset, latencyMs, servers }
  } catch (error) {
    if (!(error instanceof DaemonError)) throw error
    return { isUp: false, ...causeOfFailure(error) }
  }
}

function nullWhereTooLarge(error: unknown): null {
  if (error instanceof DaemonError && error.isTooLarge) return null
  throw error
}

/** A version is text of the daemon: its length is limited, and it has no control characters. */
const parseVersion = (version: unknown): string | null =>
  typeof version === 'string'
    ? version
        .replaceAll(/\p{Cc}/gu, '')
        .toWellFormed()
        .slice(0, maxVersionLength)
    : null

/** Parses a list of servers; skips what has no uuid and what repeats one. */
function parseServers(answer: unknown): ReportedServer[] {
  const listed = Array.isArray(answer) ? (answer as (ListedServer | null)[]) : []
  const servers = new Map<string, ReportedServer>()
  for (const server of listed) {
    const uuid = String(server?.configuration?.uuid).toLowerCase()
    if (!uuidPattern.test(uuid)) continue
    const report = parseReport(server)
    const state = processStates.findIndex((known) => known === report.state)
    servers.set(uuid, {
      uuid,
      state: Math.max(0, state),
      cpuAbsolute: Math.min(1e6, Math.max(0, Number(report.cpuAbsolute.toFixed(2)))),
      memoryBytes: toCount(report.memoryBytes),
      diskBytes: toCount(report.diskBytes),
      networkRxBytes: toCount(report.networkRxBytes),
      networkTxBytes: toCount(report.networkTxBytes),
      uptime: toCount(report.uptime),
    })
  }
  return [...servers.values()]
}

const toCount = (value: number) => Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.round(value)))

/** Causes by the code of a failed connection; the runtime of Workers has none. */
const causesByCode: Record<string, HeartbeatCause> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  EAI_NODATA: 'dns',
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'no_route',
  ENETUNREACH: 'no_route',
  EADDRNOTAVAIL: 'no_route',
  ETIMEDOUT: 'timeout',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  EPROTO: 'tls',
}
/** Statuses with which Cloudflare answers for an origin that it cannot reach. */
const causesByStatus: Record<number, HeartbeatCause> = {
  401: 'credential',
  403: 'credential',
  521: 'refused',
  522: 'timeout',
  523: 'no_route',
  524: 'timeout',
  525: 'tls',
  526: 'certificate',
  530: 'dns',
}

/** Returns why a call failed, and the status of a refusal. */
export function causeOfFailure(error: DaemonError): { cause: HeartbeatCause; status: number | null } {
  const { status } = error
  if (status === null) return { cause: causeOfConnection(error), status }
  if (error.isTooLarge || status < 400) return { cause: 'answer', status }
  return { cause: causesByStatus[status] ?? 'failed', status }
}

function causeOfConnection(error: DaemonError): HeartbeatCause {
  if (hasTimedOut(error)) return 'timeout'
  const { code = '', message = '' } = (error.cause ?? {}) as { code?: string; message?: string }
  if (/took too long/.test(message)) return 'timeout'
  if (/CERT|SIGNATURE|SELF_SIGNED|ISSUER/.test(code)) return 'certificate'
  if (/^ERR_(SSL|TLS)_/.test(code)) return 'tls'
  return causesByCode[code] ?? 'unreachable'
}
