import { AsyncLocalStorage } from 'node:async_hooks'

/** How far a run is that writes. Rows are those of the old panel that were read for it. */
export type MoveProgress = {
  phase: string
  rows: number
  total: number
  rowsPerSecond: number
  /** Null until rows were read. */
  secondsLeft: number | null
}

type Listener = (progress: MoveProgress) => void

let listener: Listener = () => undefined
const listeners = new AsyncLocalStorage<Listener>()

/** Sets what hears of the runs in this process. */
export const hearProgress = (listen: Listener): void => {
  listener = listen
}

/** Does work of which this listener hears alone. What the listener throws ends a run, whose open phase is undone. */
export const hearProgressOf = <Result>(listen: Listener, work: () => Promise<Result>): Promise<Result> =>
  listeners.run(listen, work)

/** Returns a function that is called with the rows of a phase, and tells the listener of each phase and of each second. */
export function countProgress(total: number): (phase: string, rows: number) => void {
  const startedAt = Date.now()
  let [rows, lastPhase, lastAt] = [0, '', 0]
  return (phase, read) => {
    rows += read
    const now = Date.now()
    if (phase === lastPhase && now - lastAt < 1000) return
    ;[lastPhase, lastAt] = [phase, now]
    const rate = rows / Math.max(0.001, (now - startedAt) / 1000)
    const secondsLeft = rows === 0 ? null : Math.max(0, Math.ceil((total - rows) / rate))
    const hear = listeners.getStore() ?? listener
    hear({ phase, rows, total, rowsPerSecond: Math.round(rate), secondsLeft })
  }
}
