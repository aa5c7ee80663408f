import { eq, sql } from 'drizzle-orm'
import { QueryBuilder } from 'drizzle-orm/pg-core'
import { databases, nodes, servers } from '../../db/schema.ts'
import type { Server } from '../../db/tables/servers.ts'
import { displayError, notFound } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { refuseDaemonFailure } from '../daemon-errors.ts'
import { enqueue } from '../jobs.ts'

/** Seconds for which a node that is away is asked to remove a server: it may be down for long. */
const removalLifetime = 30 * 86_400

/**
 * Removes a server from its node and from the panel; its allocations are free afterwards.
 *
 * Refuses with 404 an unknown server, with 400 one that still has databases, with the daemon's status, 502 or 504 when the node does not
 * remove it: then nothing is changed. With `force` the panel forgets it at once, and a job tells the
 * node until it agrees. Spec: Application API, servers. Wings: DELETE /api/servers/{uuid}
 */
export async function deleteServer(panel: Panel, id: number, force: boolean): Promise<void> {
  const [found] = await panel.db
    .select({ server: servers, node: nodes, hasDatabases: sql<boolean>`exists (${databasesOf()})` })
    .from(servers)
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .where(eq(servers.id, id))
  if (!found) throw notFound()
  if (found.hasDatabases)
    throw displayError('Remove the databases of the server first: they would outlive it.')
  const { server, node } = found
  if (!force) await panel.daemon(node).deleteServer(server.uuid).catch(refuseDaemonFailure)
  await inTransaction(panel, async (panel) => {
    const erased = await eraseServer(panel, server)
    if (!erased || !force) return
    const payload = { nodeId: node.id, serverUuid: server.uuid }
    await enqueue(panel, 'delete-server-from-node', payload, { lifetimeSeconds: removalLifetime })
  })
}

const databasesOf = () =>
  new QueryBuilder({ casing: 'snake_case' })
    .select({ id: databases.id })
    .from(databases)
    .where(eq(databases.serverId, servers.id))

/** The row is gone, its allocations and its share of the node are free. False when it was gone already. */
export async function eraseServer(panel: Panel, server: Pick<Server, 'id'>): Promise<boolean> {
  const [erased] = await panel.db.delete(servers).where(eq(servers.id, server.id)).returning()
  if (!erased) return false
  await panel.db
    .update(nodes)
    .set({
      usedMemory: sql`${nodes.usedMemory} - ${erased.memory}`,
      usedDisk: sql`${nodes.usedDisk} - ${erased.disk}`,
    })
    .where(eq(nodes.id, erased.nodeId))
  return true
}
