import { eq } from 'drizzle-orm'
import { nodes, servers, transfers } from '../../db/schema.ts'
import { conflict, notFound } from '../../errors.ts'
import type { Panel, Tx } from '../../panel.ts'
import { cancelJob } from '../jobs/enqueue.ts'
import { isOpenTransfer } from '../servers/access.ts'
import { recordServerEvent } from '../servers/audit.ts'
import { abandonTransfer, cancellationKey } from './completion.ts'

/**
 * Cancels the open transfer of a server, which stays on its old node. Has the source stop sending, or leaves
 * that to a job when it does not answer. Refuses with 404 an unknown server, with 409 one that is not being
 * transferred. Records `admin:transfer.cancel`. Wings: DELETE /api/servers/{uuid}/transfer
 */
export async function cancelTransfer(panel: Panel, serverId: number): Promise<void> {
  const [found] = await panel.db
    .select({ server: servers, source: nodes, transfer: transfers })
    .from(servers)
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .leftJoin(transfers, isOpenTransfer())
    .where(eq(servers.id, serverId))
  if (!found) throw notFound()
  const { server, source, transfer } = found
  const record = (tx: Tx) => recordServerEvent(tx, 'admin:transfer.cancel', server)
  if (!transfer || !(await abandonTransfer(panel, transfer, record))) {
    throw conflict('server_not_transferring', 'The server is not being transferred.')
  }
  try {
    await panel.daemon(source).cancelTransfer(server.uuid)
  } catch {
    // The job that the transaction enqueued retries it.
    return
  }
  await cancelJob(panel, cancellationKey(transfer))
}
