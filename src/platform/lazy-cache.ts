import type { Cache } from '../adapters/cache.ts'

/** Returns the cache over the REST protocol of Upstash Redis, whose code is loaded with its first use. */
export function lazyCache(url: string, token: string): Cache {
  // Keeps the cache, not its promise: on Workers the request that created a promise may have ended.
  let opened: Cache | null = null
  const cache = async () => {
    if (opened) return opened
    const { upstashCache } = await import('../adapters/upstash-cache.ts')
    return (opened ??= upstashCache(url, token))
  }
  return {
    get: async (key) => (await cache()).get(key),
    set: async (...entry) => (await cache()).set(...entry),
    add: async (...entry) => (await cache()).add(...entry),
    remove: async (key) => (await cache()).remove(key),
    hit: async (...counter) => (await cache()).hit(...counter),
    ping: async () => (await cache()).ping(),
  }
}
