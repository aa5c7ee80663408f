import { and, eq, gt, inArray, isNull, lte, or, type SQL } from 'drizzle-orm'
import { activity, trashItems } from '../../db/schema.ts'
import type { TrashItem } from '../../db/tables/trash-items.ts'
import { conflict, notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import type { EventName } from '../activity/events.ts'
import { activityRow } from '../activity/record.ts'
import { enqueueJob } from '../jobs/enqueue.ts'

/** Seconds of a lease: longer than all calls to the daemon that one request makes. */
const leaseSeconds = 120
/** Seconds for which the reconciliation is retried while the node does not answer. */
const reconcileLifetimeSeconds = 30 * 86_400

/** The end of a lease that begins now; see `enqueueReconciliation`. */
export const leaseUntil = (tx: Tx, seconds = leaseSeconds): Date =>
  new Date(tx.now().getTime() + seconds * 1000)

/** Selects items that no request has leased. */
export const isNotLeased = (now: Date): SQL | undefined =>
  or(isNull(trashItems.heldUntil), lte(trashItems.heldUntil, now))

/**
 * Enqueues the job that reconciles the items when their lease ends without an outcome. Call it in the transaction
 * that leases them.
 */
export const enqueueReconciliation = (tx: Tx, itemIds: string[], heldUntil: Date): Promise<void> =>
  enqueueJob(tx, 'settle-trash', { itemIds }, { runAt: heldUntil, lifetimeSeconds: reconcileLifetimeSeconds })

/**
 * Leases an item to the caller for two minutes. Refuses with 404 when it is not in the trash of the server or has
 * expired, with 409 while another request has leased it or it is being moved to the trash.
 */
export function leaseItem(panel: Panel, serverId: number, id: string): Promise<TrashItem> {
  return inTransaction(panel, async (tx) => {
    const now = tx.now()
    const heldUntil = leaseUntil(tx)
    const ofServer = and(
      eq(trashItems.id, id),
      eq(trashItems.serverId, serverId),
      gt(trashItems.expiresAt, now),
    )
    const [item] = await tx.db
      .update(trashItems)
      .set({ heldUntil })
      .where(and(ofServer, eq(trashItems.ready, true), isNotLeased(now)))
      .returning()
    if (item) {
      await enqueueReconciliation(tx, [id], heldUntil)
      return item
    }
    const [existing] = await tx.db.select({ id: trashItems.id }).from(trashItems).where(ofServer)
    if (!existing) throw notFound()
    throw conflict('trash_item_busy', 'This item is being moved, restored or deleted right now.')
  })
}

/** Ends the lease of the items. */
export async function releaseItems(tx: Tx, items: TrashItem[]): Promise<void> {
  if (items.length === 0) return
  await tx.db.update(trashItems).set({ heldUntil: null }).where(isStillLeased(items))
}

/** Deletes the rows of the items that the caller still leases. Records `event` for each, with its path. */
export async function deleteItems(tx: Tx, items: TrashItem[], event: EventName | null): Promise<void> {
  await inTransaction(tx, async (tx) => {
    const deleted = await tx.db.delete(trashItems).where(isStillLeased(items)).returning()
    if (event === null || deleted.length === 0) return
    const entries = deleted.map(({ serverId, path }) =>
      activityRow(tx, event, { serverId, properties: { path } }),
    )
    await tx.db.insert(activity).values(entries)
  })
}

/** Selects the items whose lease has not changed: all of `items` were leased at the same time. */
const isStillLeased = (items: TrashItem[]) => {
  const ids = items.map(({ id }) => id)
  const heldUntil = items[0]?.heldUntil
  return and(inArray(trashItems.id, ids), heldUntil ? eq(trashItems.heldUntil, heldUntil) : undefined)
}
