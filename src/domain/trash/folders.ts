import type { DaemonFile, DaemonFiles } from '../../adapters/daemon-files.ts'
import { DaemonError } from '../../adapters/daemon-error.ts'
import { splitPath, trashDirectory } from '../files/paths.ts'

/** Entries of a folder; `missing` when it does not exist, `obstructed` when something else is in its place. */
export type FolderLookup = DaemonFile[] | 'missing' | 'obstructed'

type Item = { id: string; name: string }

/** The folder on the node that contains only this item. */
const trashFolder = ({ id }: Pick<Item, 'id'>) => `${trashDirectory}/${id}`

/** The path of the item on the node. It keeps its name, since a longer one might not fit. */
export const trashPath = (item: Item) => `${trashFolder(item)}/${item.name}`

/**
 * Looks up entries of a folder by their names. Daemons answer 500, newer ones 404, for a missing folder as for other
 * failures and unknown servers, so the parent decides which it was: files must not count as lost because a node
 * failed. Throws a `DaemonError` when that cannot be decided. Wings: GET …/files/list-directory.
 */
export async function findInFolder(
  files: DaemonFiles,
  path: string,
  names: readonly string[],
): Promise<FolderLookup> {
  try {
    return await files.find(path, names)
  } catch (error) {
    const mayBeMissing = error instanceof DaemonError && (error.status === 404 || error.status === 500)
    if (!mayBeMissing || path === '/') throw error
    const { directory, name } = splitPath(path)
    const parentLookup = await findInFolder(files, directory, [name])
    if (typeof parentLookup === 'string') return parentLookup
    const [entry] = parentLookup
    if (!entry) return 'missing'
    if (entry.directory !== true) return 'obstructed'
    throw error
  }
}

/** Whether any of the entries exists. */
export const hasEntries = (lookup: FolderLookup): boolean => typeof lookup !== 'string' && lookup.length > 0

/** Whether the item is in the trash on the node. Throws a `DaemonError` when that cannot be decided. */
export const isInTrash = async (files: DaemonFiles, item: Item): Promise<boolean> =>
  hasEntries(await findInFolder(files, trashFolder(item), [item.name]))

/**
 * Deletes the folders of these items with their contents; missing ones are ignored. Throws a `DaemonError`.
 * Wings: POST …/files/delete.
 */
export async function removeTrashFolders(files: DaemonFiles, ids: string[]): Promise<void> {
  try {
    await files.remove(trashDirectory, ids)
  } catch (error) {
    if (!(error instanceof DaemonError) || error.status !== 404) throw error
    // Newer daemons answer 404 for a missing folder, and also for an unknown server.
    if (hasEntries(await findInFolder(files, trashDirectory, ids))) throw error
  }
}
