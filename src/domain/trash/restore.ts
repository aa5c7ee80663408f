import type { DaemonFiles } from '../../adapters/daemon-files.ts'
import type { TrashItem } from '../../db/tables/trash-items.ts'
import { conflict, daemonFailure, notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { refuseDenied } from '../files/denylist.ts'
import { filesOf, type Target } from '../files/listing.ts'
import { exclusively, refuseBusy, type Renew } from '../files/lock.ts'
import { splitPath } from '../files/paths.ts'
import { entryNamed, type Folder, isInTrash, placeInTrash, probeFolder, removeFolders } from './folders.ts'
import { forgetItems, holdItem, releaseItems } from './hold.ts'
import { refuseRenameFailure, rename, UnknownOutcome } from './rename.ts'

/**
 * An item is back where it was, with the folders above it; records `server:file.trash.restore`.
 *
 * Refuses with 409 when anything is there, and while the item or other files of the server are being changed;
 * with 404 what is not in the trash, be it that only its row was left, which goes; with 403 what the egg protects;
 * and as `refuseFileFailure` does. Then nothing was overwritten; what became of a rename without an answer a
 * job finds out. Spec: Client API, file trash. Wings: PUT …/files/rename
 */
export async function restoreFromTrash(panel: Panel, target: Target, id: string): Promise<void> {
  const { server } = target
  const item = await holdItem(panel, server.id, id)
  const files = filesOf(panel, target)
  const isRestored = await exclusively(panel, server, async (renew) => {
    await refuseDenied(panel, server, [item.path])
    await refuseBusy(panel, server)
    return bringBack(files, item, renew)
  }).catch(async (error: unknown) => {
    if (!(error instanceof UnknownOutcome)) await releaseItems(panel, [item])
    return refuseRenameFailure(error)
  })
  await forgetItems(panel, [item], isRestored ? 'server:file.trash.restore' : null)
  panel.defer(removeFolders(files, [item.id]).catch(() => undefined))
  if (!isRestored) throw notFound('This item is not in the trash of the server any more.')
}

/** Whether the item is back at its place; false when it was lost. Refuses with 409 when anything is there. */
async function bringBack(files: DaemonFiles, item: TrashItem, renew: Renew): Promise<boolean> {
  if (!(await isInTrash(files, item))) return false
  const { directory } = splitPath(item.path)
  const folder = await probeFolder(files, directory)
  if (folder === 'obstructed' || entryNamed(folder, item.name)) {
    throw conflict('Something else is where the file was.')
  }
  await renew()
  let after: Folder = 'missing'
  const isGone = await rename(files, placeInTrash(item), item.path, async () => {
    await renew()
    if (await isInTrash(files, item)) return false
    after = await probeFolder(files, directory)
    return true
  })
  if (!isGone) throw daemonFailure(502, 'The node did not move the file.')
  return entryNamed(after, item.name) !== undefined
}
