import { eq } from 'drizzle-orm'
import { nodes, servers, transfers } from '../../src/db/schema.ts'
import type { Server } from '../../src/db/tables/servers.ts'
import { allPermissions } from '../../src/domain/permissions.ts'
import { makeClientToken, makeSubuser, makeUser } from '../support/factories.ts'
import type { World } from '../support/world.ts'

type Route = readonly [method: string, path: string, body?: unknown]
type StatefulServer = Pick<Server, 'id' | 'nodeId' | 'ownerId' | 'uuid'>
/** Lists the routes that answered 409 `ServerStateConflictException`, by state and caller. */
export type Conflict = { state: string; caller: string; refused: string[] }

const statuses = ['suspended', 'installing', 'install_failed', 'restoring_backup'] as const
export type ConflictState = (typeof statuses)[number] | 'maintenance' | 'transferring'

/**
 * Asks for the routes below the server in every state that conflicts, as its owner, as a subuser who holds every
 * permission, and as an administrator. The server is normal again afterwards.
 */
export async function conflictsOf(
  world: World,
  server: StatefulServer,
  routes: readonly Route[],
): Promise<Conflict[]> {
  const callers = await makeCallers(world, server)
  const conflicts: Conflict[] = []
  for (const state of [...statuses, 'maintenance', 'transferring'] as const) {
    await enter(world, server, state)
    for (const [caller, token] of Object.entries(callers)) {
      const refused: string[] = []
      for (const [method, path, body] of routes) {
        const at = `/api/client/servers/${server.uuid}${path}`
        const answer = await world.request(method, at, { token, ...(body === undefined ? {} : { body }) })
        const code = answer.status === 409 && answer.body.errors[0].code
        if (code === 'ServerStateConflictException') refused.push(`${method} ${path}`)
      }
      conflicts.push({ state, caller, refused })
    }
    await leave(world, server)
  }
  return conflicts
}

async function makeCallers(world: World, server: StatefulServer) {
  const friend = await makeUser(world)
  await makeSubuser(world, server, friend, allPermissions)
  return {
    owner: await makeClientToken(world, { id: server.ownerId }),
    subuser: await makeClientToken(world, friend),
    administrator: await makeClientToken(world, await makeUser(world, { rootAdmin: true })),
  }
}

async function enter(world: World, server: StatefulServer, state: ConflictState): Promise<void> {
  const { db } = world.database
  if (state === 'maintenance') {
    await db.update(nodes).set({ maintenanceMode: true }).where(eq(nodes.id, server.nodeId))
  } else if (state === 'transferring') {
    const { id: serverId, nodeId } = server
    const move = { oldNodeId: nodeId, newNodeId: nodeId, oldAllocationId: 1, newAllocationId: 1 }
    await db.insert(transfers).values({ serverId, ...move })
  } else {
    await db.update(servers).set({ status: state }).where(eq(servers.id, server.id))
  }
}

async function leave(world: World, server: StatefulServer): Promise<void> {
  const { db } = world.database
  await db.update(nodes).set({ maintenanceMode: false }).where(eq(nodes.id, server.nodeId))
  await db.delete(transfers).where(eq(transfers.serverId, server.id))
  await db.update(servers).set({ status: null }).where(eq(servers.id, server.id))
}
