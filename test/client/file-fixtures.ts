import { afterAll, beforeAll, beforeEach } from 'vitest'
import { eq } from 'drizzle-orm'
import { activity, eggs } from '../../src/db/schema.ts'
import { makeClientToken, makeNode, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { answerFiles, type FileTree } from '../support/file-tree.ts'
import { startStubDaemon, type StubDaemon } from '../support/stub-daemon.ts'
import { type RequestOptions, useWorld, type World } from '../support/world.ts'

export type FileFixtures = Awaited<ReturnType<typeof createFileFixtures>> & {
  daemon: StubDaemon
  tree: FileTree
}

/** Creates, before each test, a server whose files are on a stub daemon that behaves like old releases of Wings. */
export function useFileFixtures(): { world: World; fixtures: FileFixtures } {
  const world = useWorld()
  const fixtures = {} as FileFixtures
  beforeAll(async () => {
    fixtures.daemon = await startStubDaemon()
  })
  afterAll(() => fixtures.daemon.close())
  beforeEach(async () => {
    const tree: FileTree = new Map()
    fixtures.daemon.respond(answerFiles(tree))
    fixtures.daemon.calls.length = 0
    Object.assign(fixtures, { tree }, await createFileFixtures(world, fixtures.daemon))
  })
  return { world, fixtures }
}

async function createFileFixtures(world: World, daemon: StubDaemon) {
  const owner = await makeUser(world)
  const node = await makeNode(world, { daemonListen: daemon.port })
  const server = await makeServer(world, { owner, node })
  const token = await makeClientToken(world, owner)
  const send = (method: string, path: string, options: RequestOptions = {}) =>
    world.request(method, `/api/client/servers/${server.uuid}/files/${path}`, { token, ...options })
  return {
    owner,
    node,
    server,
    token,
    send,
    /** Sends a GET with one query parameter. */
    get: (route: string, name: string, value: string, options: RequestOptions = {}) =>
      send('GET', `${route}?${name}=${encodeURIComponent(value)}`, options),
    post: (route: string, body: unknown) => send(route === 'rename' ? 'PUT' : 'POST', route, { body }),
    write: (file: string, raw: string, type = 'text/plain') =>
      send('POST', `write?file=${encodeURIComponent(file)}`, { raw, headers: { 'content-type': type } }),
    subuserToken: async (permissions: string[]) => {
      const friend = await makeUser(world)
      await makeSubuser(world, server, friend, permissions)
      return makeClientToken(world, friend)
    },
    /** The panel of this test, with the cache which its requests have. */
    panel: () => ({ ...world.panel, cache: world.services.cache }),
    /** Lists the calls of the daemon: method, route with its query, body. */
    daemonCalls: () =>
      daemon.calls.map(({ method, path, body }) => [
        method,
        decodeURIComponent(path.replace(`/api/servers/${server.uuid}/files/`, '')),
        body,
      ]),
    entries: () =>
      world.database.db
        .select({ event: activity.event, serverId: activity.serverId, properties: activity.properties })
        .from(activity)
        .orderBy(activity.id),
    protect: (fileDenylist: string[]) =>
      world.database.db.update(eggs).set({ fileDenylist }).where(eq(eggs.id, server.eggId)),
  }
}
