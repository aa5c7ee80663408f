import type { DaemonFiles } from '../../adapters/daemon-files.ts'
import { DaemonError } from '../../adapters/daemon.ts'
import { conflict } from '../../errors.ts'
import { refuseFileFailure } from '../files/daemon-failures.ts'

/** A rename which the node may have done, may not, or may still do. */
export class UnknownOutcome extends Error {
  constructor(cause: unknown) {
    super('The node did not say whether it moved the file.', { cause })
    this.name = 'UnknownOutcome'
  }
}

/**
 * Moves one thing and looks with `isDone` whether it happened: a daemon says so of missing things too, and its
 * answer may get lost. False when it was said to be done and is not.
 *
 * Refuses with 409 when something is at `to`; throws a `DaemonError` when nothing happened, and
 * `UnknownOutcome`. Wings: PUT …/files/rename
 */
export async function rename(
  files: DaemonFiles,
  from: string,
  to: string,
  isDone: () => Promise<boolean>,
): Promise<boolean> {
  let failure: DaemonError | null = null
  try {
    await files.rename(from, to)
  } catch (error) {
    if (!(error instanceof DaemonError)) throw error
    refuseAnswer(error)
    failure = error
  }
  try {
    if (await isDone()) return true
  } catch (error) {
    throw new UnknownOutcome(failure ?? error)
  }
  if (failure === null) return false
  throw failure.status === 500 ? failure : new UnknownOutcome(failure)
}

/**
 * Throws when nothing was done and nothing will be. A 500 is the daemon's word for many things; above it, and
 * without an answer, nobody knows.
 */
function refuseAnswer(error: DaemonError): void {
  if (error.status === 400) throw conflict('Something else is where the file would go.')
  if (error.retryAfter !== null || (error.status !== null && error.status < 500)) throw error
}

/** The same as `refuseFileFailure` where a rename may be what failed. */
export const refuseRenameFailure = (error: unknown): never =>
  refuseFileFailure(error instanceof UnknownOutcome ? error.cause : error)
