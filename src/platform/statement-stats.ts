import { AsyncLocalStorage } from 'node:async_hooks'

/** Number of statements, and the sum of their durations. */
export type StatementStats = { statements: number; milliseconds: number }

const statsStorage = new AsyncLocalStorage<StatementStats>()

/** Runs `work` and adds its statements to `stats`, for databases that call `countStatement` and `timeStatement`. */
export const measureStatements = <T>(stats: StatementStats, work: () => T): T => statsStorage.run(stats, work)

/** Counts a statement of the current work, unless it only begins or ends a transaction. */
export function countStatement(text: string): void {
  const stats = statsStorage.getStore()
  if (stats && !isTransactionControl(text)) stats.statements += 1
}

let pending = 0
let finished = 0

/** Returns how many statements of this process wait for a connection or an answer. */
export const pendingStatements = (): number => pending

/** Returns how many statements of this process have been answered. */
export const finishedStatements = (): number => finished

const finishListeners: (() => void)[] = []

/** Calls the listener after each statement of this process, from now on. */
export const onStatementFinished = (listener: () => void): void => void finishListeners.push(listener)

/** Is told that a statement begins, and returns what is called when it has ended; null when it does not want to know. */
type StatementObserver = (text: string) => ((error?: unknown) => void) | null

let observer: StatementObserver | null = null

/** Tells the observer, the only one of this process, of each statement from now on. */
export const observeStatements = (added: StatementObserver): void => void (observer = added)

/** Returns the text of a statement as drivers take it: alone, or beside what else they know of it. */
const textOf = (statement: unknown): string =>
  typeof statement === 'string' ? statement : String((statement as { text?: unknown } | null)?.text ?? '')

/** Adds the duration of a statement to the current work; the result is unchanged, and an error is what `convert` makes of it. */
export async function timeStatement<Result>(
  result: PromiseLike<Result>,
  convert: (error: unknown) => unknown = (error) => error,
  statement: unknown = '',
): Promise<Result> {
  const stats = statsStorage.getStore()
  const startedAt = performance.now()
  const end = observer?.(textOf(statement))
  let failure: unknown
  pending += 1
  try {
    return await result
  } catch (error) {
    failure = convert(error)
    throw failure
  } finally {
    end?.(failure)
    pending -= 1
    finished += 1
    for (const listener of finishListeners) listener()
    if (stats) stats.milliseconds += performance.now() - startedAt
  }
}

/** Whether a statement only begins or ends a transaction or a savepoint. */
export const isTransactionControl = (text: string): boolean =>
  /^\s*(?:begin|commit|rollback|savepoint|release)\b/i.test(text)
