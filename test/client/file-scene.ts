import { afterAll, beforeAll, beforeEach } from 'vitest'
import { eq } from 'drizzle-orm'
import { activity, eggs } from '../../src/db/schema.ts'
import { makeClientToken, makeNode, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { answerFiles, type FileTree } from '../support/file-tree.ts'
import { startStubDaemon, type StubDaemon } from '../support/stub-daemon.ts'
import { type RequestOptions, useWorld, type World } from '../support/world.ts'

export type FileScene = Awaited<ReturnType<typeof openFileScene>> & { daemon: StubDaemon; tree: FileTree }

/** A server whose files a daemon keeps that is as odd as old daemons are; new before each test. */
export function useFileScene(): { world: World; scene: FileScene } {
  const world = useWorld()
  const scene = {} as FileScene
  beforeAll(async () => {
    scene.daemon = await startStubDaemon()
  })
  afterAll(() => scene.daemon.close())
  beforeEach(async () => {
    const { daemonTimeout: _left, ...config } = world.parts.config
    Object.assign(world.parts, { config: { ...config, longestWait: 5_000 } })
    world.parts.circuits.clear()
    const tree: FileTree = new Map()
    scene.daemon.respond(answerFiles(tree))
    scene.daemon.calls.length = 0
    Object.assign(scene, { tree }, await openFileScene(world, scene.daemon))
  })
  return { world, scene }
}

async function openFileScene(world: World, daemon: StubDaemon) {
  const owner = await makeUser(world)
  const node = await makeNode(world, { daemonListen: daemon.port })
  const server = await makeServer(world, { owner, node })
  const token = await makeClientToken(world, owner)
  const ask = (method: string, path: string, options: RequestOptions = {}) =>
    world.request(method, `/api/client/servers/${server.uuid}/files/${path}`, { token, ...options })
  return {
    owner,
    node,
    server,
    token,
    ask,
    /** The path of a query with one parameter. */
    get: (route: string, name: string, value: string, options: RequestOptions = {}) =>
      ask('GET', `${route}?${name}=${encodeURIComponent(value)}`, options),
    post: (route: string, body: unknown) => ask(route === 'rename' ? 'PUT' : 'POST', route, { body }),
    write: (file: string, raw: string, type = 'text/plain') =>
      ask('POST', `write?file=${encodeURIComponent(file)}`, { raw, headers: { 'content-type': type } }),
    subuserToken: async (permissions: string[]) => {
      const friend = await makeUser(world)
      await makeSubuser(world, server, friend, permissions)
      return makeClientToken(world, friend)
    },
    /** The panel of this test, with the cache which its requests have. */
    panel: () => ({ ...world.panel, cache: world.parts.cache }),
    /** What the daemon was told: method, route with its query, body. */
    told: () =>
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
