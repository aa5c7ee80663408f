import { preconditionFailed } from '../errors.ts'
import type { Tx } from '../panel.ts'

/** Returns the version of a row, which differs after each change of it. */
export const versionOf = ({ updatedAt }: { updatedAt: Date }): string => updatedAt.getTime().toString(36)

/** Refuses with 412 a change that the caller made for another version. Call it with what the transaction has locked. */
export function requireExpectedVersion(tx: Tx, version: string): void {
  if (tx.expectedVersions && !tx.expectedVersions.includes(version)) throw preconditionFailed()
}
