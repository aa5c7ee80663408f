import { eq } from 'drizzle-orm'
import { allocations, nodes, servers, transfers } from '../../src/db/schema.ts'
import { makeAllocation, makeApplicationToken, makeNode, makeServer } from './factories.ts'
import type { StubDaemon } from './stub-daemon.ts'
import type { World } from './world.ts'

/** A server on one node and capacity for it on another, each with a daemon, and what the panel knows of them. */
export type Move = Awaited<ReturnType<typeof prepareMove>>

/** Creates a server before its transfer: it is on `old` with two allocations; `fresh` are three free ones on `target`. */
export async function prepareMove(world: World, daemons: { source: StubDaemon; target: StubDaemon }) {
  const { db } = world.database
  const old = await makeNode(world, { daemonListen: daemons.source.port })
  const target = await makeNode(world, { daemonListen: daemons.target.port })
  const server = await makeServer(world, { node: old })
  const additional = await makeAllocation(world, old, { serverId: server.id, notes: 'query port' })
  const fresh = [
    await makeAllocation(world, target),
    await makeAllocation(world, target),
    await makeAllocation(world, target),
  ] as const
  const token = await makeApplicationToken(world)
  const path = `/api/application/servers/${server.id}/transfer`
  const input = { node: target.id, allocation: fresh[0].id, additional_allocations: [fresh[1].id] }
  return {
    old,
    target,
    server,
    additional,
    fresh,
    token,
    start: (changes: object = {}) => world.request('POST', path, { token, body: { ...input, ...changes } }),
    show: () => world.request('GET', path, { token }),
    cancel: () => world.request('DELETE', path, { token }),
    report: (node: { token: string }, result: 'success' | 'failure') =>
      world.request('POST', `/api/remote/servers/${server.uuid}/transfer/${result}`, {
        token: node.token,
        raw: 'null',
      }),
    /** Reads the node and the allocations of the server, the sums of each node, and the results of its transfers. */
    state: async () => {
      const [row] = await db.select().from(servers).where(eq(servers.id, server.id))
      const held = await db.select().from(allocations).where(eq(allocations.serverId, server.id))
      const counted = await db.select().from(nodes).orderBy(nodes.id)
      const ends = await db.select().from(transfers).orderBy(transfers.id)
      return {
        node: row?.nodeId,
        primary: row?.allocationId,
        held: held.map(({ id }) => id).toSorted((a, b) => a - b),
        used: counted.map(({ usedMemory, usedDisk }) => [usedMemory, usedDisk]),
        ends: ends.map(({ successful }) => successful),
      }
    },
    /** The state before a transfer, and after one that failed. */
    before: (ends: (boolean | null)[]) => ({
      node: old.id,
      primary: server.allocationId,
      held: [server.allocationId, additional.id],
      used: [
        [512, 1024],
        [0, 0],
      ],
      ends,
    }),
    /** The state while a transfer is open. */
    during: (ends: (boolean | null)[] = [null]) => ({
      node: old.id,
      primary: server.allocationId,
      held: [server.allocationId, additional.id, fresh[0].id, fresh[1].id],
      used: [
        [512, 1024],
        [512, 1024],
      ],
      ends,
    }),
    /** The state after a successful transfer. */
    after: (ends: (boolean | null)[] = [true]) => ({
      node: target.id,
      primary: fresh[0].id,
      held: [fresh[0].id, fresh[1].id],
      used: [
        [0, 0],
        [512, 1024],
      ],
      ends,
    }),
  }
}

/** Lists method and path of each call to a daemon, without the server's uuid. */
export const callsOf = (daemon: StubDaemon) =>
  daemon.calls.map(({ method, path }) => `${method} ${path.replace(/[0-9a-f-]{36}/, '{uuid}')}`)
