import pLimit from 'p-limit'

export type PowerLock = {
  isHeld: () => boolean
  /**
   * Runs `work` while no other work of the lock runs. False, without running it, when the lock was not free within
   * `maxWaitMs`; calls that wait are served in order.
   */
  run: (maxWaitMs: number, work: () => Promise<void>) => Promise<boolean>
}

/** Creates the lock that lets one power action of a server run at a time. */
export function createPowerLock(): PowerLock {
  const limit = pLimit(1)
  const isHeld = () => limit.activeCount > 0
  return {
    isHeld,
    run: (maxWaitMs, work) => {
      if (isHeld() && maxWaitMs <= 0) return Promise.resolve(false)
      const { promise: timedOut, resolve } = Promise.withResolvers<boolean>()
      let hasTimedOut = false
      const timer = setTimeout(() => {
        hasTimedOut = true
        resolve(false)
      }, maxWaitMs).unref()
      const ran = limit(async () => {
        clearTimeout(timer)
        if (hasTimedOut) return false
        await work()
        return true
      })
      return Promise.race([ran, timedOut])
    },
  }
}
