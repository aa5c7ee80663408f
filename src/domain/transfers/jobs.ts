import { eq } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { DaemonError } from '../../adapters/daemon-error.ts'
import { nodes, servers, transfers } from '../../db/schema.ts'
import type { Panel } from '../../panel.ts'
import type { JobPayloads } from '../jobs/enqueue.ts'
import { isOpenTransfer } from '../servers/access.ts'
import { abandonTransfer, isTransferring } from './completion.ts'
import { dispatchTransfer } from './dispatch.ts'

/**
 * Runs `start-transfer`: repeats the start of a transfer whose request died between commit and call. A source
 * that is sending already answers 409; any other refusal fails the transfer.
 * Wings: POST /api/servers/{uuid}/transfer
 */
export async function startTransferOnNode(
  panel: Panel,
  { transferId }: JobPayloads['start-transfer'],
): Promise<void> {
  const dispatch = await findTransferDispatch(panel, transferId)
  if (!dispatch) return
  try {
    await dispatchTransfer(panel, dispatch)
  } catch (error) {
    if (!(error instanceof DaemonError)) throw error
    if (error.status !== 409) await abandonTransfer(panel, dispatch.transfer)
  }
}

/**
 * Runs `expire-transfer`: fails a transfer without a report at its deadline, so that it does not lock its
 * server for ever.
 */
export async function expireTransfer(
  panel: Panel,
  { transferId, serverId }: JobPayloads['expire-transfer'],
): Promise<void> {
  await abandonTransfer(panel, { id: transferId, serverId })
}

/**
 * Runs `cancel-transfer`: has the source stop sending, unless the server is being transferred again.
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

async function findTransferDispatch(panel: Panel, transferId: number) {
  const [source, target] = [alias(nodes, 'source'), alias(nodes, 'target')]
  const [dispatch] = await panel.db
    .select({ transfer: transfers, server: servers, source, target })
    .from(transfers)
    .innerJoin(servers, isOpenTransfer())
    .innerJoin(source, eq(source.id, transfers.oldNodeId))
    .innerJoin(target, eq(target.id, transfers.newNodeId))
    .where(eq(transfers.id, transferId))
  return dispatch
}
