import type { Cache } from '../../adapters/cache.ts'

/** Creates a cache in a map of this process, for environments without Redis. */
export function localCache(now: () => number = Date.now): Cache {
  const entries = new Map<string, { json: string; expiresAt: number }>()
  let writes = 0
  const read = (key: string) => {
    const entry = entries.get(key)
    if (!entry) return null
    if (entry.expiresAt > now()) return entry
    entries.delete(key)
    return null
  }
  const write = (key: string, value: unknown, expiresAt: number) => {
    writes += 1
    if (writes % 1000 === 0) for (const name of entries.keys()) read(name)
    entries.set(key, { json: JSON.stringify(value), expiresAt })
  }
  return {
    get: async (key) => JSON.parse(read(key)?.json ?? 'null'),
    set: async (key, value, seconds) => write(key, value, now() + seconds * 1000),
    add: async (key, value, seconds) => {
      if (read(key)) return false
      write(key, value, now() + seconds * 1000)
      return true
    },
    remove: async (key) => void entries.delete(key),
    hit: async (key, seconds) => {
      const entry = read(key)
      const hits = Number(entry?.json ?? 0) + 1
      const expiresAt = entry?.expiresAt ?? now() + seconds * 1000
      write(key, hits, expiresAt)
      return { hits, resetsInSeconds: Math.max(1, Math.ceil((expiresAt - now()) / 1000)) }
    },
    ping: async () => undefined,
  }
}
