import { and, eq, inArray } from 'drizzle-orm'
import * as z from 'zod'
import { allocations } from '../../db/schema.ts'
import type { Allocation } from '../../db/tables/allocations.ts'
import { displayError, notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordAdminEvent, recordAdminEvents } from '../activity/record.ts'
import { rowId, text } from '../fields.ts'

/** Most allocations of one call. */
const maxAllocations = 1000

const AllocationIds = () => z.array(rowId()).min(1, 'min').max(maxAllocations, 'max')

/** Allocations of a node to delete. Spec: docs/remote.md#allocations-of-a-node. */
export const DeletionInput = () => z.object({ allocations: AllocationIds() })

/** Allocations of a node, and the alias that they get; null takes it away. */
export const AliasInput = () => z.object({ allocations: AllocationIds(), alias: text(191).nullable() })
type AliasInput = z.output<ReturnType<typeof AliasInput>>

/**
 * Deletes free allocations of the node; all or none. Refuses with 404 when one is unknown or of another node, with 400
 * when a server uses one. Records `admin:allocation.delete` for each.
 */
export async function removeAllocations(panel: Panel, nodeId: number, ids: number[]): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const locked = await lockAllocations(tx, nodeId, ids)
    if (locked.some(({ serverId }) => serverId !== null))
      throw displayError('allocations_in_use', 'A server uses one of these allocations.', {
        code: 'ServerUsingAllocationException',
      })
    await tx.db.delete(allocations).where(isOneOf(locked))
    await recordAdminEvents(
      tx,
      locked.map(({ id, ip, port }) => ({
        event: 'admin:allocation.delete',
        subject: { type: 'allocation', id },
        properties: { node: nodeId, allocation: `${ip}:${port}` },
      })),
    )
  })
}

/**
 * Gives allocations of the node, free and used ones, an alias, or takes it away; all or none. Refuses with 404 when one
 * is unknown or of another node. Records `admin:allocation.alias`, unless all have it already.
 */
export async function changeAlias(panel: Panel, nodeId: number, { allocations: ids, alias }: AliasInput) {
  await inTransaction(panel, async (tx) => {
    const locked = await lockAllocations(tx, nodeId, ids)
    const differing = locked.filter(({ ipAlias }) => ipAlias !== alias)
    if (differing.length === 0) return
    await tx.db.update(allocations).set({ ipAlias: alias }).where(isOneOf(differing))
    const properties = { node: nodeId, alias: alias ?? '', changed: differing.length }
    await recordAdminEvent(tx, 'admin:allocation.alias', { type: 'node', id: nodeId }, properties)
  })
}

const isOneOf = (rows: Allocation[]) =>
  inArray(
    allocations.id,
    rows.map(({ id }) => id),
  )

/** Locks allocations in the order of their ids, as other changes do. Refuses with 404 when one is not of the node. */
async function lockAllocations(tx: Tx, nodeId: number, ids: number[]): Promise<Allocation[]> {
  const wanted = [...new Set(ids)]
  const locked = await tx.db
    .select()
    .from(allocations)
    .where(and(eq(allocations.nodeId, nodeId), inArray(allocations.id, wanted)))
    .orderBy(allocations.id)
    .for('update')
  if (locked.length < wanted.length) throw notFound()
  return locked
}
