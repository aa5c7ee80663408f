import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import * as z from 'zod'
import { rowsOf, single } from '../../db/database.ts'
import { allocations, servers } from '../../db/schema.ts'
import type { Allocation } from '../../db/tables/allocations.ts'
import type { Server } from '../../db/tables/servers.ts'
import { displayError, notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { presentNullable, text } from '../fields.ts'
import type { ServerAccess } from '../servers/access.ts'
import type { PortRange } from '../servers/deploy.ts'
import { findServerNode, lockServer } from '../servers/lock.ts'
import { refuseConflict } from '../servers/state.ts'
import { getSettings } from '../settings/settings.ts'

/** An allocation of a server, and whether it is its primary one. */
export type ServerAllocation = Allocation & { isDefault: boolean }

/** The notes of an allocation. Spec: docs/servers.md#allocations. */
export const NotesInput = () => z.object({ notes: presentNullable(text(256)) })

/** Lists the allocations of a server by id. Spec: docs/servers.md#allocations. */
export async function listServerAllocations(
  panel: Panel,
  { server }: Pick<ServerAccess, 'server'>,
): Promise<ServerAllocation[]> {
  const rows = await panel.db
    .select()
    .from(allocations)
    .where(eq(allocations.serverId, server.id))
    .orderBy(asc(allocations.id))
  return rows.map((row) => ({ ...row, isDefault: row.id === server.allocationId }))
}

/**
 * Adds an allocation to a server, at the address of its primary one: a free one, else a new one with a random
 * port of the configured range. Records `server:allocation.create`. The daemon learns of it when the server
 * starts.
 *
 * Refuses with 400 while automatic allocation is off, at the server's limit, where none means 0, and when no
 * port is free; with 409 in a state that does not allow changes. Spec: docs/servers.md#allocations.
 */
export async function addServerAllocation(
  panel: Panel,
  { server: { id } }: Pick<ServerAccess, 'server'>,
): Promise<ServerAllocation> {
  const range = await readPortRange(panel)
  return inTransaction(panel, async (tx) => {
    const server = await lockServerForChange(tx, id)
    const assigned = await tx.db.select().from(allocations).where(eq(allocations.serverId, id))
    if (assigned.length >= (server.allocationLimit ?? 0)) {
      throw displayError('allocation_limit_reached', 'This server has reached its allocation limit.')
    }
    const primary = single(assigned.filter((each) => each.id === server.allocationId))
    const added =
      (await assignFreeAllocation(tx, primary)) ?? (range && (await createAllocation(tx, primary, range)))
    if (!added) {
      throw displayError('no_free_port', 'No free port is left for this server.', {
        code: 'NoAutoAllocationSpaceAvailableException',
      })
    }
    await recordEvent(tx, 'server:allocation.create', toAllocationActivity(added))
    return { ...added, isDefault: false }
  })
}

/**
 * Changes the notes of an allocation. Records `server:allocation.notes` when they differ. Refuses with 404 an
 * allocation of another server. Spec: docs/servers.md#allocations.
 */
export async function changeAllocationNotes(
  panel: Panel,
  access: Pick<ServerAccess, 'server'>,
  allocationId: number,
  notes: string | null,
): Promise<ServerAllocation> {
  return inTransaction(panel, async (tx) => {
    const { allocation } = await lockAllocation(tx, access.server.id, allocationId)
    if (allocation.notes === notes) return allocation
    await tx.db
      .update(allocations)
      .set({ notes, updatedAt: tx.now() })
      .where(eq(allocations.id, allocationId))
    const { properties, ...occurrence } = toAllocationActivity(allocation)
    const change = { ...properties, old: allocation.notes, new: notes }
    await recordEvent(tx, 'server:allocation.notes', { ...occurrence, properties: change })
    return { ...allocation, notes }
  })
}

/**
 * Makes the allocation the server's primary one; the daemon learns of it when the server starts. Records
 * `server:allocation.primary` unless it was. Refuses with 404 an allocation of another server.
 * Spec: docs/servers.md#allocations.
 */
export async function setPrimaryAllocation(
  panel: Panel,
  access: Pick<ServerAccess, 'server'>,
  allocationId: number,
): Promise<ServerAllocation> {
  return inTransaction(panel, async (tx) => {
    const { server, allocation } = await lockAllocation(tx, access.server.id, allocationId)
    if (allocation.isDefault) return allocation
    await tx.db.update(servers).set({ allocationId, updatedAt: tx.now() }).where(eq(servers.id, server.id))
    await recordEvent(tx, 'server:allocation.primary', toAllocationActivity(allocation))
    return { ...allocation, isDefault: true }
  })
}

/**
 * Releases an allocation of a server and empties its notes. Records `server:allocation.delete`. Refuses with
 * 404 an allocation of another server; with 400 the primary one, and any while the server has no limit by which
 * it could add another. Spec: docs/servers.md#allocations.
 */
export async function removeServerAllocation(
  panel: Panel,
  access: Pick<ServerAccess, 'server'>,
  allocationId: number,
): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const { server, allocation } = await lockAllocation(tx, access.server.id, allocationId)
    if (!server.allocationLimit) {
      throw displayError(
        'allocation_limit_missing',
        'Allocations cannot be removed from a server without an allocation limit.',
      )
    }
    if (allocation.isDefault)
      throw displayError('primary_allocation', 'The primary allocation cannot be removed.')
    await tx.db
      .update(allocations)
      .set({ serverId: null, notes: null, updatedAt: tx.now() })
      .where(eq(allocations.id, allocationId))
    await recordEvent(tx, 'server:allocation.delete', toAllocationActivity(allocation))
  })
}

/**
 * Returns the range of ports for new allocations; null when none may be created. Refuses with 400 while the
 * feature is off.
 */
async function readPortRange(panel: Panel): Promise<PortRange | null> {
  const settings = await getSettings(panel, [
    'features.auto_allocation',
    'auto_allocation.range_start',
    'auto_allocation.range_end',
  ])
  if (!settings['features.auto_allocation']) {
    throw displayError('allocations_disabled', 'Adding allocations is disabled.', {
      code: 'AutoAllocationNotEnabledException',
    })
  }
  const from = settings['auto_allocation.range_start']
  const to = settings['auto_allocation.range_end']
  return from === null || to === null ? null : { from, to }
}

/** Locks the server and checks its state again, which may have changed since the request was authorized. */
async function lockServerForChange(tx: Tx, serverId: number): Promise<Server> {
  const server = await lockServer(tx, serverId)
  const { node, targetNodeId } = await findServerNode(tx, server)
  refuseConflict({ server, node, isTransferring: targetNodeId !== null })
  return server
}

async function lockAllocation(
  tx: Tx,
  serverId: number,
  id: number,
): Promise<{ server: Server; allocation: ServerAllocation }> {
  const server = await lockServerForChange(tx, serverId)
  const [row] = await tx.db
    .select()
    .from(allocations)
    .where(and(eq(allocations.id, id), eq(allocations.serverId, serverId)))
    .for('update')
  if (!row) throw notFound()
  return { server, allocation: { ...row, isDefault: id === server.allocationId } }
}

/** Assigns a random free allocation of the address; skips those that other transactions are about to take. */
async function assignFreeAllocation(tx: Tx, primary: Allocation): Promise<Allocation | null> {
  const [free] = await tx.db
    .select({ id: allocations.id })
    .from(allocations)
    .where(
      and(
        eq(allocations.nodeId, primary.nodeId),
        eq(allocations.ip, primary.ip),
        isNull(allocations.serverId),
      ),
    )
    .orderBy(sql`random()`)
    .limit(1)
    .for('update', { skipLocked: true })
  if (!free) return null
  return single(
    await tx.db
      .update(allocations)
      .set({ serverId: primary.serverId, notes: null, updatedAt: tx.now() })
      .where(eq(allocations.id, free.id))
      .returning(),
  )
}

/**
 * Creates an allocation with a random free port. A port that another transaction creates meanwhile is no
 * candidate any more, so the loop ends.
 */
async function createAllocation(tx: Tx, primary: Allocation, range: PortRange): Promise<Allocation | null> {
  const { nodeId, ip, ipAlias, serverId } = primary
  for (;;) {
    const port = await pickFreePort(tx, primary, range)
    if (port === null) return null
    const [created] = await tx.db
      .insert(allocations)
      .values({ nodeId, ip, ipAlias, serverId, port })
      .onConflictDoNothing()
      .returning()
    if (created) return created
  }
}

/** Picks a random port of the range that the node does not have at this address; null when it has them all. */
async function pickFreePort(
  tx: Tx,
  { nodeId, ip }: Pick<Allocation, 'nodeId' | 'ip'>,
  { from, to }: PortRange,
): Promise<number | null> {
  const known = tx.db
    .select({ port: allocations.port })
    .from(allocations)
    .where(and(eq(allocations.nodeId, nodeId), eq(allocations.ip, ip)))
  const result = await tx.db.execute(
    sql`select port from generate_series(${from}::int, ${to}::int) as port
      where port not in ${known} order by random() limit 1`,
  )
  return rowsOf<{ port: number }>(result)[0]?.port ?? null
}

const toAllocationActivity = ({ id, ip, port, serverId }: Allocation) => ({
  ...(serverId === null ? {} : { serverId }),
  properties: { allocation: ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}` },
  subjects: [{ type: 'allocation' as const, id }],
})
