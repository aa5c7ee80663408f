import { performance } from 'node:perf_hooks'

/** Milliseconds over which the event loop is measured. */
const periodMs = 50
/** The share of its time that a loop works from which on requests wait for it. */
const saturation = 0.9
/** How much the periods before count in each one. */
const memory = 0.8

/** The requests of a process, and how long they take it. */
export type LoopLoad = {
  /** Counts a request until the returned function is called. */
  begin: () => () => void
  inFlight: () => number
  /**
   * Returns the milliseconds after which the requests in flight are answered, by what one has taken of the event loop
   * lately, its answer included; 0 while the loop has time left, since requests then wait for something else.
   */
  waitMs: () => number
}

/** Measures the event loop of this process from now on. */
export function measureLoop(): LoopLoad {
  let inFlight = 0
  let begun = 0
  let finished = 0
  let sampledAt = performance.now()
  let sample = performance.eventLoopUtilization()
  let isSaturated = false
  let lately = { activeMs: 0, requests: 0 }
  const takeSample = () => {
    const { utilization, active } = performance.eventLoopUtilization(sample)
    isSaturated = utilization >= saturation
    lately = {
      activeMs: lately.activeMs * memory + active,
      // A burst begins before the first one of it is finished.
      requests: lately.requests * memory + Math.max(begun, finished),
    }
    begun = 0
    finished = 0
    sampledAt = performance.now()
    sample = performance.eventLoopUtilization()
  }
  return {
    begin: () => {
      // What the loop did before says nothing of a burst.
      if (inFlight === 0) takeSample()
      inFlight += 1
      begun += 1
      return () => {
        inFlight -= 1
        finished += 1
      }
    },
    inFlight: () => inFlight,
    waitMs: () => {
      if (performance.now() - sampledAt >= periodMs) takeSample()
      return isSaturated ? (inFlight * lately.activeMs) / Math.max(1, lately.requests) : 0
    },
  }
}
