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
