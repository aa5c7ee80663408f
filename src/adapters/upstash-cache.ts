import { Redis } from '@upstash/redis/cloudflare'
import { cacheTimeoutMs, withCooldown } from './cache-cooldown.ts'
import type { Cache } from './cache.ts'

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
