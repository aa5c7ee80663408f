/** Runs work as soon as one of the lanes is free, in the order in which it was asked for. */
export type Lanes = <Result>(work: () => Promise<Result>) => Promise<Result>

/** So much at once and no more. */
export function openLanes(count: number): Lanes {
  const waiting: (() => void)[] = []
  let free = count
  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => void waiting.push(resolve))
    try {
      return await work()
    } finally {
      // Whoever waits takes the lane over.
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
}
