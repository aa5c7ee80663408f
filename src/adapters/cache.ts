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
/** Milliseconds for which a cache that answered nothing in that time is left alone: others need not wait, too. */
const rest = 5000

/**
 * The cache over Upstash Redis' REST protocol. A call that takes longer than `timeout` milliseconds throws, and so do
 * those of the next five seconds, at once.
 */
export function upstashCache(url: string, token: string, timeout = patience): Cache {
  const redis = new Redis({
    url,
    token,
    enableTelemetry: false,
    retry: { retries: 1, backoff: () => 50 },
    signal: () => AbortSignal.timeout(timeout),
  })
  const asked = unlessSilent(timeout)
  return {
    get: (key) => asked(() => redis.get(key)),
    set: async (key, value, seconds) => void (await asked(() => redis.set(key, value, { ex: seconds }))),
    add: async (key, value, seconds) =>
      (await asked(() => redis.set(key, value, { ex: seconds, nx: true }))) === 'OK',
    remove: async (key) => void (await asked(() => redis.del(key))),
    hit: async (key, seconds) => {
      const counted = redis.multi().set(key, 0, { ex: seconds, nx: true }).incr(key).ttl(key)
      const [, hits, remaining] = await asked(() => counted.exec<[unknown, number, number]>())
      return { hits, resetsIn: Math.max(1, remaining) }
    },
    ping: async () => void (await redis.ping()),
  }
}

/** Lets calls through but for a while after one that had waited in vain. */
function unlessSilent(timeout: number) {
  let silentUntil = 0
  return async <Result>(call: () => Promise<Result>): Promise<Result> => {
    const askedAt = Date.now()
    if (askedAt < silentUntil) throw new Error('The cache has not answered lately.')
    try {
      return await call()
    } catch (error) {
      const failedAt = Date.now()
      if (failedAt - askedAt >= timeout) silentUntil = failedAt + rest
      throw error
    }
  }
}
