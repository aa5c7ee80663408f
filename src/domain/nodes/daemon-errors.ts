import { DaemonError } from '../../adapters/daemon-error.ts'
import { daemonAnswerTooLarge, daemonFailure, daemonUnavailable } from '../../errors.ts'

/** Sentences about the failure of a node, by which error details begin. Schedules match stored reasons by them. */
export const nodeFailureDetails = {
  unreachable: 'The node could not be reached.',
  refusesPanel: 'The node does not accept the credential of the panel',
  unusable: 'The node gave an answer that cannot be used',
  failed: 'The node failed with status',
} as const

/**
 * Converts the failure of a call to a daemon into the error that callers get, to be thrown; anything but a
 * `DaemonError` is returned as it is.
 *
 * 503 with `Retry-After` while the node's circuit breaker is open; 504 without an answer; 502 when the daemon
 * rejects the panel's credential or its answer is unusable, with a code of its own when it is too large; else the daemon's status, below 500 with the
 * daemon's own message. Includes the daemon's request id. Wings: docs/wings.md#transport
 */
export function toDaemonApiError(error: unknown): unknown {
  if (!(error instanceof DaemonError)) return error
  const { status } = error
  if (error.isTooLarge) return daemonAnswerTooLarge(error)
  if (error.retryAfterSeconds !== null) return daemonUnavailable(error.retryAfterSeconds, error)
  if (status === null) return daemonFailure(504, nodeFailureDetails.unreachable, error)
  const reference = error.requestId === null ? '' : ` (request ${error.requestId})`
  if (status === 401 || status === 403) {
    return daemonFailure(502, `${nodeFailureDetails.refusesPanel}${reference}.`, error)
  }
  if (status < 400 || status > 599) {
    return daemonFailure(502, `${nodeFailureDetails.unusable}${reference}.`, error)
  }
  if (status < 500) return daemonFailure(status, `${error.message}${reference}`, error)
  return daemonFailure(status, `${nodeFailureDetails.failed} ${status}${reference}.`, error)
}
