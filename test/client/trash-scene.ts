import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { activity, nodes, servers, settings, transfers, trashItems } from '../../src/db/schema.ts'
import type { Server } from '../../src/db/tables/servers.ts'
import { makeClientToken, makeNode, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { type FileDaemon, startFileDaemon } from '../support/file-daemon.ts'
import { useWorld } from '../support/world.ts'

/** A server with its owner, on a node whose daemon keeps files in memory, and short words for the routes of the trash. */
export function useTrash() {
  const world = useWorld()
  const scene = {} as {
    daemon: FileDaemon
    server: Server
    owner: Awaited<ReturnType<typeof makeUser>>
    token: string
  }
  beforeAll(async () => {
    scene.daemon = await startFileDaemon()
  })
  afterAll(() => scene.daemon.close())
  beforeEach(async () => {
    scene.daemon.reset()
    scene.owner = await makeUser(world)
    const node = await makeNode(world, { daemonListen: scene.daemon.port })
    scene.server = await makeServer(world, { owner: scene.owner, node })
    scene.token = await makeClientToken(world, scene.owner)
    const { daemonTimeout: _left, ...config } = world.parts.config
    Object.assign(world.parts, { config })
  })

  const ask = (method: string, suffix = '', body?: unknown, token = scene.token) =>
    world.request(method, `/api/client/servers/${scene.server.uuid}/trash${suffix}`, {
      token,
      ...(body === undefined ? {} : { body }),
    })
  const items = () => world.database.db.select().from(trashItems).orderBy(trashItems.path)
  return {
    world,
    scene,
    items,
    list: (query = '', token?: string) => ask('GET', query, undefined, token),
    move: (root: unknown, files: unknown, token?: string) => ask('POST', '', { root, files }, token),
    restore: (id: string, token?: string) => ask('POST', `/${id}/restore`, undefined, token),
    purge: (id: string, token?: string) => ask('DELETE', `/${id}`, undefined, token),
    send: ask,
    /** The id of the item that was at `path`. */
    idOf: async (path: string) => (await items()).find((item) => item.path === path)?.id ?? 'none',
    /** The token of somebody who was let in with these permissions. */
    subuser: async (permissions: string[]) => {
      const friend = await makeUser(world)
      await makeSubuser(world, scene.server, friend, permissions)
      return makeClientToken(world, friend)
    },
    administrator: async () => makeClientToken(world, await makeUser(world, { rootAdmin: true })),
    set: (key: string, value: unknown) =>
      world.database.db
        .insert(settings)
        .values({ key, value })
        .onConflictDoUpdate({ target: settings.key, set: { value } }),
    setStatus: (status: Server['status']) =>
      world.database.db.update(servers).set({ status }).where(eq(servers.id, scene.server.id)),
    setMaintenance: (maintenanceMode: boolean) => world.database.db.update(nodes).set({ maintenanceMode }),
    beginTransfer: () =>
      world.database.db.insert(transfers).values({
        serverId: scene.server.id,
        oldNodeId: scene.server.nodeId,
        newNodeId: scene.server.nodeId,
        oldAllocationId: 1,
        newAllocationId: 2,
      }),
    /** Name, properties and actor of what was recorded, oldest first. */
    log: async () => {
      const rows = await world.database.db.select().from(activity).orderBy(activity.id)
      return rows.map(({ event, properties, actorId }) => ({ event, properties, actorId }))
    },
    /** The node does not answer any more, or does again. */
    setAway: async (isAway: boolean) => {
      await world.database.db.update(nodes).set({ daemonListen: isAway ? 1 : scene.daemon.port })
    },
    /** Calls to the node are given up after this many milliseconds. */
    setPatience: (daemonTimeout: number) =>
      void Object.assign(world.parts, { config: { ...world.parts.config, daemonTimeout } }),
  }
}

/** Status and code of a refusal. */
export const codeOf = ({ status, body }: { status: number; body: any }) => [status, body?.errors?.[0]?.code]

/** Status, field and rule of a refused input. */
export const ruleOf = ({ status, body }: { status: number; body: any }) => [
  status,
  body.errors[0].meta?.source_field,
  body.errors[0].meta?.rule,
]
