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
  const cause = error
  if (status === null)
    return daemonFailure(504, 'node_unreachable', nodeFailureDetails.unreachable, { cause })
  const reference = error.requestId === null ? '' : ` (request ${error.requestId})`
  if (status === 401 || status === 403) {
    const detail = `${nodeFailureDetails.refusesPanel}${reference}.`
    return daemonFailure(502, 'node_refuses_panel', detail, { cause, values: { reference } })
  }
  if (status < 400 || status > 599) {
    const detail = `${nodeFailureDetails.unusable}${reference}.`
    return daemonFailure(502, 'node_answer_unusable', detail, { cause, values: { reference } })
  }
  if (status < 500) {
    const message = `${error.message}${reference}`
    return daemonFailure(status, 'node_refused', message, { cause, values: { message } })
  }
  const detail = `${nodeFailureDetails.failed} ${status}${reference}.`
  return daemonFailure(status, 'node_failed', detail, { cause, values: { status, reference } })
}
