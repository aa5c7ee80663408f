import type { Panel } from '../../panel.ts'
import { toFileApiError } from '../files/daemon-failures.ts'
import { getDaemonFiles } from '../files/listing.ts'
import type { ServerOnNode } from '../servers/access.ts'
import { removeTrashFolders } from './folders.ts'
import { deleteItems, leaseItem, releaseItems } from './lease.ts'

/**
 * Deletes an item of the trash for good; one that is missing on the node is fine. Records
 * `server:file.trash.delete`. Refuses with 404 what is not in the trash, with 409 while the item is being moved
 * or restored, and as `toFileApiError` does: then it stays in the trash. Spec: docs/files.md#trash. Wings: POST
 * …/files/delete.
 */
export async function purgeFromTrash(panel: Panel, target: ServerOnNode, id: string): Promise<void> {
  const item = await leaseItem(panel, target.server.id, id)
  await removeTrashFolders(getDaemonFiles(panel, target), [item.id]).catch(async (error: unknown) => {
    await releaseItems(panel, [item])
    throw toFileApiError(error)
  })
  await deleteItems(panel, [item], 'server:file.trash.delete')
}
