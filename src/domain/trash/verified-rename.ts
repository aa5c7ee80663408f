import type { DaemonFiles } from '../../adapters/daemon-files.ts'
import { DaemonError, isUnanswered } from '../../adapters/daemon-error.ts'
import { conflict } from '../../errors.ts'
import { toFileApiError } from '../files/daemon-failures.ts'

/** A rename that the node may have done, or may still do. */
export class UnknownOutcomeError extends Error {
  constructor(cause: unknown) {
    super('The node did not say whether it moved the file.', { cause })
    this.name = 'UnknownOutcomeError'
  }
}

/**
 * Moves one entry and checks with `isMoved` whether that happened: a daemon reports success also for missing
 * entries, and its answer may get lost. Returns false when it reported success and nothing moved.
 *
 * Refuses with 409 when an entry exists at `to`; throws a `DaemonError` when nothing moved, else an
 * `UnknownOutcomeError`. Wings: PUT …/files/rename.
 */
export async function renameAndVerify(
  files: DaemonFiles,
  from: string,
  to: string,
  isMoved: () => Promise<boolean>,
): Promise<boolean> {
  let failure: DaemonError | null = null
  try {
    await files.rename([{ from, to }])
  } catch (error) {
    if (!(error instanceof DaemonError)) throw error
    if (error.status === 400) throw conflict('destination_taken', 'Another entry exists at the destination.')
    // A 500 is the daemon's answer to many failures; above it, and without an answer, the outcome is unknown.
    if (!isUnanswered(error) && (error.status ?? 0) < 500) throw error
    failure = error
  }
  try {
    if (await isMoved()) return true
  } catch (error) {
    throw new UnknownOutcomeError(failure ?? error)
  }
  if (failure === null) return false
  throw failure.status === 500 ? failure : new UnknownOutcomeError(failure)
}

/** Converts the failure of work that renames files, as `toFileApiError` does, to be thrown. */
export const toRenameApiError = (error: unknown): unknown =>
  toFileApiError(error instanceof UnknownOutcomeError ? error.cause : error)
