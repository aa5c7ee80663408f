/** Milliseconds for one call of a cache, including its retry. */
export const cacheTimeoutMs = 1000
/** Milliseconds after a timeout during which calls fail at once. */
const cooldownMs = 5000

/** Returns a wrapper for calls of a cache that fails them at once for five seconds after one took `timeoutMs`. */
export function withCooldown(timeoutMs: number) {
  let cooldownUntil = 0
  return async <Result>(call: () => Promise<Result>): Promise<Result> => {
    const startedAt = Date.now()
    if (startedAt < cooldownUntil) throw new Error('The cache has not answered lately.')
    try {
      return await call()
    } catch (error) {
      const failedAt = Date.now()
      // A timer counts from the beginning of its turn of the event loop, which may be some milliseconds before this call.
      if (failedAt - startedAt >= timeoutMs * 0.9) cooldownUntil = failedAt + cooldownMs
      throw error
    }
  }
}
