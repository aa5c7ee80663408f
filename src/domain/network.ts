import { and, asc, eq, isNull, sql } from 'drizzle-orm'
import * as z from 'zod'
import { only, rowsOf } from '../db/database.ts'
import { allocations, servers } from '../db/schema.ts'
import type { Allocation } from '../db/tables/allocations.ts'
import type { Server } from '../db/tables/servers.ts'
import { displayError, notFound } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { record } from './activity.ts'
import type { ReachedServer } from './credentials.ts'
import { present, text } from './fields.ts'
import { refuseConflict } from './server-state.ts'
import { lockServer, placeOf } from './servers/lock.ts'
import { settingsOf } from './settings.ts'

/** An allocation of a server, and whether it is its primary one. */
export type ServerAllocation = Allocation & { isDefault: boolean }

type PortRange = { from: number; to: number }

/** Spec: Client API, network. */
export const NotesInput = () => z.object({ notes: present(text(256)) })

/** The allocations of a server in the order of their ids. Spec: Client API, network. */
export async function listServerAllocations(
  panel: Panel,
  { server }: Pick<ReachedServer, 'server'>,
): Promise<ServerAllocation[]> {
  const rows = await panel.db
    .select()
    .from(allocations)
    .where(eq(allocations.serverId, server.id))
    .orderBy(asc(allocations.id))
  return rows.map((row) => ({ ...row, isDefault: row.id === server.allocationId }))
}

/**
 * The server has one allocation more, on the address of its primary one: any that is free, else a new one
 * with a random port of the configured range. Records `server:allocation.create`; the daemon learns of it
 * when the server starts.
 *
 * Refuses with 400 while automatic allocation is off, at the server's limit, where none is no allocation, and
 * when no port is left; with 409 in a state that does not allow it. Spec: Client API, network.
 */
export async function addServerAllocation(
  panel: Panel,
  { server: { id } }: Pick<ReachedServer, 'server'>,
): Promise<ServerAllocation> {
  const range = await readRange(panel)
  return inTransaction(panel, async (panel) => {
    const server = await lockForChange(panel, id)
    const held = await panel.db.select().from(allocations).where(eq(allocations.serverId, id))
    if (held.length >= (server.allocationLimit ?? 0)) {
      throw displayError('This server has all the allocations it may have.')
    }
    const primary = only(held.filter((each) => each.id === server.allocationId))
    const added = (await takeFree(panel, primary)) ?? (range && (await makeOne(panel, primary, range)))
    if (!added) {
      throw displayError('No port is left for this server.', 'NoAutoAllocationSpaceAvailableException')
    }
    await record(panel, 'server:allocation.create', occurrenceOf(added))
    return { ...added, isDefault: false }
  })
}

/**
 * The allocation has these notes, or none. Records `server:allocation.notes` when they are others than
 * before. Refuses with 404 one of another server. Spec: Client API, network.
 */
export async function changeNotes(
  panel: Panel,
  reached: Pick<ReachedServer, 'server'>,
  allocationId: number,
  notes: string | null,
): Promise<ServerAllocation> {
  return inTransaction(panel, async (panel) => {
    const { allocation } = await lockAllocation(panel, reached.server.id, allocationId)
    if (allocation.notes === notes) return allocation
    await panel.db
      .update(allocations)
      .set({ notes, updatedAt: panel.now() })
      .where(eq(allocations.id, allocationId))
    const { properties, ...occurrence } = occurrenceOf(allocation)
    const change = { ...properties, old: allocation.notes, new: notes }
    await record(panel, 'server:allocation.notes', { ...occurrence, properties: change })
    return { ...allocation, notes }
  })
}

/**
 * The allocation is the server's primary one; the daemon learns of it when the server starts. Records
 * `server:allocation.primary` unless it was. Refuses with 404 one of another server. Spec: Client API, network.
 */
export async function makePrimary(
  panel: Panel,
  reached: Pick<ReachedServer, 'server'>,
  allocationId: number,
): Promise<ServerAllocation> {
  return inTransaction(panel, async (panel) => {
    const { server, allocation } = await lockAllocation(panel, reached.server.id, allocationId)
    if (allocation.isDefault) return allocation
    await panel.db
      .update(servers)
      .set({ allocationId, updatedAt: panel.now() })
      .where(eq(servers.id, server.id))
    await record(panel, 'server:allocation.primary', occurrenceOf(allocation))
    return { ...allocation, isDefault: true }
  })
}

/**
 * The allocation is free, its notes are gone. Records `server:allocation.delete`. Refuses with 404 one of
 * another server, with 400 the primary one, and any while the server has no limit by which it could get
 * another. Spec: Client API, network.
 */
export async function giveBackAllocation(
  panel: Panel,
  reached: Pick<ReachedServer, 'server'>,
  allocationId: number,
): Promise<void> {
  await inTransaction(panel, async (panel) => {
    const { server, allocation } = await lockAllocation(panel, reached.server.id, allocationId)
    if (!server.allocationLimit) {
      throw displayError('The allocations of this server are fixed: it has no limit of its own.')
    }
    if (allocation.isDefault) throw displayError('The primary allocation cannot be removed.')
    await panel.db
      .update(allocations)
      .set({ serverId: null, notes: null, updatedAt: panel.now() })
      .where(eq(allocations.id, allocationId))
    await record(panel, 'server:allocation.delete', occurrenceOf(allocation))
  })
}

/** Where ports may be made, or null when they may not. Refuses with 400 while the feature is off. */
async function readRange(panel: Panel): Promise<PortRange | null> {
  const settings = await settingsOf(panel, [
    'features.auto_allocation',
    'auto_allocation.range_start',
    'auto_allocation.range_end',
  ])
  if (!settings['features.auto_allocation']) {
    throw displayError('Allocations cannot be added here.', 'AutoAllocationNotEnabledException')
  }
  const from = settings['auto_allocation.range_start']
  const to = settings['auto_allocation.range_end']
  return from === null || to === null ? null : { from, to }
}

/** What keeps a server from being changed may have begun since the caller was let through. */
async function lockForChange(panel: Panel, serverId: number): Promise<Server> {
  const server = await lockServer(panel, serverId)
  const { node, movingTo } = await placeOf(panel, server)
  refuseConflict({ server, node, isTransferring: movingTo !== null })
  return server
}

async function lockAllocation(
  panel: Panel,
  serverId: number,
  id: number,
): Promise<{ server: Server; allocation: ServerAllocation }> {
  const server = await lockForChange(panel, serverId)
  const [row] = await panel.db
    .select()
    .from(allocations)
    .where(and(eq(allocations.id, id), eq(allocations.serverId, serverId)))
    .for('update')
  if (!row) throw notFound()
  return { server, allocation: { ...row, isDefault: id === server.allocationId } }
}

/** Whoever else is about to take one holds another one. */
async function takeFree(panel: Panel, primary: Allocation): Promise<Allocation | null> {
  const [free] = await panel.db
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
  return only(
    await panel.db
      .update(allocations)
      .set({ serverId: primary.serverId, notes: null, updatedAt: panel.now() })
      .where(eq(allocations.id, free.id))
      .returning(),
  )
}

/** A port that somebody else has just made is no candidate any more, so this ends. */
async function makeOne(panel: Panel, primary: Allocation, range: PortRange): Promise<Allocation | null> {
  const { nodeId, ip, ipAlias, serverId } = primary
  for (;;) {
    const port = await drawPort(panel, primary, range)
    if (port === null) return null
    const [made] = await panel.db
      .insert(allocations)
      .values({ nodeId, ip, ipAlias, serverId, port })
      .onConflictDoNothing()
      .returning()
    if (made) return made
  }
}

/** A random port of the range that the node does not have on this address, or null when it has them all. */
async function drawPort(
  panel: Panel,
  { nodeId, ip }: Pick<Allocation, 'nodeId' | 'ip'>,
  { from, to }: PortRange,
): Promise<number | null> {
  const known = panel.db
    .select({ port: allocations.port })
    .from(allocations)
    .where(and(eq(allocations.nodeId, nodeId), eq(allocations.ip, ip)))
  const drawn = await panel.db.execute(
    sql`select port from generate_series(${from}::int, ${to}::int) as port
      where port not in ${known} order by random() limit 1`,
  )
  return rowsOf<{ port: number }>(drawn)[0]?.port ?? null
}

const occurrenceOf = ({ id, ip, port, serverId }: Allocation) => ({
  ...(serverId === null ? {} : { serverId }),
  properties: { allocation: ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}` },
  subjects: [{ type: 'allocation' as const, id }],
})
