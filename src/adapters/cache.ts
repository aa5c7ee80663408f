import { Redis } from '@upstash/redis/cloudflare'

/** A shared memory that may forget at any time. Nothing depends on it but speed and general rate limits. */
export type Cache = {
  /** The value stored under `key`, or null. */
  get: <T>(key: string) => Promise<T | null>
  /** Stores a JSON value for `seconds`. */
  set: (key: string, value: unknown, seconds: number) => Promise<void>
  /** Stores it only when the key is free; false when it was taken. */
  add: (key: string, value: unknown, seconds: number) => Promise<boolean>
  remove: (key: string) => Promise<void>
  /** Adds one to a counter which starts at 0 and lives `seconds` from its first hit. */
  hit: (key: string, seconds: number) => Promise<{ hits: number; resetsIn: number }>
  /** Throws when the cache cannot be reached. */
  ping: () => Promise<void>
}

/** Milliseconds for one call, with its second try: nothing may wait long for what only makes it faster. */
const patience = 1000

/** The cache over Upstash Redis' REST protocol. A call that takes longer than `timeout` milliseconds throws. */
export function upstashCache(url: string, token: string, timeout = patience): Cache {
  const redis = new Redis({
    url,
    token,
    enableTelemetry: false,
    retry: { retries: 1, backoff: () => 50 },
    signal: () => AbortSignal.timeout(timeout),
  })
  return {
    get: (key) => redis.get(key),
    set: async (key, value, seconds) => void (await redis.set(key, value, { ex: seconds })),
    add: async (key, value, seconds) => (await redis.set(key, value, { ex: seconds, nx: true })) === 'OK',
    remove: async (key) => void (await redis.del(key)),
    hit: async (key, seconds) => {
      const [, hits, remaining] = await redis
        .multi()
        .set(key, 0, { ex: seconds, nx: true })
        .incr(key)
        .ttl(key)
        .exec<[unknown, number, number]>()
      return { hits, resetsIn: Math.max(1, remaining) }
    },
    ping: async () => void (await redis.ping()),
  }
}
