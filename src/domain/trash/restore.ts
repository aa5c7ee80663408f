import type { DaemonFiles } from '../../adapters/daemon-files.ts'
import type { TrashItem } from '../../db/tables/trash-items.ts'
import { conflict, daemonFailure, notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { refuseDenied } from '../files/denylist.ts'
import { getDaemonFiles } from '../files/listing.ts'
import { withFileLock, refuseBusy, type RenewLock } from '../files/lock.ts'
import { splitPath } from '../files/paths.ts'
import type { ServerOnNode } from '../servers/access.ts'
import {
  findInFolder,
  type FolderLookup,
  hasEntries,
  isInTrash,
  removeTrashFolders,
  trashPath,
} from './folders.ts'
import { deleteItems, leaseItem, releaseItems } from './lease.ts'
import { renameAndVerify, toRenameApiError, UnknownOutcomeError } from './verified-rename.ts'

/**
 * Restores an item to its original path, with missing folders. Records `server:file.trash.restore`. Nothing is
 * overwritten.
 *
 * Refuses with 409 when an entry exists at the path, and while the item or other files of the server are being
 * changed; with 404 what is not in the trash, also when only its row was left, which is deleted then; with 403
 * what the egg protects; and as `toFileApiError` does. A job finds out the outcome of a rename without an answer.
 * Spec: docs/files.md#trash. Wings: PUT …/files/rename.
 */
export async function restoreFromTrash(panel: Panel, target: ServerOnNode, id: string): Promise<void> {
  const { server } = target
  const item = await leaseItem(panel, server.id, id)
  const files = getDaemonFiles(panel, target)
  const isRestored = await withFileLock(panel, server, async (renewLock) => {
    await refuseDenied(panel, server, [item.path])
    await refuseBusy(panel, server)
    return moveBack(files, item, renewLock)
  }).catch(async (error: unknown) => {
    if (!(error instanceof UnknownOutcomeError)) await releaseItems(panel, [item])
    throw toRenameApiError(error)
  })
  await deleteItems(panel, [item], isRestored ? 'server:file.trash.restore' : null)
  panel.defer(removeTrashFolders(files, [item.id]).catch(() => undefined))
  if (!isRestored) throw notFound('trash_item_gone', 'This item is no longer in the trash.')
}

/** Moves the item to its path; false when it was lost. Refuses with 409 when an entry exists there. */
async function moveBack(files: DaemonFiles, item: TrashItem, renewLock: RenewLock): Promise<boolean> {
  if (!(await isInTrash(files, item))) return false
  const { directory } = splitPath(item.path)
  const lookup = await findInFolder(files, directory, [item.name])
  if (lookup === 'obstructed' || hasEntries(lookup)) {
    throw conflict('original_path_taken', 'Another entry exists at the original path.')
  }
  await renewLock()
  let lookupAfter: FolderLookup = 'missing'
  const isMoved = await renameAndVerify(files, trashPath(item), item.path, async () => {
    await renewLock()
    if (await isInTrash(files, item)) return false
    lookupAfter = await findInFolder(files, directory, [item.name])
    return true
  })
  if (!isMoved) throw daemonFailure(502, 'file_not_moved', 'The node did not move the file.')
  return hasEntries(lookupAfter)
}
