import { DaemonError } from '../../adapters/daemon-error.ts'
import type { DaemonSystem } from '../../adapters/daemon.ts'
import type { ProbeResult } from '../../adapters/node-probe.ts'
import type { HeartbeatCause } from '../../db/tables/node-heartbeats.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Panel } from '../../panel.ts'
import { causeOfFailure } from '../heartbeats/ask.ts'
import { daemonUrl } from './daemon-address.ts'
import { certificateCheck } from './doctor-certificate.ts'
import { type DoctorCheck, finding } from './doctor-findings.ts'
import { findNode } from './nodes.ts'

/** Milliseconds for the answer of the daemon. */
const maxWaitMs = 5_000
/** Seconds of a clock's offset that are worth a warning, and beyond which tokens are refused. */
const clockOffset = { warning: 5, failed: 30 }
/** The oldest version of Wings that does all the panel asks for. */
const oldestComplete = [1, 12] as const

export type Diagnosis = {
  nodeId: number
  checkedAt: Date
  /** Addresses of its host name; none where the panel cannot look them up. */
  addresses: string[]
  checks: DoctorCheck[]
}

/**
 * Looks at a node from the panel: name, port, certificate, answer, token, version and clock. It calls only the stored
 * address of the node. Refuses with 404. Wings: GET /api/system.
 */
export async function diagnoseNode(panel: Panel, id: number): Promise<Diagnosis> {
  const node = await findNode(panel, id)
  const target = { host: node.fqdn, port: node.daemonListen, isSecure: node.scheme === 'https' }
  const [network, answer] = await Promise.all([panel.probeNode?.(target) ?? null, askDaemon(panel, node)])
  return {
    nodeId: id,
    checkedAt: panel.now(),
    addresses: network?.addresses ?? [],
    checks: [
      dnsCheck(node, network, answer),
      portCheck(node, network, answer),
      certificateCheck(node, network?.certificate ?? null, causeOf(answer), panel.now()),
      answerCheck(answer),
      tokenCheck(answer),
      versionCheck(answer),
      clockCheck(answer, panel.now()),
      browserCheck(panel, node),
    ],
  }
}

type Answer = { system: DaemonSystem } | { cause: HeartbeatCause; status: number | null }

async function askDaemon(panel: Panel, node: Node): Promise<Answer> {
  try {
    return { system: await panel.daemon(node).system(maxWaitMs) }
  } catch (error) {
    if (!(error instanceof DaemonError)) throw error
    return causeOfFailure(error)
  }
}

const causeOf = (answer: Answer): HeartbeatCause | null => ('cause' in answer ? answer.cause : null)

function dnsCheck({ fqdn: host }: Node, network: ProbeResult | null, answer: Answer): DoctorCheck {
  if (network?.isRefused) return finding('failed', 'dns.refused', { host })
  const isMissing = network ? network.dnsError !== null : causeOf(answer) === 'dns'
  if (isMissing) return finding('failed', 'dns.missing', { host })
  if (!network) return finding('system' in answer ? 'ok' : 'unknown', 'dns.unknown')
  return finding('ok', 'dns.found', { host, addresses: network.addresses.join(', ') })
}

/** Causes after which something listens at the port. */
const reachedCauses: (HeartbeatCause | null)[] = [
  null,
  'certificate',
  'tls',
  'credential',
  'answer',
  'failed',
  'reset',
]

function portCheck({ daemonListen: port }: Node, network: ProbeResult | null, answer: Answer): DoctorCheck {
  if (network?.dnsError) return finding('skipped', 'port.skipped')
  const isOpen = network ? network.connectError === null : reachedCauses.includes(causeOf(answer))
  if (isOpen) return finding('ok', 'port.open', { port })
  const isRefused = network ? network.connectError === 'ECONNREFUSED' : causeOf(answer) === 'refused'
  return finding('failed', isRefused ? 'port.closed' : 'port.silent', { port })
}

/** Causes that an earlier check explains. */
const earlierCauses: HeartbeatCause[] = ['dns', 'refused', 'no_route', 'certificate']

function answerCheck(answer: Answer): DoctorCheck {
  if ('system' in answer || answer.cause === 'credential') return finding('ok', 'answer.ok')
  const { cause, status } = answer
  const state = earlierCauses.includes(cause) ? 'skipped' : 'failed'
  return finding(state, `answer.${cause}`, cause === 'failed' ? { status: status ?? 0 } : {})
}

function tokenCheck(answer: Answer): DoctorCheck {
  if ('system' in answer) return finding('ok', 'token.accepted')
  if (answer.cause !== 'credential') return finding('skipped', 'token.skipped')
  return finding('failed', answer.status === 401 ? 'token.unread' : 'token.other')
}

function versionCheck(answer: Answer): DoctorCheck {
  if (!('system' in answer)) return finding('skipped', 'version.skipped')
  const version = String(answer.system.version ?? '').slice(0, 64)
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? []
  if (major === undefined) return finding('warning', 'version.unknown')
  const [wantedMajor, wantedMinor] = oldestComplete
  const isOld = Number(major) < wantedMajor || (Number(major) === wantedMajor && Number(minor) < wantedMinor)
  return isOld
    ? finding('warning', 'version.old', { version, wanted: oldestComplete.join('.') })
    : finding('ok', 'version.current', { version })
}

function clockCheck(answer: Answer, now: Date): DoctorCheck {
  if (!('system' in answer) || !answer.system.clock)
    return finding('system' in answer ? 'unknown' : 'skipped', 'clock.skipped')
  const offset = Math.round((answer.system.clock.getTime() - now.getTime()) / 1000)
  const seconds = Math.abs(offset)
  if (seconds <= clockOffset.warning) return finding('ok', 'clock.agrees')
  const state = seconds > clockOffset.failed ? 'failed' : 'warning'
  return finding(state, offset > 0 ? 'clock.ahead' : 'clock.behind', { seconds })
}

/** A browser calls daemons itself, for consoles and files; only it can tell whether it reaches this one. */
function browserCheck(panel: Panel, node: Node): DoctorCheck {
  const url = `${daemonUrl(node)}/api/system`
  const isBlocked = panel.config.url.startsWith('https:') && node.scheme === 'http'
  return isBlocked
    ? finding('failed', 'browser.plain_http', {}, url)
    : finding('unknown', 'browser.ask', {}, url)
}
