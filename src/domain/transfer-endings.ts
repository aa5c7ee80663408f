import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { allocations, nodes, servers, transfers } from '../db/schema.ts'
import type { Server } from '../db/tables/servers.ts'
import type { Transfer } from '../db/tables/transfers.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { cancelJob, enqueue } from './jobs.ts'
import { enqueueRemoval } from './servers/node-jobs.ts'

/** Seconds which the request that gives a transfer up has to tell the source itself. */
const headStart = 15

export type MovingServer = Pick<Server, 'id' | 'uuid' | 'memory' | 'disk'>
export type OpenTransfer = { server: MovingServer; transfer: Transfer }

/** Under which the job that gives the order again waits. */
export const startKey = ({ id }: Pick<Transfer, 'id'>) => `start-transfer:${id}`
/** Under which the job that ends a transfer nobody reports of waits. */
export const expiryKey = ({ id }: Pick<Transfer, 'id'>) => `expire-transfer:${id}`
/** Under which the job that has the source stop sending waits. */
export const cancellationKey = ({ id }: Pick<Transfer, 'id'>) => `cancel-transfer:${id}`

/** The newest transfer of a server, or null. An open one always is the newest. */
export async function newestTransfer(panel: Panel, serverId: number): Promise<Transfer | null> {
  const [newest] = await panel.db
    .select()
    .from(transfers)
    .where(eq(transfers.serverId, serverId))
    .orderBy(desc(transfers.id))
    .limit(1)
  return newest ?? null
}

/** The open transfer of a server, both held until the transaction ends; null without one. */
export async function lockOpenTransfer(panel: Panel, serverId: number): Promise<OpenTransfer | null> {
  const [server] = await panel.db.select().from(servers).where(eq(servers.id, serverId)).for('update')
  if (!server) return null
  const transfer = await newestTransfer(panel, serverId)
  return transfer?.successful === null ? { server, transfer } : null
}

/**
 * Ends an open transfer whose server is locked; call it in a transaction. After a success the server stands on
 * its new node with its new allocations, else nothing of it is reserved there. The node it is not on any more
 * gets back allocations, without their notes, and its share, and a job removes there what is left of the server.
 * Spec: States and transitions, server transfer
 */
export async function endTransfer(
  panel: Panel,
  { server, transfer }: OpenTransfer,
  successful: boolean,
): Promise<void> {
  const updatedAt = panel.now()
  const left = successful ? transfer.oldNodeId : transfer.newNodeId
  await panel.db.update(transfers).set({ successful, updatedAt }).where(eq(transfers.id, transfer.id))
  if (successful) {
    const place = { nodeId: transfer.newNodeId, allocationId: transfer.newAllocationId }
    await panel.db
      .update(servers)
      .set({ ...place, updatedAt })
      .where(eq(servers.id, server.id))
  }
  await releaseAllocations(panel, server, left)
  await panel.db
    .update(nodes)
    .set({
      usedMemory: sql`${nodes.usedMemory} - ${server.memory}`,
      usedDisk: sql`${nodes.usedDisk} - ${server.disk}`,
    })
    .where(eq(nodes.id, left))
  await cancelJob(panel, startKey(transfer))
  await cancelJob(panel, expiryKey(transfer))
  await enqueueRemoval(panel, { nodeId: left, serverUuid: server.uuid })
}

/** Whatever the server has on that node, not only what the transfer names: it cannot use it from elsewhere. */
async function releaseAllocations(panel: Panel, server: MovingServer, nodeId: number): Promise<void> {
  const held = and(eq(allocations.serverId, server.id), eq(allocations.nodeId, nodeId))
  await panel.db
    .select({ id: allocations.id })
    .from(allocations)
    .where(held)
    .orderBy(allocations.id)
    .for('update')
  await panel.db.update(allocations).set({ serverId: null, notes: null, updatedAt: panel.now() }).where(held)
}

/**
 * Fails a transfer without asking anybody, if it still is open; a job has its source stop sending. False when it
 * was over before.
 */
export function abandonTransfer(
  panel: Panel,
  { id, serverId }: Pick<Transfer, 'id' | 'serverId'>,
): Promise<boolean> {
  return inTransaction(panel, async (inner) => {
    const open = await lockOpenTransfer(inner, serverId)
    if (open?.transfer.id !== id) return false
    await endTransfer(inner, open, false)
    await enqueue(
      inner,
      'cancel-transfer',
      { nodeId: open.transfer.oldNodeId, serverUuid: open.server.uuid },
      { key: cancellationKey(open.transfer), runAt: new Date(inner.now().getTime() + headStart * 1000) },
    )
    return true
  })
}

/** Whether a transfer of the server is open. */
export async function isTransferring(panel: Panel, serverUuid: string): Promise<boolean> {
  const [open] = await panel.db
    .select({ id: transfers.id })
    .from(transfers)
    .innerJoin(servers, eq(servers.id, transfers.serverId))
    .where(and(eq(servers.uuid, serverUuid), isNull(transfers.successful)))
  return open !== undefined
}
