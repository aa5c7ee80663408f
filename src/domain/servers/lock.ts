import { eq, sql } from 'drizzle-orm'
import { single } from '../../db/database.ts'
import { nodes, servers, transfers } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { notFound } from '../../errors.ts'
import type { Tx } from '../../panel.ts'
import { isOpenTransfer } from './access.ts'
import { refuseConflict, type ServerConflict } from './state.ts'

/**
 * Locks a server until the transaction ends. Lock its allocations afterwards, by id, and its node last; read
 * related rows by statements after the lock, which see what was committed before. Refuses with 404.
 */
export async function lockServer(tx: Tx, id: number): Promise<Server> {
  const [server] = await tx.db.select().from(servers).where(eq(servers.id, id)).for('update')
  if (!server) throw notFound()
  return server
}

/** Finds the node of a locked server and, during a transfer, the id of its target, where it counts as well. */
export async function findServerNode(
  tx: Tx,
  server: Pick<Server, 'id' | 'nodeId'>,
): Promise<{ node: Node; targetNodeId: number | null }> {
  return single(
    await tx.db
      .select({ node: nodes, targetNodeId: transfers.newNodeId })
      .from(nodes)
      .leftJoin(transfers, isOpenTransfer(server.id))
      .where(eq(nodes.id, server.nodeId)),
  )
}

/**
 * Locks a server and checks its state again, which may have changed since the request was authorized. Refuses
 * with 404, with 409 a conflict that is not tolerated.
 */
export async function lockAvailableServer(
  tx: Tx,
  id: number,
  tolerated: readonly ServerConflict[] = [],
): Promise<{ server: Server; node: Node }> {
  const server = await lockServer(tx, id)
  const { node, targetNodeId } = await findServerNode(tx, server)
  refuseConflict({ server, node, isTransferring: targetNodeId !== null }, tolerated)
  return { server, node }
}

/** Selects the version of a server's row, which differs after each change. */
export const rowVersion = sql<string>`xmin::text`
