import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { allocations, jobs, nodes, transfers } from '../../db/schema.ts'
import type { Allocation } from '../../db/tables/allocations.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import type { Transfer } from '../../db/tables/transfers.ts'
import { conflict, type Failure, invalid, notFound, serverStateConflict } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { deleteEntry, type EntryKey } from '../activity/record.ts'
import { rowId, withFieldAliases } from '../fields.ts'
import { cancelJob, enqueueJob } from '../jobs/enqueue.ts'
import { toDaemonApiError } from '../nodes/daemon-errors.ts'
import { recordServerEvent } from '../servers/audit.ts'
import { hasRoom, noViableNode } from '../servers/deploy.ts'
import { lockServer } from '../servers/lock.ts'
import { removalKey } from '../servers/node-jobs.ts'
import { changeNodeUsage } from '../servers/node-usage.ts'
import { abandonTransfer, expiryKey, findNewestTransfer, startKey } from './completion.ts'
import { dispatchTransfer, type TransferDispatch } from './dispatch.ts'

/** Milliseconds after which a transfer without a report has failed. */
const maxTransferMs = 24 * 60 * 60 * 1000
/** Milliseconds after which a job repeats the start of a transfer: longer than the call takes. */
const startDelayMs = 60_000
/** Seconds for which the expiry job is retried. */
const expiryLifetimeSeconds = 30 * 86_400
const maxAdditionalAllocations = 500

/** Other panels name these fields differently. */
const fieldAliases = {
  node_id: 'node',
  allocation_id: 'allocation',
  allocation_additional: 'additional_allocations',
}

/** The target of a transfer; `allocation` becomes the primary one there. */
export const TransferInput = () =>
  withFieldAliases(
    fieldAliases,
    z.object({
      node: rowId(),
      allocation: rowId(),
      additional_allocations: z.array(rowId()).max(maxAdditionalAllocations, 'max').nullish(),
    }),
  )
type TransferInput = z.output<ReturnType<typeof TransferInput>>

/**
 * Starts the transfer of a server to another node: its daemon stops the server and sends its files there. Until
 * a daemon reports the end, or for a day, the server is locked and counts on both nodes.
 *
 * Refuses with 404 an unknown server; with 409 one that is not installed, being restored or being transferred,
 * and a node that still has to delete an earlier copy; with 422 the same or an unknown node and allocations
 * that are taken or on another node; with 400 a node without room; with the daemon's status, 502 or 504 when
 * the source does not accept it, and nothing stays reserved. When the request dies on the way, a job repeats
 * the start after a minute. Records `admin:transfer.start`. Spec: docs/servers.md#transfers. Wings: POST /api/servers/{uuid}/transfer
 */
export async function startTransfer(panel: Panel, serverId: number, input: TransferInput): Promise<Transfer> {
  const { transfer, dispatch, entry } = await inTransaction(panel, (tx) =>
    reserveTransfer(tx, serverId, input),
  )
  try {
    await dispatchTransfer(panel, dispatch)
  } catch (error) {
    await abandonTransfer(panel, transfer, (tx) => deleteEntry(tx, entry))
    throw toDaemonApiError(error)
  }
  await cancelJob(panel, startKey(transfer))
  return transfer
}

type ReservedTransfer = { transfer: Transfer; dispatch: TransferDispatch; entry: EntryKey }

/** Locks the server, then the allocations, then the nodes, each by id, and reserves the target; all or nothing. */
async function reserveTransfer(tx: Tx, serverId: number, input: TransferInput): Promise<ReservedTransfer> {
  const server = await lockTransferableServer(tx, serverId)
  const allocationIds = [...new Set([input.allocation, ...(input.additional_allocations ?? [])])]
  const free = await tx.db
    .select()
    .from(allocations)
    .where(and(inArray(allocations.id, allocationIds), isNull(allocations.serverId)))
    .orderBy(allocations.id)
    .for('update')
  const lockedNodes = await lockNodes(tx, server, input.node)
  const [source, target] = [server.nodeId, input.node].map((id) =>
    lockedNodes.find(({ node }) => node.id === id),
  )
  requireValidTarget(server, input, allocationIds, free, target?.node)
  if (!source || !target) throw notFound()
  if (!target.isRoomy) throw noViableNode()
  await refuseLeftoverCopy(tx, server, input.node)
  const transfer = await storeTransfer(tx, server, target.node, allocationIds)
  const entry = await recordServerEvent(tx, 'admin:transfer.start', server, { node: target.node.name })
  return { transfer, entry, dispatch: { server, source: source.node, target: target.node } }
}

async function lockTransferableServer(tx: Tx, serverId: number): Promise<Server> {
  const server = await lockServer(tx, serverId)
  const { status, installedAt } = server
  const isInstalled = status === 'suspended' ? installedAt !== null : !status?.startsWith('install')
  if (!isInstalled) throw serverStateConflict('server_not_installed', 'The server has not been installed.')
  if (status === 'restoring_backup')
    throw serverStateConflict('server_restoring', 'The server is being restored from a backup.')
  const newest = await findNewestTransfer(tx, serverId)
  if (newest?.successful === null)
    throw serverStateConflict(
      'server_already_transferring',
      'The server is already being transferred to another node.',
    )
  return server
}

/** Locks both nodes without blocking inserts of rows that refer to them. */
const lockNodes = (tx: Tx, server: Server, targetId: number) =>
  tx.db
    .select({ node: nodes, isRoomy: sql<boolean>`${hasRoom(server)}` })
    .from(nodes)
    .where(inArray(nodes.id, [server.nodeId, targetId]))
    .orderBy(nodes.id)
    .for('no key update')

function requireValidTarget(
  server: Server,
  input: TransferInput,
  allocationIds: number[],
  free: Allocation[],
  target: Node | undefined,
): void {
  const problems: Failure[] = []
  const missing = (field: string) =>
    problems.push({
      field,
      rule: 'exists',
      detail: `The ${field} is not available.`,
      reason: 'not_available',
    })
  if (input.node === server.nodeId) {
    problems.push({
      field: 'node',
      rule: 'not_in',
      detail: 'The server is already on this node.',
      reason: 'server_on_node',
    })
  } else if (!target) {
    missing('node')
  }
  const usable = new Set(free.filter(({ nodeId }) => nodeId === input.node).map(({ id }) => id))
  if (!usable.has(input.allocation)) missing('allocation')
  for (const [at, id] of (input.additional_allocations ?? []).entries()) {
    if (id !== input.allocation && !usable.has(id)) missing(`additional_allocations.${at}`)
  }
  if (problems.length > 0) throw invalid(problems)
  if (usable.size !== allocationIds.length)
    throw new Error('A locked allocation is neither free nor refused.')
}

/**
 * Refuses with 409 while the target has to delete an earlier copy, which would be mixed with the new one or
 * deleted with it.
 */
async function refuseLeftoverCopy(tx: Tx, server: Server, nodeId: number): Promise<void> {
  const key = removalKey({ nodeId, serverUuid: server.uuid })
  const [waiting] = await tx.db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.key, key), eq(jobs.state, 'waiting')))
  if (waiting)
    throw conflict(
      'earlier_copy',
      'The node still has to delete an earlier copy of this server. Try again shortly.',
    )
}

async function storeTransfer(
  tx: Tx,
  server: Server,
  target: Node,
  [primary = 0, ...additional]: number[],
): Promise<Transfer> {
  const now = tx.now()
  const assigned = await tx.db
    .select({ id: allocations.id })
    .from(allocations)
    .where(eq(allocations.serverId, server.id))
    .orderBy(allocations.id)
  const values = {
    serverId: server.id,
    oldNodeId: server.nodeId,
    newNodeId: target.id,
    oldAllocationId: server.allocationId,
    newAllocationId: primary,
    oldAdditionalAllocations: assigned.map(({ id }) => id).filter((id) => id !== server.allocationId),
    newAdditionalAllocations: additional,
    deadlineAt: new Date(now.getTime() + maxTransferMs),
    createdAt: now,
    updatedAt: now,
  }
  const taken = inArray(allocations.id, [primary, ...additional])
  await tx.db.update(allocations).set({ serverId: server.id }).where(taken)
  await changeNodeUsage(tx, target.id, server)
  const transfer = single(await tx.db.insert(transfers).values(values).returning())
  await enqueueTransferJobs(tx, transfer, values.deadlineAt)
  return transfer
}

/**
 * Enqueues the job that repeats the start when this process dies, and the one that fails the transfer at its
 * deadline.
 */
async function enqueueTransferJobs(tx: Tx, transfer: Transfer, deadlineAt: Date): Promise<void> {
  const ids = { transferId: transfer.id, serverId: transfer.serverId }
  const startAt = new Date(tx.now().getTime() + startDelayMs)
  await enqueueJob(
    tx,
    'start-transfer',
    { transferId: transfer.id },
    { key: startKey(transfer), runAt: startAt },
  )
  await enqueueJob(tx, 'expire-transfer', ids, {
    key: expiryKey(transfer),
    runAt: deadlineAt,
    lifetimeSeconds: expiryLifetimeSeconds,
  })
}
