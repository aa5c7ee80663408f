import { AsyncLocalStorage } from 'node:async_hooks'

export type StatementCount = { statements: number }

const counts = new AsyncLocalStorage<StatementCount>()

/** Whatever `work` sends to a database that tells `countStatement` is counted in `count`. */
export const countingStatements = <T>(count: StatementCount, work: () => T): T => counts.run(count, work)

/** One more statement of whoever sends it; what only frames a transaction does not count. */
export function countStatement(text: string): void {
  const count = counts.getStore()
  if (count && !framesTransaction(text)) count.statements += 1
}

/** Whether a statement does nothing but begin or end a transaction, or a part of one. */
export const framesTransaction = (text: string): boolean =>
  /^\s*(?:begin|commit|rollback|savepoint|release)\b/i.test(text)
