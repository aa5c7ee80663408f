import { AsyncLocalStorage } from 'node:async_hooks'

/** `milliseconds` is for how long they were waited for, added up. */
export type StatementCount = { statements: number; milliseconds: number }

const counts = new AsyncLocalStorage<StatementCount>()

/** Whatever `work` sends to a database that tells `countStatement` is counted in `count`. */
export const countingStatements = <T>(count: StatementCount, work: () => T): T => counts.run(count, work)

/** One more statement of whoever sends it; what only frames a transaction does not count. */
export function countStatement(text: string): void {
  const count = counts.getStore()
  if (count && !framesTransaction(text)) count.statements += 1
}

/** The same answer, whose time counts for whoever sent the statement. */
export async function timingStatement<Answer>(answer: PromiseLike<Answer>): Promise<Answer> {
  const count = counts.getStore()
  const began = performance.now()
  try {
    return await answer
  } finally {
    if (count) count.milliseconds += performance.now() - began
  }
}

/** Whether a statement does nothing but begin or end a transaction, or a part of one. */
export const framesTransaction = (text: string): boolean =>
  /^\s*(?:begin|commit|rollback|savepoint|release)\b/i.test(text)
