import { and, eq, isNull } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { DaemonError } from '../adapters/daemon.ts'
import { nodes, servers, transfers } from '../db/schema.ts'
import type { Panel } from '../panel.ts'
import type { JobPayloads } from './jobs.ts'
import { abandonTransfer, isTransferring } from './transfer-endings.ts'
import { orderTransfer } from './transfer-orders.ts'

/**
 * A transfer whose process died between commit and call is under way, or over: the order is given again, which
 * a source that has it refuses with 409. Whatever else it refuses with ends the transfer.
 * Wings: POST /api/servers/{uuid}/transfer
 */
export async function startTransferOnNode(
  panel: Panel,
  { transferId }: JobPayloads['start-transfer'],
): Promise<void> {
  const order = await findOrder(panel, transferId)
  if (!order) return
  try {
    await orderTransfer(panel, order)
  } catch (error) {
    if (!(error instanceof DaemonError)) throw error
    if (error.status !== 409) await abandonTransfer(panel, order.transfer)
  }
}

/** A transfer that nobody reported of until its deadline has failed: none locks its server for ever. */
export async function expireTransfer(
  panel: Panel,
  { transferId, serverId }: JobPayloads['expire-transfer'],
): Promise<void> {
  await abandonTransfer(panel, { id: transferId, serverId })
}

/**
 * The source sends no more of a transfer that was given up, unless the server is already being moved again.
 * Wings: DELETE /api/servers/{uuid}/transfer
 */
export async function cancelTransferOnNode(
  panel: Panel,
  { nodeId, serverUuid }: JobPayloads['cancel-transfer'],
): Promise<void> {
  const [node] = await panel.db.select().from(nodes).where(eq(nodes.id, nodeId))
  if (!node || (await isTransferring(panel, serverUuid))) return
  await panel.daemon(node).cancelTransfer(serverUuid)
}

async function findOrder(panel: Panel, transferId: number) {
  const [source, target] = [alias(nodes, 'source'), alias(nodes, 'target')]
  const [order] = await panel.db
    .select({ transfer: transfers, server: servers, source, target })
    .from(transfers)
    .innerJoin(servers, eq(servers.id, transfers.serverId))
    .innerJoin(source, eq(source.id, transfers.oldNodeId))
    .innerJoin(target, eq(target.id, transfers.newNodeId))
    .where(and(eq(transfers.id, transferId), isNull(transfers.successful)))
  return order
}
