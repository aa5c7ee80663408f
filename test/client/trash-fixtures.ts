import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { activity, nodes, servers, settings, transfers, trashItems } from '../../src/db/schema.ts'
import type { Server } from '../../src/db/tables/servers.ts'
import { makeClientToken, makeNode, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { type FileDaemon, startFileDaemon } from '../support/file-daemon.ts'
import { useWorld } from '../support/world.ts'

/** Creates, before each test, a server on a node whose daemon keeps files in memory, and functions that call the routes of the trash. */
export function useTrashFixtures() {
  const world = useWorld()
  const fixtures = {} as {
    daemon: FileDaemon
    server: Server
    owner: Awaited<ReturnType<typeof makeUser>>
    token: string
  }
  beforeAll(async () => {
    fixtures.daemon = await startFileDaemon()
  })
  afterAll(() => fixtures.daemon.close())
  beforeEach(async () => {
    fixtures.daemon.reset()
    fixtures.owner = await makeUser(world)
    const node = await makeNode(world, { daemonListen: fixtures.daemon.port })
    fixtures.server = await makeServer(world, { owner: fixtures.owner, node })
    fixtures.token = await makeClientToken(world, fixtures.owner)
  })

  const ask = (method: string, suffix = '', body?: unknown, token = fixtures.token) =>
    world.request(method, `/api/client/servers/${fixtures.server.uuid}/trash${suffix}`, {
      token,
      ...(body === undefined ? {} : { body }),
    })
  const items = () => world.database.db.select().from(trashItems).orderBy(trashItems.path)
  return {
    world,
    fixtures,
    items,
    list: (query = '', token?: string) => ask('GET', query, undefined, token),
    move: (root: unknown, files: unknown, token?: string) => ask('POST', '', { root, files }, token),
    restore: (id: string, token?: string) => ask('POST', `/${id}/restore`, undefined, token),
    purge: (id: string, token?: string) => ask('DELETE', `/${id}`, undefined, token),
    send: ask,
    /** Returns the id of the item that was at `path`. */
    idOf: async (path: string) => (await items()).find((item) => item.path === path)?.id ?? 'none',
    /** Makes a subuser with these permissions; returns a token of theirs. */
    subuser: async (permissions: string[]) => {
      const friend = await makeUser(world)
      await makeSubuser(world, fixtures.server, friend, permissions)
      return makeClientToken(world, friend)
    },
    administrator: async () => makeClientToken(world, await makeUser(world, { rootAdmin: true })),
    set: (key: string, value: unknown) =>
      world.database.db
        .insert(settings)
        .values({ key, value })
        .onConflictDoUpdate({ target: settings.key, set: { value } }),
    setStatus: (status: Server['status']) =>
      world.database.db.update(servers).set({ status }).where(eq(servers.id, fixtures.server.id)),
    setMaintenance: (maintenanceMode: boolean) => world.database.db.update(nodes).set({ maintenanceMode }),
    beginTransfer: () =>
      world.database.db.insert(transfers).values({
        serverId: fixtures.server.id,
        oldNodeId: fixtures.server.nodeId,
        newNodeId: fixtures.server.nodeId,
        oldAllocationId: 1,
        newAllocationId: 2,
      }),
    /** Lists event, properties and actor of the audit log, oldest first. */
    log: async () => {
      const rows = await world.database.db.select().from(activity).orderBy(activity.id)
      return rows.map(({ event, properties, actorId }) => ({ event, properties, actorId }))
    },
    /** Makes the node unreachable, or reachable again. */
    setAway: async (isAway: boolean) => {
      await world.database.db.update(nodes).set({ daemonListen: isAway ? 1 : fixtures.daemon.port })
    },
  }
}

/** Returns status and code of a refusal. */
export const codeOf = ({ status, body }: { status: number; body: any }) => [status, body?.errors?.[0]?.code]

/** Returns status, field and rule of a refused input. */
export const ruleOf = ({ status, body }: { status: number; body: any }) => [
  status,
  body.errors[0].meta?.source_field,
  body.errors[0].meta?.rule,
]
