export type PowerLock = {
  isHeld: () => boolean
  /** Takes the lock, waiting up to `milliseconds` for it; resolves with whether it was taken. */
  acquire: (milliseconds: number) => Promise<boolean>
  release: () => void
}

/** A lock that lets one power action run at a time; waiters are served in order. */
export function createPowerLock(): PowerLock {
  let held = false
  const waiting: (() => void)[] = []

  return {
    isHeld: () => held,
    acquire: (milliseconds) => {
      if (!held) {
        held = true
        return Promise.resolve(true)
      }
      if (milliseconds <= 0) return Promise.resolve(false)
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(take), 1)
          resolve(false)
        }, milliseconds).unref()
        const take = (): void => {
          clearTimeout(timer)
          resolve(true)
        }
        waiting.push(take)
      })
    },
    release: () => {
      const next = waiting.shift()
      if (next) next()
      else held = false
    },
  }
}
