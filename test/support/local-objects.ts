import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AwsClient } from 'aws4fetch'
import { afterEach, beforeEach } from 'vitest'
import { s3ObjectStore } from '../../src/adapters/objects.ts'
import { type ObjectEndpoint, openObjectEndpoint } from '../../src/platform/local/objects/endpoint.ts'
import { listenOn } from '../../src/platform/node-http.ts'

export const storeCredentials = {
  accessKeyId: 'key-of-the-tests',
  secretAccessKey: 'secret-of-the-tests',
  region: 'local',
}

/** The embedded object store on a port and a folder of its own, new for each test. */
export type LocalObjects = Awaited<ReturnType<typeof openLocalObjects>>

/** What every test of a file is given. */
export function useLocalObjects(): LocalObjects {
  const objects = {} as LocalObjects
  beforeEach(async () => Object.assign(objects, await openLocalObjects()))
  afterEach(() => objects.discard())
  return objects
}

async function openLocalObjects() {
  const directory = await mkdtemp(join(tmpdir(), 'objects-'))
  const clock: { now: number | null } = { now: null }
  let [listener, endpoint] = await listen(directory, 0, clock)
  const { port } = listener
  const url = `http://127.0.0.1:${port}/objects`
  const options = { ...storeCredentials, bucket: 'panel', endpoint: url, pathStyle: true }
  const client = new AwsClient({ ...storeCredentials, service: 's3', retries: 0 })
  const address = (path: string) => `${url}/panel${path}`
  return {
    directory,
    port,
    options,
    /** What the store takes for now, in milliseconds; the machine's time when null. */
    clock,
    endpoint: (request: Request) => endpoint(request),
    store: () => s3ObjectStore(options),
    /** Where a path below the bucket is. */
    address,
    /** Sends a request signed by its header. */
    ask: (method: string, path: string, init: RequestInit = {}) =>
      client.fetch(address(path), { method, ...init }),
    filesBelow: async (folder: string) =>
      (await readdir(join(directory, folder), { recursive: true, withFileTypes: true })).filter((entry) =>
        entry.isFile(),
      ).length,
    /** Opens the folder again on its port, as a process does that starts. */
    restart: async () => {
      await listener.close()
      ;[listener, endpoint] = await listen(directory, port, clock)
    },
    discard: async () => {
      await listener.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function listen(directory: string, wanted: number, clock: { now: number | null }) {
  const opened = Promise.withResolvers<ObjectEndpoint>()
  const listener = await listenOn({ HOST: '127.0.0.1', PORT: wanted }, async (request) =>
    (await opened.promise)(request),
  )
  const url = `http://127.0.0.1:${listener.port}/objects`
  const now = () => clock.now ?? Date.now()
  const endpoint = await openObjectEndpoint({ ...storeCredentials, bucket: 'panel', url, directory, now })
  opened.resolve(endpoint)
  return [listener, endpoint] as const
}

/** Status and code of a refusal. */
export async function refusalOf(answer: Response) {
  return [answer.status, /<Code>(\w+)<\/Code>/.exec(await answer.text())?.[1]]
}
