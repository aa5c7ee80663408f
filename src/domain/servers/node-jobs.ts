import { and, eq, isNull, sql } from 'drizzle-orm'
import { DaemonError } from '../../adapters/daemon.ts'
import { nodes, servers, transfers } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import type { Panel } from '../../panel.ts'
import { enqueue, type JobPayloads } from '../jobs.ts'

/**
 * The node knows a server whose creation nobody finished, and installs it. A node that knows it
 * already, or a server that is gone or installed, needs nothing. Wings: POST /api/servers
 */
export async function createServerOnNode(
  panel: Panel,
  payload: JobPayloads['create-server-on-node'],
): Promise<void> {
  const found = await findWithNode(panel, payload.serverId)
  if (!found || found.server.status !== 'installing' || found.server.installedAt) return
  const daemon = panel.daemon(found.node)
  if (await isKnown(() => daemon.showServer(found.server.uuid))) return
  await daemon.createServer(found.server.uuid, payload.startOnCompletion)
}

/** Seconds for which a node that is away is asked to remove a server: it may be down for long. */
const removalLifetime = 30 * 86_400

/** Under which the removal of a server from a node waits. */
export const removalKey = ({ nodeId, serverUuid }: JobPayloads['delete-server-from-node']) =>
  `delete-server-from-node:${nodeId}:${serverUuid}`

/** Sees to it that the node forgets the server: call it in the transaction that takes the server from there. */
export const enqueueRemoval = (
  panel: Panel,
  payload: JobPayloads['delete-server-from-node'],
): Promise<void> =>
  enqueue(panel, 'delete-server-from-node', payload, {
    key: removalKey(payload),
    lifetimeSeconds: removalLifetime,
  })

/**
 * The node holds the server no more. One that stands there, or is being moved from or to there, is kept.
 * Wings: DELETE /api/servers/{uuid}
 */
export async function deleteServerFromNode(
  panel: Panel,
  payload: JobPayloads['delete-server-from-node'],
): Promise<void> {
  const places = sql`${payload.nodeId}::integer in (${servers.nodeId}, ${transfers.oldNodeId}, ${transfers.newNodeId})`
  const [kept] = await panel.db
    .select({ id: servers.id })
    .from(servers)
    .leftJoin(transfers, and(eq(transfers.serverId, servers.id), isNull(transfers.successful)))
    .where(and(eq(servers.uuid, payload.serverUuid), places))
  const [node] = await panel.db.select().from(nodes).where(eq(nodes.id, payload.nodeId))
  if (kept || !node) return
  await panel.daemon(node).deleteServer(payload.serverUuid)
}

/** The node has the server's newest settings. Wings: POST /api/servers/{uuid}/sync */
export async function syncServer(panel: Panel, payload: JobPayloads['sync-server']): Promise<void> {
  const found = await findWithNode(panel, payload.serverId)
  if (found) await panel.daemon(found.node).syncServer(found.server.uuid)
}

async function findWithNode(
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

async function isKnown(show: () => Promise<unknown>): Promise<boolean> {
  try {
    await show()
    return true
  } catch (error) {
    if (error instanceof DaemonError && error.status === 404) return false
    throw error
  }
}
