import { and, eq, sql } from 'drizzle-orm'
import { DaemonError } from '../../adapters/daemon-error.ts'
import type { Daemon } from '../../adapters/daemon.ts'
import { nodes, servers, transfers } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import type { Panel, Tx } from '../../panel.ts'
import { enqueueJob, type JobPayloads } from '../jobs/enqueue.ts'
import { isOpenTransfer } from './access.ts'

/** Seconds for which deleting a server on a node that does not answer is retried. */
const removalLifetimeSeconds = 30 * 86_400

/** Key of the job that deletes a server from a node. */
export const removalKey = ({ nodeId, serverUuid }: JobPayloads['delete-server-from-node']) =>
  `delete-server-from-node:${nodeId}:${serverUuid}`

/** Enqueues deletion of the server on the node; call it in the transaction that takes the server from there. */
export const enqueueRemoval = (tx: Tx, payload: JobPayloads['delete-server-from-node']): Promise<void> =>
  enqueueJob(tx, 'delete-server-from-node', payload, {
    key: removalKey(payload),
    lifetimeSeconds: removalLifetimeSeconds,
  })

/**
 * Runs `delete-server-from-node`: deletes the server on the node, unless it is there again or being transferred
 * from or to there. Wings: DELETE /api/servers/{uuid}
 */
export async function deleteServerFromNode(
  panel: Panel,
  payload: JobPayloads['delete-server-from-node'],
): Promise<void> {
  const isOnNode = sql`${payload.nodeId}::integer in (${servers.nodeId}, ${transfers.oldNodeId}, ${transfers.newNodeId})`
  const [kept] = await panel.db
    .select({ id: servers.id })
    .from(servers)
    .leftJoin(transfers, isOpenTransfer())
    .where(and(eq(servers.uuid, payload.serverUuid), isOnNode))
  const [node] = await panel.db.select().from(nodes).where(eq(nodes.id, payload.nodeId))
  if (kept || !node) return
  await panel.daemon(node).deleteServer(payload.serverUuid)
}

/** Runs `sync-server`: has the daemon fetch the server's settings. Wings: POST /api/servers/{uuid}/sync */
export async function syncServer(panel: Panel, payload: JobPayloads['sync-server']): Promise<void> {
  const found = await findServerWithNode(panel, payload.serverId)
  if (found) await panel.daemon(found.node).syncServer(found.server.uuid)
}

/** Finds a server with its node. */
export async function findServerWithNode(
  panel: Panel,
  serverId: number,
): Promise<{ server: Server; node: Node } | undefined> {
  const [found] = await panel.db
    .select({ server: servers, node: nodes })
    .from(servers)
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .where(eq(servers.id, serverId))
  return found
}

/** Whether the daemon knows the server. Throws the `DaemonError` of any other answer than 404. */
export async function isKnownToDaemon(daemon: Daemon, uuid: string): Promise<boolean> {
  try {
    await daemon.showServer(uuid)
    return true
  } catch (error) {
    if (error instanceof DaemonError && error.status === 404) return false
    throw error
  }
}
