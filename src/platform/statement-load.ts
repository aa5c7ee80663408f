import { performance } from 'node:perf_hooks'
import { finishedStatements, onStatementFinished, pendingStatements } from './statement-stats.ts'

/** Milliseconds over which statements are counted. */
const periodMs = 50
/** How much the periods before count in each one. */
const memory = 0.8

/** Statements that wait for the database. */
export type StatementLoad = {
  pending: () => number
  /**
   * Returns the milliseconds after which they are answered, by how many were answered lately while all connections had
   * one; 0 while a connection is free.
   */
  waitMs: () => number
}

/** Measures the statements of this process, over so many connections, from now on; `waiting` requests will send one each. */
export function measureStatementLoad(connections: number, waiting: () => number = () => 0): StatementLoad {
  const pending = () => pendingStatements() + waiting()
  const isBusyNow = () => pendingStatements() >= connections
  let isBusy = isBusyNow()
  // Else the quiet time before a burst would count as time that it took.
  onStatementFinished(() => {
    if (!isBusyNow()) isBusy = false
  })
  let sampledAt = performance.now()
  let finished = finishedStatements()
  let lately = { milliseconds: 0, statements: 0 }
  const takeSample = (elapsed: number) => {
    const statements = finishedStatements() - finished
    lately =
      isBusy && isBusyNow()
        ? {
            milliseconds: lately.milliseconds * memory + elapsed,
            statements: lately.statements * memory + statements,
          }
        : // Of a burst, what it has begun counts until its first statements are answered.
          { milliseconds: 0, statements: pendingStatements() }
    isBusy = isBusyNow()
    finished += statements
    sampledAt += elapsed
  }
  return {
    pending,
    waitMs: () => {
      const elapsed = performance.now() - sampledAt
      if (elapsed >= periodMs) takeSample(elapsed)
      return (pending() * lately.milliseconds) / Math.max(1, lately.statements)
    },
  }
}
