import { and, eq, inArray, isNotNull, or } from 'drizzle-orm'
import { nodes, servers, trashItems } from '../../db/schema.ts'
import type { TrashItem } from '../../db/tables/trash-items.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { shownDirectory, splitPath } from '../files/paths.ts'
import type { JobPayloads } from '../jobs.ts'
import { isInTrash } from './folders.ts'
import { forgetItems, isFree, releaseItems } from './hold.ts'
import { forSeveral } from './several.ts'

/**
 * Items of one folder that were seen in the trash can be restored now; records `server:file.trash.move` of
 * those that could not before. Call it in a transaction.
 */
export async function completeMove(panel: Panel, items: TrashItem[]): Promise<void> {
  const [first] = items
  if (!first) return
  const completed = await panel.db
    .update(trashItems)
    .set({ ready: true, heldUntil: null })
    .where(unready(items))
    .returning({ id: trashItems.id })
  const ids = new Set(completed.map(({ id }) => id))
  const names = items.filter(({ id }) => ids.has(id)).map(({ name }) => name)
  if (names.length === 0) return
  const directory = shownDirectory(splitPath(first.path).directory)
  await record(panel, 'server:file.trash.move', {
    serverId: first.serverId,
    properties: { directory, files: names },
  })
}

/** The rows of items that never came into the trash are gone. */
export async function dropUnmoved(panel: Panel, items: TrashItem[]): Promise<void> {
  if (items.length > 0) await panel.db.delete(trashItems).where(unready(items))
}

const unready = (items: TrashItem[]) => and(inArray(trashItems.id, idsOf(items)), eq(trashItems.ready, false))

const idsOf = (items: TrashItem[]) => items.map(({ id }) => id)

/**
 * The job: of items that somebody took and never gave back, those which are in the trash can be restored, and
 * the others are gone from the list. A server that is gone needs nothing. Wings: GET …/files/list-directory
 */
export async function settleTrash(panel: Panel, { itemIds }: JobPayloads['settle-trash']): Promise<void> {
  const found = await panel.db
    .select({ item: trashItems, server: servers, node: nodes })
    .from(trashItems)
    .innerJoin(servers, eq(servers.id, trashItems.serverId))
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .where(
      and(
        inArray(trashItems.id, itemIds),
        isFree(panel.now()),
        or(eq(trashItems.ready, false), isNotNull(trashItems.heldUntil)),
      ),
    )
    .orderBy(trashItems.path)
  const [first] = found
  if (!first) return
  const files = panel.daemon(first.node).files(first.server.uuid)
  const items = found.map(({ item }) => item)
  const there = new Set<TrashItem>()
  await forSeveral(items, async (item) => {
    if (await isInTrash(files, item)) there.add(item)
  })
  // Answers come in any order, and events name files in that of their paths.
  const present = items.filter((item) => there.has(item))
  const absent = items.filter((item) => !there.has(item))
  await inTransaction(panel, async (panel) => {
    await forgetItems(panel, absent, null)
    await releaseItems(
      panel,
      present.filter(({ ready }) => ready),
    )
    await completeMove(
      panel,
      present.filter(({ ready }) => !ready),
    )
  })
}
