import { withTimeout } from '../with-timeout.ts'

export type BackgroundWork = {
  add: (work: Promise<unknown>) => void
  /** Starts work and adds it. */
  run: <T>(work: () => Promise<T>) => Promise<T>
  /** Waits until all work is finished, or until `deadline` in milliseconds since 1970. */
  drain: (deadline: number) => Promise<unknown>
}

/** Keeps track of work that no open request waits for. */
export function trackBackgroundWork(): BackgroundWork {
  const pending = new Set<Promise<unknown>>()
  const add = (work: Promise<unknown>) => {
    pending.add(work)
    const untrack = () => pending.delete(work)
    work.then(untrack, untrack)
  }
  return {
    add,
    run: (work) => {
      const running = work()
      add(running)
      return running
    },
    drain: (deadline) => withTimeout(Promise.allSettled(pending), deadline - Date.now(), null),
  }
}
