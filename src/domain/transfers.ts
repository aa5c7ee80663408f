import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import * as z from 'zod'
import { only } from '../db/database.ts'
import { allocations, jobs, nodes, servers, transfers } from '../db/schema.ts'
import type { Allocation } from '../db/tables/allocations.ts'
import type { Node } from '../db/tables/nodes.ts'
import type { Server } from '../db/tables/servers.ts'
import type { Transfer } from '../db/tables/transfers.ts'
import { conflict, invalid, notFound, serverStateConflict } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { refuseDaemonFailure } from './daemon-errors.ts'
import { rowId } from './fields.ts'
import { cancelJob, enqueue } from './jobs.ts'
import { hasRoom, noNode } from './servers/deploy.ts'
import { lockServer } from './servers/lock.ts'
import { removalKey } from './servers/node-jobs.ts'
import { abandonTransfer, cancellationKey, expiryKey, newestTransfer, startKey } from './transfer-endings.ts'
import { orderTransfer, type TransferOrder } from './transfer-orders.ts'

/** Milliseconds after which a transfer that nobody reported of has failed. */
const longestTransfer = 24 * 60 * 60 * 1000
/** Milliseconds after which an order that nobody finished is given by its job: longer than the call itself. */
const startGrace = 60_000
/** Seconds for which the end of a transfer is tried: it must not be missed. */
const expiryLifetime = 30 * 86_400
const mostAdditional = 500

const otherSpellings = {
  node_id: 'node',
  allocation_id: 'allocation',
  allocation_additional: 'additional_allocations',
}

/** The ecosystem's forms name the same fields differently. */
const inOneSpelling = (input: unknown) => {
  const fields: Record<string, unknown> = { ...(input as object) }
  for (const [written, name] of Object.entries(otherSpellings)) fields[name] ??= fields[written]
  return fields
}

/** Where a server moves to: `allocation` becomes its primary one there. */
export const TransferInput = () =>
  z.preprocess(
    inOneSpelling,
    z.object({
      node: rowId(),
      allocation: rowId(),
      additional_allocations: z.array(rowId()).max(mostAdditional, 'max').nullish(),
    }),
  )
type TransferInput = z.output<ReturnType<typeof TransferInput>>

/**
 * Moves a server to another node: its daemon stops it and sends its files there, which goes on by itself. Until
 * one of the daemons reports the end, or for a day, the server is locked and counts on both nodes.
 *
 * Refuses with 404 an unknown server; with 409 one that is not installed, being restored or moved already, and a
 * node that still has to remove an earlier copy; with 422 the same or an unknown node and allocations that are
 * taken or elsewhere; with 400 a node without room; with the daemon's status, 502 or 504 when the source does
 * not take the order: then nothing is reserved any more. When this process dies on the way, a job gives the
 * order again after a minute. Wings: POST /api/servers/{uuid}/transfer
 */
export async function startTransfer(panel: Panel, serverId: number, input: TransferInput): Promise<Transfer> {
  const { transfer, order } = await inTransaction(panel, (inner) => reserve(inner, serverId, input))
  try {
    await orderTransfer(panel, order)
  } catch (error) {
    await abandonTransfer(panel, transfer)
    refuseDaemonFailure(error)
  }
  await cancelJob(panel, startKey(transfer))
  return transfer
}

/** The newest transfer of a server. Refuses with 404 an unknown server and one that was never moved. */
export async function findTransfer(panel: Panel, serverId: number): Promise<Transfer> {
  const transfer = await newestTransfer(panel, serverId)
  if (!transfer) throw notFound()
  return transfer
}

/**
 * Gives the open transfer of a server up: it has failed, and the server is free on its old node. The source is
 * told to stop at once, or by a job when it does not answer. Refuses with 404 an unknown server, with 409 one
 * that is not being moved. Wings: DELETE /api/servers/{uuid}/transfer
 */
export async function cancelTransfer(panel: Panel, serverId: number): Promise<void> {
  const [found] = await panel.db
    .select({ server: servers, source: nodes, transfer: transfers })
    .from(servers)
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .leftJoin(transfers, and(eq(transfers.serverId, servers.id), isNull(transfers.successful)))
    .where(eq(servers.id, serverId))
  if (!found) throw notFound()
  const { server, source, transfer } = found
  if (!transfer || !(await abandonTransfer(panel, transfer))) {
    throw conflict('The server is not being moved to another node.')
  }
  try {
    await panel.daemon(source).cancelTransfer(server.uuid)
  } catch {
    // The job that the transaction left tries again.
    return
  }
  await cancelJob(panel, cancellationKey(transfer))
}

type Reserved = { transfer: Transfer; order: TransferOrder }

/** Holds the server, then the allocations, then the nodes, each by id, and takes what the server needs; all or nothing. */
async function reserve(panel: Panel, serverId: number, input: TransferInput): Promise<Reserved> {
  const server = await lockMovable(panel, serverId)
  const wanted = [...new Set([input.allocation, ...(input.additional_allocations ?? [])])]
  const free = await panel.db
    .select()
    .from(allocations)
    .where(and(inArray(allocations.id, wanted), isNull(allocations.serverId)))
    .orderBy(allocations.id)
    .for('update')
  const places = await lockNodes(panel, server, input.node)
  const [source, target] = [server.nodeId, input.node].map((id) => places.find(({ node }) => node.id === id))
  refuseMisfit(server, input, wanted, free, target?.node)
  if (!source || !target) throw notFound()
  if (!target.isRoomy) throw noNode()
  await refuseRemains(panel, server, input.node)
  const transfer = await store(panel, server, target.node, wanted)
  return { transfer, order: { server, source: source.node, target: target.node } }
}

async function lockMovable(panel: Panel, serverId: number): Promise<Server> {
  const server = await lockServer(panel, serverId)
  const { status, installedAt } = server
  const isInstalled = status === 'suspended' ? installedAt !== null : !status?.startsWith('install')
  if (!isInstalled) throw serverStateConflict('The server has not been installed.')
  if (status === 'restoring_backup') throw serverStateConflict('The server is being restored from a backup.')
  const newest = await newestTransfer(panel, serverId)
  if (newest?.successful === null)
    throw serverStateConflict('The server is being moved to another node already.')
  return server
}

/** A weaker lock than one for deleting: rows that point at a node may come and go meanwhile. */
const lockNodes = (panel: Panel, server: Server, targetId: number) =>
  panel.db
    .select({ node: nodes, isRoomy: sql<boolean>`${hasRoom(server)}` })
    .from(nodes)
    .where(inArray(nodes.id, [server.nodeId, targetId]))
    .orderBy(nodes.id)
    .for('no key update')

function refuseMisfit(
  server: Server,
  input: TransferInput,
  wanted: number[],
  free: Allocation[],
  target: Node | undefined,
): void {
  const problems: { field: string; rule: string; detail: string }[] = []
  const missing = (field: string) =>
    problems.push({ field, rule: 'exists', detail: `The ${field} is not available.` })
  if (input.node === server.nodeId) {
    problems.push({ field: 'node', rule: 'not_in', detail: 'The server already stands on this node.' })
  } else if (!target) {
    missing('node')
  }
  const usable = new Set(free.filter(({ nodeId }) => nodeId === input.node).map(({ id }) => id))
  if (!usable.has(input.allocation)) missing('allocation')
  for (const [at, id] of (input.additional_allocations ?? []).entries()) {
    if (id !== input.allocation && !usable.has(id)) missing(`additional_allocations.${at}`)
  }
  if (problems.length > 0) throw invalid(problems)
  if (usable.size !== wanted.length) throw new Error('A locked allocation is neither free nor refused.')
}

/** A copy that its node has not removed yet would be mixed with the one that comes, or removed with it. */
async function refuseRemains(panel: Panel, server: Server, nodeId: number): Promise<void> {
  const key = removalKey({ nodeId, serverUuid: server.uuid })
  const [waiting] = await panel.db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.key, key), eq(jobs.state, 'waiting')))
  if (waiting) throw conflict('The node has yet to remove an earlier copy of this server. Try again soon.')
}

async function store(
  panel: Panel,
  server: Server,
  target: Node,
  [primary = 0, ...additional]: number[],
): Promise<Transfer> {
  const now = panel.now()
  const held = await panel.db
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
    oldAdditionalAllocations: held.map(({ id }) => id).filter((id) => id !== server.allocationId),
    newAdditionalAllocations: additional,
    deadlineAt: new Date(now.getTime() + longestTransfer),
    createdAt: now,
    updatedAt: now,
  }
  const taken = inArray(allocations.id, [primary, ...additional])
  await panel.db.update(allocations).set({ serverId: server.id }).where(taken)
  const share = {
    usedMemory: sql`${nodes.usedMemory} + ${server.memory}`,
    usedDisk: sql`${nodes.usedDisk} + ${server.disk}`,
  }
  await panel.db.update(nodes).set(share).where(eq(nodes.id, target.id))
  const transfer = only(await panel.db.insert(transfers).values(values).returning())
  await enqueueWatch(panel, transfer, values.deadlineAt)
  return transfer
}

/** What takes over when this process dies, and what ends a transfer that nobody reports of. */
async function enqueueWatch(panel: Panel, transfer: Transfer, deadlineAt: Date): Promise<void> {
  const ids = { transferId: transfer.id, serverId: transfer.serverId }
  const startAt = new Date(panel.now().getTime() + startGrace)
  await enqueue(
    panel,
    'start-transfer',
    { transferId: transfer.id },
    { key: startKey(transfer), runAt: startAt },
  )
  await enqueue(panel, 'expire-transfer', ids, {
    key: expiryKey(transfer),
    runAt: deadlineAt,
    lifetimeSeconds: expiryLifetime,
  })
}
