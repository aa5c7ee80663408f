import { Redis } from '@upstash/redis/cloudflare'
import { cacheTimeoutMs, withCooldown } from './cache-cooldown.ts'

/** A cache that may lose entries at any time. Only speed and general rate limits depend on it. */
export type Cache = {
  /** Returns the value of `key`, or null. */
  get: <T>(key: string) => Promise<T | null>
  /** Stores a JSON value for `seconds`. */
  set: (key: string, value: unknown, seconds: number) => Promise<void>
  /** Stores a JSON value unless the key has one; false when it has. */
  add: (key: string, value: unknown, seconds: number) => Promise<boolean>
  remove: (key: string) => Promise<void>
  /** Increments a counter, which starts at 0 and expires `seconds` after its first hit. */
  hit: (key: string, seconds: number) => Promise<{ hits: number; resetsInSeconds: number }>
  /** Throws when the cache cannot be reached. */
  ping: () => Promise<void>
}

/**
 * Creates a cache over the REST protocol of Upstash Redis. A call that takes longer than `timeoutMs` throws, and calls
 * of the next five seconds throw at once.
 */
export function upstashCache(url: string, token: string, timeoutMs = cacheTimeoutMs): Cache {
  const redis = new Redis({
    url,
    token,
    enableTelemetry: false,
    retry: { retries: 1, backoff: () => 50 },
    signal: () => AbortSignal.timeout(timeoutMs),
  })
  const guarded = withCooldown(timeoutMs)
  return {
    get: (key) => guarded(() => redis.get(key)),
    set: async (key, value, seconds) => void (await guarded(() => redis.set(key, value, { ex: seconds }))),
    add: async (key, value, seconds) =>
      (await guarded(() => redis.set(key, value, { ex: seconds, nx: true }))) === 'OK',
    remove: async (key) => void (await guarded(() => redis.del(key))),
    hit: async (key, seconds) => {
      const counted = redis.multi().set(key, 0, { ex: seconds, nx: true }).incr(key).ttl(key)
      const [, hits, remaining] = await guarded(() => counted.exec<[unknown, number, number]>())
      return { hits, resetsInSeconds: Math.max(1, remaining) }
    },
    ping: async () => void (await redis.ping()),
  }
}
