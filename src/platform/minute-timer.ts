import type { Panel } from '../panel.ts'

const minuteMs = 60_000
/** Milliseconds by which a timer may fire before its time. */
const timerToleranceMs = 500

/** Returns the number of the minute of the wall clock in which an instant is. */
export const minuteOf = (milliseconds: number): number => Math.floor(milliseconds / minuteMs)

/**
 * Calls `run` with the number of the minute at the beginning of each minute of the wall clock, also after the clock was
 * set. Returns a function that stops it. Does not keep the process alive.
 */
export function onEachMinute(run: (minute: number) => void): () => void {
  let timer = setTimeout(fire, untilNextMinute())
  timer.unref()
  function fire() {
    // What is due with the minute is not due before it.
    const isEarly = untilNextMinute() <= timerToleranceMs
    timer = setTimeout(fire, untilNextMinute())
    timer.unref()
    if (!isEarly) run(minuteOf(Date.now()))
  }
  return () => clearTimeout(timer)
}

/** Seconds for which a minute stays claimed: clocks of several machines differ. */
const claimSeconds = 120

/** Claims a minute of the clock for one process of those with the same cache; without the cache each has it. */
export const claimMinute = ({ cache }: Pick<Panel, 'cache'>, minute: number): Promise<boolean> =>
  cache.add(`tick:${minute}`, 1, claimSeconds).catch(() => true)

/** Returns the milliseconds until the next minute. */
function untilNextMinute(): number {
  const now = Date.now()
  return (minuteOf(now) + 1) * minuteMs - now
}
