import { and, eq, inArray, isNotNull, or } from 'drizzle-orm'
import { nodes, servers, trashItems } from '../../db/schema.ts'
import type { TrashItem } from '../../db/tables/trash-items.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { displayDirectory, splitPath } from '../files/paths.ts'
import type { JobPayloads } from '../jobs/enqueue.ts'
import { mapWithConcurrency } from './concurrency.ts'
import { isInTrash } from './folders.ts'
import { deleteItems, isNotLeased, releaseItems } from './lease.ts'

/**
 * Marks items of one folder, which were found in the trash, as restorable. Records `server:file.trash.move` with
 * those that were not restorable before. Call it in a transaction.
 */
export async function completeMove(tx: Tx, items: TrashItem[]): Promise<void> {
  const [first] = items
  if (!first) return
  const completed = await tx.db
    .update(trashItems)
    .set({ ready: true, heldUntil: null })
    .where(isNotReady(items))
    .returning({ id: trashItems.id })
  const ids = new Set(completed.map(({ id }) => id))
  const names = items.filter(({ id }) => ids.has(id)).map(({ name }) => name)
  if (names.length === 0) return
  const directory = displayDirectory(splitPath(first.path).directory)
  await recordEvent(tx, 'server:file.trash.move', {
    serverId: first.serverId,
    properties: { directory, files: names },
  })
}

/** Deletes the rows of items that never reached the trash. */
export async function deleteUnmovedItems(tx: Tx, items: TrashItem[]): Promise<void> {
  if (items.length > 0) await tx.db.delete(trashItems).where(isNotReady(items))
}

const isNotReady = (items: TrashItem[]) =>
  and(inArray(trashItems.id, idsOf(items)), eq(trashItems.ready, false))

const idsOf = (items: TrashItem[]) => items.map(({ id }) => id)

/**
 * Job: looks at the node for items whose lease ended without an outcome; those in the trash become restorable,
 * the others leave the list. Does nothing when the server no longer exists. Wings: GET …/files/list-directory.
 */
export async function reconcileTrash(panel: Panel, { itemIds }: JobPayloads['settle-trash']): Promise<void> {
  const found = await panel.db
    .select({ item: trashItems, server: servers, node: nodes })
    .from(trashItems)
    .innerJoin(servers, eq(servers.id, trashItems.serverId))
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .where(
      and(
        inArray(trashItems.id, itemIds),
        isNotLeased(panel.now()),
        or(eq(trashItems.ready, false), isNotNull(trashItems.heldUntil)),
      ),
    )
    .orderBy(trashItems.path)
  const [first] = found
  if (!first) return
  const files = panel.daemon(first.node).files(first.server.uuid)
  const items = found.map(({ item }) => item)
  const arePresent = await mapWithConcurrency(items, (item) => isInTrash(files, item))
  const present = items.filter((_, index) => arePresent[index])
  const absent = items.filter((_, index) => !arePresent[index])
  await inTransaction(panel, async (tx) => {
    await deleteItems(tx, absent, null)
    await releaseItems(
      tx,
      present.filter(({ ready }) => ready),
    )
    await completeMove(
      tx,
      present.filter(({ ready }) => !ready),
    )
  })
}
