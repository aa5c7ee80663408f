import type { ObjectStore, StoredObject } from '../../src/adapters/objects.ts'

/** An object store in memory; `keys` lists the keys of all objects, sorted. */
export type MemoryObjects = ObjectStore & { keys: () => string[]; clear: () => void }

/** Creates an empty store without uploads in parts. */
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
