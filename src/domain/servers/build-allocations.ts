import { and, eq, exists, inArray, isNull, ne, or, sql } from 'drizzle-orm'
import { allocations, servers } from '../../db/schema.ts'
import type { Allocation } from '../../db/tables/allocations.ts'
import type { Server } from '../../db/tables/servers.ts'
import { displayError } from '../../errors.ts'
import type { Tx } from '../../panel.ts'
import { invalidField } from '../validation.ts'

/** Ids of the wanted primary allocation, and of those to add and to remove. */
export type AllocationChanges = {
  allocation: number
  add_allocations?: number[] | null | undefined
  remove_allocations?: number[] | null | undefined
}

/**
 * Assigns the free ones of `add_allocations` to the locked server and releases its own of `remove_allocations`,
 * unless they are in both; empties the notes of both. Skips ids that do not fit or are on another node. Returns
 * the id of the primary allocation afterwards: the wanted one, or the first added one when that is released.
 *
 * Refuses with 422 a primary allocation that does not exist or belongs to another server, with 400 one that is
 * not the server's afterwards. Spec: patchApplicationServersByServerBuild.
 */
export async function changeAllocations(
  tx: Tx,
  server: Pick<Server, 'id' | 'nodeId'>,
  changes: AllocationChanges,
): Promise<number> {
  const added = new Set(changes.add_allocations ?? [])
  const removed = new Set(changes.remove_allocations ?? [])
  const rows = await lockAllocations(tx, server, [changes.allocation, ...added, ...removed])
  const taken = rows.filter(({ id, serverId }) => serverId === null && added.has(id))
  const own = rows.filter(({ serverId }) => serverId !== null)
  const [leaving, staying] = partition(own, ({ id }) => removed.has(id) && !added.has(id))
  const primary = await choosePrimary(tx, server, changes.allocation, { taken, leaving, staying })
  await assignAllocations(tx, taken, server.id)
  await assignAllocations(tx, leaving, null)
  return primary
}

/** Locks those of the node's allocations that are free or the server's own. */
function lockAllocations(
  tx: Tx,
  server: Pick<Server, 'id' | 'nodeId'>,
  ids: number[],
): Promise<Allocation[]> {
  const isFreeOrOwn = or(isNull(allocations.serverId), eq(allocations.serverId, server.id))
  return tx.db
    .select()
    .from(allocations)
    .where(and(inArray(allocations.id, ids), eq(allocations.nodeId, server.nodeId), isFreeOrOwn))
    .orderBy(allocations.id)
    .for('update')
}

type AllocationGroups = Record<'taken' | 'leaving' | 'staying', Allocation[]>

async function choosePrimary(
  tx: Tx,
  server: Pick<Server, 'id'>,
  requestedId: number,
  { taken, leaving, staying }: AllocationGroups,
): Promise<number> {
  const isRequested = ({ id }: Allocation) => id === requestedId
  if (taken.some(isRequested) || staying.some(isRequested)) return requestedId
  if (leaving.some(isRequested)) {
    const [first] = taken
    if (!first)
      throw displayError(
        'primary_allocation_needs_successor',
        'The primary allocation cannot be removed unless another one is added.',
      )
    return first.id
  }
  await refuseUnavailable(tx, server, requestedId)
  throw displayError('primary_allocation_foreign', 'The primary allocation must belong to the server.')
}

async function refuseUnavailable(tx: Tx, server: Pick<Server, 'id'>, id: number): Promise<void> {
  const usedBy = tx.db
    .select({ one: sql`1` })
    .from(servers)
    .where(and(eq(servers.allocationId, id), ne(servers.id, server.id)))
  const [found] = await tx.db
    .select({ isUsed: sql<boolean>`${exists(usedBy)}` })
    .from(allocations)
    .where(eq(allocations.id, id))
  if (!found) throw invalidField('allocation', 'exists', 'The allocation does not exist.')
  if (found.isUsed) throw invalidField('allocation', 'unique', 'The allocation has already been taken.')
}

async function assignAllocations(tx: Tx, rows: Allocation[], serverId: number | null): Promise<void> {
  if (rows.length === 0) return
  const ids = rows.map(({ id }) => id)
  await tx.db
    .update(allocations)
    .set({ serverId, notes: null, updatedAt: tx.now() })
    .where(inArray(allocations.id, ids))
}

function partition<T>(list: T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [list.filter(isFirst), list.filter((item) => !isFirst(item))]
}
