import { and, eq, isNull, sql } from 'drizzle-orm'
import { only } from '../../db/database.ts'
import { nodes, servers, transfers } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'

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

/** Column of a server's row that is another one after each change of it. */
export const rowVersion = sql<string>`xmin::text`
