import { and, eq, isNull, sql } from 'drizzle-orm'
import { only } from '../../db/database.ts'
import { nodes, servers, transfers } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { refuseConflict, type ServerConflict } from '../server-state.ts'

/**
 * The server, locked until the transaction ends; allocations are locked after it, by id, and its node last.
 * What belongs to it is read by statements of its own, which see what was committed before the lock was had.
 * Refuses with 404 when there is none.
 */
export async function lockServer(panel: Panel, id: number): Promise<Server> {
  const [server] = await panel.db.select().from(servers).where(eq(servers.id, id)).for('update')
  if (!server) throw notFound()
  return server
}

/**
 * Where a locked server stands, and the id of the node to which it is being moved, where it counts as well.
 */
export async function placeOf(
  panel: Panel,
  server: Pick<Server, 'id' | 'nodeId'>,
): Promise<{ node: Node; movingTo: number | null }> {
  return only(
    await panel.db
      .select({ node: nodes, movingTo: transfers.newNodeId })
      .from(nodes)
      .leftJoin(transfers, and(eq(transfers.serverId, server.id), isNull(transfers.successful)))
      .where(eq(nodes.id, server.nodeId)),
  )
}

/**
 * The server, locked, with its node, when its state allows action but for what is tolerated: it may have changed
 * since the request was let in. Refuses with 404 and 409.
 */
export async function lockAvailable(
  panel: Panel,
  id: number,
  tolerated: readonly ServerConflict[] = [],
): Promise<{ server: Server; node: Node }> {
  const server = await lockServer(panel, id)
  const { node, movingTo } = await placeOf(panel, server)
  refuseConflict({ server, node, isTransferring: movingTo !== null }, tolerated)
  return { server, node }
}

/** Column of a server's row that is another one after each change of it. */
export const rowVersion = sql<string>`xmin::text`
