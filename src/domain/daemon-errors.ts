import { DaemonError } from '../adapters/daemon.ts'
import { daemonAway, daemonFailure } from '../errors.ts'

/** What is wrong with a node, as the refusals that tell of it begin. */
export const nodeFailures = {
  unreachable: 'The node could not be reached.',
  refusesPanel: 'The node does not accept the credential of the panel',
  unusable: 'The node gave an answer that cannot be used',
  failed: 'The node failed with status',
} as const

/**
 * Turns the failure of a call to a daemon into the refusal that callers hear; for `.catch`, and throws
 * whatever is no `DaemonError` as it is.
 *
 * 503 with `Retry-After` when the daemon has not answered others lately; 504 without an answer; 502 when the daemon does not accept the panel's own credential or gives an
 * answer that is no answer; else the daemon's status, below 500 with its own words. What the daemon
 * answered carries its request id. Wings: transport rules.
 */
export function refuseDaemonFailure(error: unknown): never {
  if (!(error instanceof DaemonError)) throw error
  const { status } = error
  if (error.retryAfter !== null) throw daemonAway(error.retryAfter, error)
  if (status === null) throw daemonFailure(504, nodeFailures.unreachable, error)
  const reference = error.requestId === null ? '' : ` (request ${error.requestId})`
  if (status === 401 || status === 403) {
    throw daemonFailure(502, `${nodeFailures.refusesPanel}${reference}.`, error)
  }
  if (status < 400 || status > 599) {
    throw daemonFailure(502, `${nodeFailures.unusable}${reference}.`, error)
  }
  if (status < 500) throw daemonFailure(status, `${error.message}${reference}`, error)
  throw daemonFailure(status, `${nodeFailures.failed} ${status}${reference}.`, error)
}
