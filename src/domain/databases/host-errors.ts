import { MysqlHostError } from '../../adapters/mysql-host.ts'
import { badRequest, databaseHostFailure, displayError } from '../../errors.ts'

/**
 * Converts the failure of a call to a database host into the error that callers get, to be thrown; anything but a
 * `MysqlHostError` is returned as it is. 504 without an answer, 502 when the host refuses, 400 when it has a
 * database of that name which is not the panel's.
 */
export function toHostApiError(error: unknown): unknown {
  if (!(error instanceof MysqlHostError)) return error
  const options = { values: { message: error.message } }
  if (error.reason === 'exists') {
    return displayError('database_exists', error.message, { code: 'DuplicateDatabaseNameException' })
  }
  return error.reason === 'unreachable'
    ? databaseHostFailure(504, 'database_host_unreachable', error.message, { cause: error, ...options })
    : databaseHostFailure(502, 'database_host_refused', error.message, { cause: error, ...options })
}

/** Converts the failure of a call to a host that the caller named and can correct: always 400. */
export function toGivenHostApiError(error: unknown): unknown {
  if (!(error instanceof MysqlHostError)) return error
  return badRequest('database_host_unusable', error.message, {
    code: 'DatabaseHostException',
    values: { message: error.message },
  })
}

/** Whether the host answered and refused. */
export const isRefusedByHost = (error: unknown): boolean =>
  error instanceof MysqlHostError && error.reason === 'refused'

/** Whether the host certainly has not changed. */
export const isHostUnchanged = (error: unknown): boolean =>
  error instanceof MysqlHostError && !error.mayHaveChanged
