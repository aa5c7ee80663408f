import { and, eq, isNull, sql } from 'drizzle-orm'
import { nodes, servers, transfers } from '../../db/schema.ts'
import type { Server } from '../../db/tables/servers.ts'
import { notFound, serverStateConflict } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { letGoOfBackups } from '../backups/remove.ts'
import { refuseDaemonFailure } from '../daemon-errors.ts'
import { dropDatabasesOf, letGoOfDatabases } from '../database-reconciliation.ts'
import { enqueueRemoval } from './node-jobs.ts'

/**
 * Removes a server from its node and from the panel, its databases first; its allocations are free afterwards.
 *
 * Refuses with 404 an unknown server, with 409 one that is being moved or given a database, with the daemon's
 * status, 502 or 504 when the node does not remove it or a host does not drop a database: then nothing is
 * changed but that databases which were dropped are gone. With `force` the panel forgets it at once, its move
 * included, and jobs tell each node and host that holds something of it until they agree. What the object store
 * holds of its backups, jobs remove.
 * Spec: Application API, servers. Wings: DELETE /api/servers/{uuid}
 */
export async function deleteServer(panel: Panel, id: number, force: boolean): Promise<void> {
  const [found] = await panel.db
    .select({ server: servers, node: nodes, transfer: transfers.id })
    .from(servers)
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .leftJoin(transfers, and(eq(transfers.serverId, servers.id), isNull(transfers.successful)))
    .where(eq(servers.id, id))
  if (!found) throw notFound()
  const { server, node, transfer } = found
  if (!force && transfer !== null) throw serverStateConflict('The server is being moved to another node.')
  if (!force) {
    await dropDatabasesOf(panel, id)
    await panel.daemon(node).deleteServer(server.uuid).catch(refuseDaemonFailure)
  }
  await inTransaction(panel, async (panel) => {
    await letGoOfDatabases(panel, id, force)
    await letGoOfBackups(panel, id)
    const holders = await eraseServer(panel, server)
    // A move may have begun or ended since the node was told.
    for (const nodeId of holders.filter((id) => force || id !== node.id)) {
      await enqueueRemoval(panel, { nodeId, serverUuid: server.uuid })
    }
  })
}

/**
 * The row is gone, its allocations and its share of each node it counted on are free. Gives the ids of those
 * nodes, of which an open move has two; none when it was gone already.
 */
export async function eraseServer(panel: Panel, { id }: Pick<Server, 'id'>): Promise<number[]> {
  const [erased] = await panel.db.select().from(servers).where(eq(servers.id, id)).for('update')
  if (!erased) return []
  const open = await panel.db
    .select({ nodeId: transfers.newNodeId })
    .from(transfers)
    .where(and(eq(transfers.serverId, id), isNull(transfers.successful)))
  await panel.db.delete(servers).where(eq(servers.id, id))
  const holders = [erased, ...open].map(({ nodeId }) => nodeId).toSorted((one, other) => one - other)
  const share = {
    usedMemory: sql`${nodes.usedMemory} - ${erased.memory}`,
    usedDisk: sql`${nodes.usedDisk} - ${erased.disk}`,
  }
  for (const nodeId of holders) await panel.db.update(nodes).set(share).where(eq(nodes.id, nodeId))
  return holders
}
