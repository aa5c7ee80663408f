import { and, eq, gt, inArray, isNull, lte, or, type SQL } from 'drizzle-orm'
import { activity, trashItems } from '../../db/schema.ts'
import type { TrashItem } from '../../db/tables/trash-items.ts'
import { conflict, notFound } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { entryOf, type EventName } from '../activity.ts'
import { enqueue } from '../jobs.ts'

/** Seconds for which somebody has items for himself: longer than all that he asks of the daemon may take. */
const holdSeconds = 120
/** Seconds for which a node that is away is asked what became of items. */
const settlingLifetime = 30 * 86_400

/** The items belong to the caller until then; see `enqueueSettling`. */
export const holdFrom = (panel: Panel, seconds = holdSeconds): Date =>
  new Date(panel.now().getTime() + seconds * 1000)

/** Nobody has the item for himself. */
export const isFree = (now: Date): SQL | undefined =>
  or(isNull(trashItems.heldUntil), lte(trashItems.heldUntil, now))

/** When whoever holds the items is gone, a job finds out what became of them: call it in the transaction that takes them. */
export const enqueueSettling = (panel: Panel, itemIds: string[], heldUntil: Date): Promise<void> =>
  enqueue(panel, 'settle-trash', { itemIds }, { runAt: heldUntil, lifetimeSeconds: settlingLifetime })

/**
 * The item is the caller's alone for two minutes. Refuses with 404 what is not in the trash of this server any
 * more or has expired, with 409 what somebody else has, or what is still on its way there.
 */
export function holdItem(panel: Panel, serverId: number, id: string): Promise<TrashItem> {
  return inTransaction(panel, async (panel) => {
    const now = panel.now()
    const heldUntil = holdFrom(panel)
    const ofServer = and(
      eq(trashItems.id, id),
      eq(trashItems.serverId, serverId),
      gt(trashItems.expiresAt, now),
    )
    const [item] = await panel.db
      .update(trashItems)
      .set({ heldUntil })
      .where(and(ofServer, eq(trashItems.ready, true), isFree(now)))
      .returning()
    if (item) {
      await enqueueSettling(panel, [id], heldUntil)
      return item
    }
    const [taken] = await panel.db.select({ id: trashItems.id }).from(trashItems).where(ofServer)
    if (!taken) throw notFound()
    throw conflict('This item is being moved, restored or deleted right now.')
  })
}

/** Others may have the items again. */
export async function releaseItems(panel: Panel, items: TrashItem[]): Promise<void> {
  if (items.length === 0) return
  await panel.db.update(trashItems).set({ heldUntil: null }).where(stillHeld(items))
}

/** The items that are still the caller's are gone from the list; records `event` of each, with its path. */
export async function forgetItems(panel: Panel, items: TrashItem[], event: EventName | null): Promise<void> {
  await inTransaction(panel, async (panel) => {
    const gone = await panel.db.delete(trashItems).where(stillHeld(items)).returning()
    if (event === null || gone.length === 0) return
    const entries = gone.map(({ serverId, path }) =>
      entryOf(panel, event, { serverId, properties: { path } }),
    )
    await panel.db.insert(activity).values(entries)
  })
}

/** Held by the same: all of `items` were taken at once. */
const stillHeld = (items: TrashItem[]) => {
  const ids = items.map(({ id }) => id)
  const heldUntil = items[0]?.heldUntil
  return and(inArray(trashItems.id, ids), heldUntil ? eq(trashItems.heldUntil, heldUntil) : undefined)
}
