import { DaemonError } from '../../adapters/daemon-error.ts'
import type { DaemonSystem } from '../../adapters/daemon.ts'
import type { ProbeResult } from '../../adapters/node-probe.ts'
import type { HeartbeatCause } from '../../db/tables/node-heartbeats.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Panel } from '../../panel.ts'
import { causeOfFailure } from '../heartbeats/ask.ts'
import { causeMeanings } from '../heartbeats/causes.ts'
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

function dnsCheck(node: Node, network: ProbeResult | null, answer: Answer): DoctorCheck {
  const isMissing = network ? network.dnsError !== null : causeOf(answer) === 'dns'
  if (isMissing) {
    const advice = `Add an A or AAAA record for ${node.fqdn}, or correct the host name of the node. The panel must be able to resolve it.`
    return finding('dns', 'failed', `${node.fqdn} has no address.`, advice)
  }
  if (!network)
    return finding('dns', 'system' in answer ? 'ok' : 'unknown', 'The panel cannot look up names here.')
  return finding('dns', 'ok', `${node.fqdn} is ${network.addresses.join(', ')}.`)
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

function portCheck(node: Node, network: ProbeResult | null, answer: Answer): DoctorCheck {
  const port = node.daemonListen
  if (network?.dnsError) return finding('port', 'skipped', 'Without an address there is no port.')
  const isOpen = network ? network.connectError === null : reachedCauses.includes(causeOf(answer))
  if (isOpen) return finding('port', 'ok', `Port ${port} accepts connections.`)
  const isRefused = network ? network.connectError === 'ECONNREFUSED' : causeOf(answer) === 'refused'
  return isRefused
    ? finding(
        'port',
        'failed',
        `Nothing listens on port ${port}.`,
        `Start Wings (systemctl status wings), and check that api.port in its config.yml is ${port}.`,
      )
    : finding(
        'port',
        'failed',
        `Port ${port} does not answer.`,
        `Open port ${port} for the panel in the firewall of the node and of its provider, and check that the machine runs.`,
      )
}

function answerCheck(answer: Answer): DoctorCheck {
  if ('system' in answer) return finding('answer', 'ok', 'The daemon answers.')
  const { cause, status } = answer
  if (cause === 'credential') return finding('answer', 'ok', 'The daemon answers.')
  const meaning = cause === 'failed' ? `The daemon answered with status ${status}.` : causeMeanings[cause]
  const isEarlier = ['dns', 'refused', 'no_route', 'certificate'].includes(cause)
  if (isEarlier) return finding('answer', 'skipped', meaning)
  return finding(
    'answer',
    'failed',
    meaning,
    answerAdvice[cause] ?? 'Read the log of Wings: journalctl -u wings.',
  )
}

const answerAdvice: Partial<Record<HeartbeatCause, string>> = {
  timeout: 'Check the load of the node and whether Docker hangs (docker info), then restart Wings.',
  tls: 'Wings speaks plain HTTP while the node has the scheme https, or the other way round: make api.ssl in config.yml and the scheme of the node agree.',
  answer: 'Another program answers at this address: check the port, and any proxy in front of Wings.',
  reset:
    'Check whether Wings speaks the scheme of the node, and whether a proxy or firewall closes the connection.',
}

function tokenCheck(answer: Answer): DoctorCheck {
  if ('system' in answer) return finding('token', 'ok', 'The daemon accepts the token of the panel.')
  if (answer.cause !== 'credential')
    return finding('token', 'skipped', 'The token is checked once the daemon answers.')
  const reason = answer.status === 401 ? 'does not read the token' : 'has another token'
  return finding(
    'token',
    'failed',
    `The daemon ${reason} (${answer.status}).`,
    'Configure Wings again with the command of this node, then restart it. A proxy must pass on the Authorization header.',
  )
}

function versionCheck(answer: Answer): DoctorCheck {
  if (!('system' in answer)) return finding('version', 'skipped', 'The daemon has to answer first.')
  const { version } = answer.system
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(typeof version === 'string' ? version : '') ?? []
  if (major === undefined) return finding('version', 'warning', 'The daemon does not say its version.')
  const [wantedMajor, wantedMinor] = oldestComplete
  const isOld = Number(major) < wantedMajor || (Number(major) === wantedMajor && Number(minor) < wantedMinor)
  const shown = `Wings ${String(version).slice(0, 64)}`
  return isOld
    ? finding(
        'version',
        'warning',
        `${shown} is older than ${oldestComplete.join('.')}.`,
        'Update Wings: older versions keep consoles open for users who lost their access.',
      )
    : finding('version', 'ok', `${shown}.`)
}

function clockCheck(answer: Answer, now: Date): DoctorCheck {
  if (!('system' in answer) || !answer.system.clock)
    return finding('clock', 'system' in answer ? 'unknown' : 'skipped', 'The daemon has not said its time.')
  const offset = Math.round((answer.system.clock.getTime() - now.getTime()) / 1000)
  const size = Math.abs(offset)
  if (size <= clockOffset.warning) return finding('clock', 'ok', 'The clocks agree.')
  return finding(
    'clock',
    size > clockOffset.failed ? 'failed' : 'warning',
    `The clock of the node is ${size} seconds ${offset > 0 ? 'ahead of' : 'behind'} that of the panel.`,
    'Switch on time synchronisation on the node (timedatectl set-ntp true). Tokens of consoles and downloads are refused while clocks differ.',
  )
}

/** A browser calls daemons itself, for consoles and files; only it can tell whether it reaches this one. */
function browserCheck(panel: Panel, node: Node): DoctorCheck {
  const url = `${daemonUrl(node)}/api/system`
  if (panel.config.url.startsWith('https:') && node.scheme === 'http') {
    const advice = 'Give the node a certificate and the scheme https, or put it behind a proxy that has one.'
    return finding('browser', 'failed', 'Browsers refuse plain HTTP from a page under HTTPS.', advice, url)
  }
  const advice = 'Open the address in the browser. Any answer, also a refusal, shows that it is reachable.'
  return finding(
    'browser',
    'unknown',
    'Consoles and uploads need the node to be reachable from the browser.',
    advice,
    url,
  )
}
