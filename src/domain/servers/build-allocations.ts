import { and, eq, exists, inArray, isNull, ne, or, sql } from 'drizzle-orm'
import { allocations, servers } from '../../db/schema.ts'
import type { Allocation } from '../../db/tables/allocations.ts'
import type { Server } from '../../db/tables/servers.ts'
import { displayError } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { invalidField } from '../validation.ts'

/** Ids: the primary allocation that is wanted, and what the server gets and gives away. */
export type AllocationChanges = {
  allocation: number
  add_allocations?: number[] | null | undefined
  remove_allocations?: number[] | null | undefined
}

/**
 * The locked server has the free ones of `add_allocations`, and of its own no more those of
 * `remove_allocations` which are not among the former; the notes of both are gone. Ids that do not fit, or
 * are of another node, are passed over. Returns the id of its primary allocation afterwards: the wanted one,
 * or the first that was added when that is given away.
 *
 * Refuses with 422 a primary allocation that does not exist or is another server's, with 400 one that is not
 * the server's own afterwards. Spec: Application API, servers/{server}/build.
 */
export async function changeAllocations(
  panel: Panel,
  server: Pick<Server, 'id' | 'nodeId'>,
  changes: AllocationChanges,
): Promise<number> {
  const added = new Set(changes.add_allocations ?? [])
  const removed = new Set(changes.remove_allocations ?? [])
  const rows = await lockAllocations(panel, server, [changes.allocation, ...added, ...removed])
  const taken = rows.filter(({ id, serverId }) => serverId === null && added.has(id))
  const own = rows.filter(({ serverId }) => serverId !== null)
  const [leaving, staying] = partition(own, ({ id }) => removed.has(id) && !added.has(id))
  const primary = await primaryOf(panel, server, changes.allocation, { taken, leaving, staying })
  await assign(panel, taken, server.id)
  await assign(panel, leaving, null)
  return primary
}

/**
 * Of the node's allocations those that are free or the server's own; others stay free to whoever holds them.
 */
function lockAllocations(
  panel: Panel,
  server: Pick<Server, 'id' | 'nodeId'>,
  ids: number[],
): Promise<Allocation[]> {
  const isFreeOrOwn = or(isNull(allocations.serverId), eq(allocations.serverId, server.id))
  return panel.db
    .select()
    .from(allocations)
    .where(and(inArray(allocations.id, ids), eq(allocations.nodeId, server.nodeId), isFreeOrOwn))
    .orderBy(allocations.id)
    .for('update')
}

type Fates = Record<'taken' | 'leaving' | 'staying', Allocation[]>

async function primaryOf(
  panel: Panel,
  server: Pick<Server, 'id'>,
  wanted: number,
  { taken, leaving, staying }: Fates,
): Promise<number> {
  const isWanted = ({ id }: Allocation) => id === wanted
  if (taken.some(isWanted) || staying.some(isWanted)) return wanted
  if (leaving.some(isWanted)) {
    const [first] = taken
    if (!first) throw displayError('The primary allocation cannot be removed: no other one was added.')
    return first.id
  }
  await refuseOfOthers(panel, server, wanted)
  throw displayError('The primary allocation must be one of the server.')
}

async function refuseOfOthers(panel: Panel, server: Pick<Server, 'id'>, id: number): Promise<void> {
  const usedBy = panel.db
    .select({ one: sql`1` })
    .from(servers)
    .where(and(eq(servers.allocationId, id), ne(servers.id, server.id)))
  const [found] = await panel.db
    .select({ isUsed: sql<boolean>`${exists(usedBy)}` })
    .from(allocations)
    .where(eq(allocations.id, id))
  if (!found) throw invalidField('allocation', 'exists', 'The allocation does not exist.')
  if (found.isUsed) throw invalidField('allocation', 'unique', 'The allocation has already been taken.')
}

async function assign(panel: Panel, rows: Allocation[], serverId: number | null): Promise<void> {
  if (rows.length === 0) return
  const ids = rows.map(({ id }) => id)
  await panel.db
    .update(allocations)
    .set({ serverId, notes: null, updatedAt: panel.now() })
    .where(inArray(allocations.id, ids))
}

function partition<T>(list: T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [list.filter(isFirst), list.filter((item) => !isFirst(item))]
}
