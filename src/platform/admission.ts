import { onStatementFinished, pendingStatements } from './statement-stats.ts'

/** Requests that wait until fewer statements are pending, in the order in which they came. */
export type Admission = {
  /** Returns null where the request may begin at once. */
  enter: () => Promise<void> | null
  waiting: () => number
  /** Lets requests begin again after one has ended: it may have sent no statement. */
  admit: () => void
}

/**
 * Lets requests begin while fewer than `maxPending` statements of this process are pending. A request that waits for a
 * connection holds what it was parsed into, which slows down collections for all: one that has not begun holds its socket.
 */
export function openAdmission(maxPending: number): Admission {
  const queue: (() => void)[] = []
  const admit = () => {
    const places = maxPending - pendingStatements()
    if (places > 0) for (const begin of queue.splice(0, places)) begin()
  }
  onStatementFinished(admit)
  return {
    enter: () =>
      queue.length === 0 && pendingStatements() < maxPending
        ? null
        : new Promise((resolve) => queue.push(resolve)),
    waiting: () => queue.length,
    admit,
  }
}
