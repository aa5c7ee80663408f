import { eq } from 'drizzle-orm'
import { nodes, servers, transfers } from '../../db/schema.ts'
import type { Server } from '../../db/tables/servers.ts'
import { notFound, serverStateConflict } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { discardStoredBackups } from '../backups/remove.ts'
import { dropServerDatabases, releaseDatabases } from '../databases/reconciliation.ts'
import { toDaemonApiError } from '../nodes/daemon-errors.ts'
import { isOpenTransfer } from './access.ts'
import { recordServerEvent } from './audit.ts'
import { enqueueRemoval } from './node-jobs.ts'
import { changeNodeUsage } from './node-usage.ts'

/**
 * Deletes a server from its node and from the panel, its databases first, and releases its allocations.
 *
 * Refuses with 404; with 409 a server that is being transferred or that a database is being created for; with
 * the daemon's status, 502 or 504 when the node does not delete it or a host does not drop a database: then the
 * server is kept, without the databases dropped before. With `force` the panel deletes it at once, its transfer
 * included, and jobs retry on each node and host. Jobs delete its backups from the object store. Records
 * `admin:server.delete`.
 * Spec: docs/servers.md#creation. Wings: DELETE /api/servers/{uuid}
 */
export async function deleteServer(panel: Panel, id: number, force: boolean): Promise<void> {
  const [found] = await panel.db
    .select({ server: servers, node: nodes, transfer: transfers.id })
    .from(servers)
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .leftJoin(transfers, isOpenTransfer())
    .where(eq(servers.id, id))
  if (!found) throw notFound()
  const { server, node, transfer } = found
  if (!force && transfer !== null)
    throw serverStateConflict('server_transferring', 'The server is being transferred to another node.')
  if (!force) {
    await dropServerDatabases(panel, id)
    await panel
      .daemon(node)
      .deleteServer(server.uuid)
      .catch((error: unknown) => {
        throw toDaemonApiError(error)
      })
  }
  await inTransaction(panel, async (tx) => {
    await releaseDatabases(tx, id, force)
    await discardStoredBackups(tx, id)
    const nodeIds = await deleteServerRow(tx, server)
    // None when another request deleted it in the meantime.
    if (nodeIds.length > 0) await recordServerEvent(tx, 'admin:server.delete', server, { forced: force })
    // A transfer may have started or ended since the call to the node.
    for (const nodeId of nodeIds.filter((id) => force || id !== node.id)) {
      await enqueueRemoval(tx, { nodeId, serverUuid: server.uuid })
    }
  })
}

/**
 * Deletes the row and releases its allocations and its share of each node. Returns the ids of those nodes: two
 * during a transfer, none when the row was gone already.
 */
export async function deleteServerRow(tx: Tx, { id }: Pick<Server, 'id'>): Promise<number[]> {
  const [deleted] = await tx.db.select().from(servers).where(eq(servers.id, id)).for('update')
  if (!deleted) return []
  const openTransfers = await tx.db
    .select({ nodeId: transfers.newNodeId })
    .from(transfers)
    .where(isOpenTransfer(id))
  await tx.db.delete(servers).where(eq(servers.id, id))
  const nodeIds = [deleted, ...openTransfers]
    .map(({ nodeId }) => nodeId)
    .toSorted((one, other) => one - other)
  const released = { memory: -deleted.memory, disk: -deleted.disk }
  for (const nodeId of nodeIds) await changeNodeUsage(tx, nodeId, released)
  return nodeIds
}
