import type { ObjectStore, StoredObject } from '../../src/adapters/objects.ts'

/** A store for tests that only keep and show objects; `keys` are those of all objects, sorted. */
export type MemoryObjects = ObjectStore & { keys: () => string[]; clear: () => void }

/** An empty store, which takes objects in one piece only. */
export function memoryObjects(): MemoryObjects {
  const objects = new Map<string, StoredObject>()
  return {
    put: async (key, body, contentType) =>
      void objects.set(key, { body: Uint8Array.from(body), contentType }),
    get: async (key) => objects.get(key) ?? null,
    signedUrl: async (key, seconds) => `http://objects.test/${key}?seconds=${seconds}`,
    remove: async (key) => void objects.delete(key),
    ping: async () => undefined,
    keys: () => [...objects.keys()].toSorted(),
    clear: () => objects.clear(),
  }
}
