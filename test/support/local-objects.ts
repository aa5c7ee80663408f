import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { type DiskObjectStore, openDiskObjectStore } from '../../src/dev/object-store/disk-object-store.ts'
import { listenHttp } from '../../src/platform/node-http.ts'

/** The embedded object store on a port of its own, over a new folder for each test. */
export type LocalObjects = Awaited<ReturnType<typeof openLocalObjects>>

/** Opens a store before each test of the file and removes it afterwards. */
export function useLocalObjects(): LocalObjects {
  const objects = {} as LocalObjects
  beforeEach(async () => Object.assign(objects, await openLocalObjects()))
  afterEach(() => objects.remove())
  return objects
}

async function openLocalObjects() {
  const directory = await mkdtemp(join(tmpdir(), 'objects-'))
  const clock: { now: number | null } = { now: null }
  const errors: unknown[] = []
  let opened = await listen(directory, 0, clock, errors)
  const { port } = opened.listener
  return {
    directory,
    port,
    /** The clock of the store in milliseconds; that of the machine when null. */
    clock,
    /** What was passed to `onError`. */
    errors,
    store: () => opened.disk.store,
    /** Counts the files below one of the store's folders. */
    countFiles: async (folder: string) =>
      (await readdir(join(directory, folder), { recursive: true, withFileTypes: true })).filter((entry) =>
        entry.isFile(),
      ).length,
    /** Opens the folder again on the same port, as a process does when it starts. */
    restart: async () => {
      await opened.listener.close()
      opened = await listen(directory, port, clock, errors)
    },
    remove: async () => {
      await opened.listener.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function listen(
  directory: string,
  wantedPort: number,
  clock: { now: number | null },
  errors: unknown[],
) {
  const disk = Promise.withResolvers<DiskObjectStore>()
  const listener = await listenHttp({ HOST: '127.0.0.1', PORT: wantedPort }, async (request) =>
    (await disk.promise).handleRequest(request),
  )
  const options = {
    directory,
    url: `http://127.0.0.1:${listener.port}/objects`,
    secret: 'secret-of-the-tests',
    onError: (error: unknown) => void errors.push(error),
    now: () => clock.now ?? Date.now(),
  }
  disk.resolve(await openDiskObjectStore(options))
  return { listener, disk: await disk.promise }
}
