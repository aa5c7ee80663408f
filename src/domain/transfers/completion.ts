import { and, desc, eq } from 'drizzle-orm'
import { allocations, servers, transfers } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import type { Transfer } from '../../db/tables/transfers.ts'
import { conflict, forbidden, notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { cancelJob, enqueueJob } from '../jobs/enqueue.ts'
import { lockServerByIdentifier, serverOfAnotherNode } from '../nodes/servers.ts'
import { isOpenTransfer } from '../servers/access.ts'
import { enqueueRemoval } from '../servers/node-jobs.ts'
import { changeNodeUsage } from '../servers/node-usage.ts'

/** Seconds that the request which cancels a transfer has to call the source itself. */
const jobDelaySeconds = 15

export type TransferringServer = Pick<Server, 'id' | 'uuid' | 'memory' | 'disk'>
export type OpenTransfer = { server: TransferringServer; transfer: Transfer }

/** Key of the job that repeats the start. */
export const startKey = ({ id }: Pick<Transfer, 'id'>) => `start-transfer:${id}`
/** Key of the job that fails the transfer at its deadline. */
export const expiryKey = ({ id }: Pick<Transfer, 'id'>) => `expire-transfer:${id}`
/** Key of the job that has the source stop sending. */
export const cancellationKey = ({ id }: Pick<Transfer, 'id'>) => `cancel-transfer:${id}`

/** Finds the newest transfer of a server; null without one. An open transfer always is the newest. */
export async function findNewestTransfer(tx: Tx, serverId: number): Promise<Transfer | null> {
  const [newest] = await tx.db
    .select()
    .from(transfers)
    .where(eq(transfers.serverId, serverId))
    .orderBy(desc(transfers.id))
    .limit(1)
  return newest ?? null
}

/** Finds the newest transfer of a server. Refuses with 404 an unknown server and one that was never transferred. */
export async function findTransfer(panel: Panel, serverId: number): Promise<Transfer> {
  const transfer = await findNewestTransfer(panel, serverId)
  if (!transfer) throw notFound()
  return transfer
}

/** Locks a server and its open transfer until the transaction ends; null without one. */
export async function lockOpenTransfer(tx: Tx, serverId: number): Promise<OpenTransfer | null> {
  const [server] = await tx.db.select().from(servers).where(eq(servers.id, serverId)).for('update')
  if (!server) return null
  const transfer = await findNewestTransfer(tx, serverId)
  return transfer?.successful === null ? { server, transfer } : null
}

/**
 * Ends an open transfer whose server is locked; call it in a transaction. After a success the server is on its
 * new node with its new allocations, else its reservation there is released. The node that it left gets its
 * allocations back, without notes, and its memory and disk; a job deletes the server's files there.
 * Spec: docs/servers.md#transfers
 */
export async function completeTransfer(
  tx: Tx,
  { server, transfer }: OpenTransfer,
  successful: boolean,
): Promise<void> {
  const updatedAt = tx.now()
  const leftNodeId = successful ? transfer.oldNodeId : transfer.newNodeId
  await tx.db.update(transfers).set({ successful, updatedAt }).where(eq(transfers.id, transfer.id))
  if (successful) {
    const place = { nodeId: transfer.newNodeId, allocationId: transfer.newAllocationId }
    await tx.db
      .update(servers)
      .set({ ...place, updatedAt })
      .where(eq(servers.id, server.id))
  }
  await releaseAllocations(tx, server, leftNodeId)
  await changeNodeUsage(tx, leftNodeId, { memory: -server.memory, disk: -server.disk })
  await cancelJob(tx, startKey(transfer))
  await cancelJob(tx, expiryKey(transfer))
  await enqueueRemoval(tx, { nodeId: leftNodeId, serverUuid: server.uuid })
}

/**
 * Releases all allocations of the server on the node, also those the transfer does not name: the server cannot
 * use them from another node.
 */
async function releaseAllocations(tx: Tx, server: TransferringServer, nodeId: number): Promise<void> {
  const assigned = and(eq(allocations.serverId, server.id), eq(allocations.nodeId, nodeId))
  await tx.db
    .select({ id: allocations.id })
    .from(allocations)
    .where(assigned)
    .orderBy(allocations.id)
    .for('update')
  await tx.db.update(allocations).set({ serverId: null, notes: null, updatedAt: tx.now() }).where(assigned)
}

/**
 * Fails a transfer if it is open, enqueues a job that has its source stop sending, and runs `record` in the same
 * transaction. Returns false when it had ended before.
 */
export function abandonTransfer(
  panel: Panel,
  { id, serverId }: Pick<Transfer, 'id' | 'serverId'>,
  record: (tx: Tx) => Promise<unknown> = async () => undefined,
): Promise<boolean> {
  return inTransaction(panel, async (tx) => {
    const openTransfer = await lockOpenTransfer(tx, serverId)
    if (openTransfer?.transfer.id !== id) return false
    await completeTransfer(tx, openTransfer, false)
    await enqueueJob(
      tx,
      'cancel-transfer',
      { nodeId: openTransfer.transfer.oldNodeId, serverUuid: openTransfer.server.uuid },
      {
        key: cancellationKey(openTransfer.transfer),
        runAt: new Date(tx.now().getTime() + jobDelaySeconds * 1000),
      },
    )
    await record(tx)
    return true
  })
}

/** Whether the server is being transferred. */
export async function isTransferring(panel: Panel, serverUuid: string): Promise<boolean> {
  const [openTransfer] = await panel.db
    .select({ id: transfers.id })
    .from(transfers)
    .innerJoin(servers, isOpenTransfer())
    .where(eq(servers.uuid, serverUuid))
  return openTransfer !== undefined
}

/**
 * Completes a transfer as one of its nodes reports: either may report a failure, only the new one a success. A
 * job has the other node delete the server. Refuses with 404 an unknown server; with 403 a node that is not
 * part of the transfer, and a success from the old one; with 409 when the server is not being transferred, so
 * that a late or second report changes nothing. Spec: docs/servers.md#transfers.
 * Wings: POST /servers/{uuid}/transfer/success, …/failure
 */
export function finishTransfer(
  panel: Panel,
  node: Node,
  identifier: string,
  successful: boolean,
): Promise<void> {
  return inTransaction(panel, async (tx) => {
    const server = await lockServerByIdentifier(tx, identifier)
    const transfer = await findNewestTransfer(tx, server.id)
    const involved = [server.nodeId, transfer?.oldNodeId, transfer?.newNodeId]
    if (!involved.includes(node.id)) throw serverOfAnotherNode()
    if (transfer?.successful !== null)
      throw conflict('server_not_transferring', 'The server is not being transferred.')
    if (successful && node.id !== transfer.newNodeId) {
      throw forbidden('callback_refused', 'Only the target node may report a successful transfer.')
    }
    await completeTransfer(tx, { server, transfer }, successful)
  })
}
