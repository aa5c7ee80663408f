/** Runs work of the same key one after the other, in the order of the calls; work of different keys runs at once. */
export type KeyedMutex = {
  /** Resolves or rejects as `work` does. A failure does not keep the next work of the key from running. */
  run: <Result>(key: string, work: () => Promise<Result>) => Promise<Result>
}

/** Creates a mutex for this process, which keeps nothing of a key that no work holds or waits for. */
export function createKeyedMutex(): KeyedMutex {
  const lastByKey = new Map<string, Promise<unknown>>()
  return {
    run: async (key, work) => {
      const current = (lastByKey.get(key) ?? Promise.resolve()).then(work, work)
      lastByKey.set(key, current)
      try {
        return await current
      } finally {
        if (lastByKey.get(key) === current) lastByKey.delete(key)
      }
    },
  }
}
