import { DaemonError } from '../../adapters/daemon.ts'
import { ApiError, forbidden } from '../../errors.ts'
import { refuseDaemonFailure } from '../daemon-errors.ts'

/**
 * As `refuseDaemonFailure`, for calls that touch files: a daemon says 403 also of what its egg protects,
 * when its list is another one than the panel's. Wings: file routes, denylist.
 */
export function refuseFileFailure(error: unknown): never {
  if (error instanceof DaemonError && error.status === 403 && /denylist/i.test(error.message)) {
    throw forbidden('The egg of the server protects this file.')
  }
  return refuseDaemonFailure(error)
}

/** Whether the daemon failed without saying why: older ones do so on what is missing or of another kind. */
export const isUnexplained = (error: unknown): boolean => error instanceof DaemonError && error.status === 500

/** Whether the panel has stopped waiting for a daemon that may well go on. */
export const isOutOfPatience = (error: unknown): boolean =>
  error instanceof DaemonError && (error.cause as { name?: unknown } | undefined)?.name === 'TimeoutError'

/** The refusal with a word in front that says what it is about. */
export const about = (what: string, error: ApiError): ApiError =>
  new ApiError(
    error.status,
    error.entries.map((entry) => ({ ...entry, detail: `${what} ${entry.detail}` })),
    { cause: error, headers: error.headers },
  )
