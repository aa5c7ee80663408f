import { MysqlHostError } from '../adapters/mysql-host.ts'
import { badRequest, databaseHostFailure, displayError } from '../errors.ts'

/**
 * Turns the failure of a call to a database host into the refusal that callers hear; for `.catch`, and
 * throws whatever is no `MysqlHostError` as it is. 504 without an answer, 502 when the host says no, 400
 * when it holds a database of that name, which is not the panel's.
 */
export function refuseHostFailure(error: unknown): never {
  if (!(error instanceof MysqlHostError)) throw error
  if (error.reason === 'exists') throw displayError(error.message, 'DuplicateDatabaseNameException')
  throw databaseHostFailure(error.reason === 'unreachable' ? 504 : 502, error.message, error)
}

/** The same where the caller named the host and can correct it: 400 whatever the host said. */
export function refuseHostAsGiven(error: unknown): never {
  if (!(error instanceof MysqlHostError)) throw error
  throw badRequest(error.message, 'DatabaseHostException')
}

/** Whether the host gave an answer, which was no. */
export const saidNo = (error: unknown): boolean =>
  error instanceof MysqlHostError && error.reason === 'refused'

/** Whether it is certain that nothing happened at the host. */
export const leftHostAlone = (error: unknown): boolean =>
  error instanceof MysqlHostError && !error.mayHaveChanged
