import type { Panel } from '../panel.ts'

const minuteMs = 60_000
/** Milliseconds by which a timer may fire before its time. */
const timerToleranceMs = 500

/**
 * Calls `run` at the beginning of each minute of the wall clock, also after the clock was set. Returns a function that
 * stops it. Does not keep the process alive.
 */
export function onEachMinute(run: () => void): () => void {
  let timer = setTimeout(fire, untilNextMinute())
  timer.unref()
  function fire() {
    timer = setTimeout(fire, untilNextMinute())
    timer.unref()
    run()
  }
  return () => clearTimeout(timer)
}

/** Seconds for which a minute stays claimed: clocks of several machines differ. */
const claimSeconds = 120

/** Claims this minute of the clock for one process of those with the same cache; without the cache each has it. */
export const claimMinute = ({ cache, now }: Pick<Panel, 'cache' | 'now'>): Promise<boolean> =>
  cache
    .add(`tick:${Math.floor((now().getTime() + timerToleranceMs) / minuteMs)}`, 1, claimSeconds)
    .catch(() => true)

/** Returns the milliseconds until the minute after this one; just before a minute that is the one after it. */
function untilNextMinute(): number {
  const now = Date.now()
  return (Math.floor((now + timerToleranceMs) / minuteMs) + 1) * minuteMs - now
}
