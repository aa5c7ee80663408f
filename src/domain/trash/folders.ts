import type { DaemonFile, DaemonFiles } from '../../adapters/daemon-files.ts'
import { DaemonError } from '../../adapters/daemon.ts'
import { splitPath, trashDirectory } from '../files/paths.ts'

/** What a folder holds, or that it is not there, or that something that is no folder stands in its place. */
export type Folder = DaemonFile[] | 'missing' | 'obstructed'

type Item = { id: string; name: string }

/** The folder on the node that holds nothing but this item. */
const folderOf = ({ id }: Pick<Item, 'id'>) => `${trashDirectory}/${id}`

/** Where the item lies on the node: its name is kept, since with a longer one it might not fit. */
export const placeInTrash = (item: Item) => `${folderOf(item)}/${item.name}`

/**
 * What is in a folder. Daemons answer 500, newer ones 404, for a missing folder as for other failures and
 * unknown servers, so the folder above tells which it was: nobody's files may be given up for lost because a
 * node did not find them. Throws a `DaemonError` when it cannot be told. Wings: GET …/files/list-directory
 */
export async function probeFolder(files: DaemonFiles, path: string): Promise<Folder> {
  try {
    const entries: unknown = await files.list(path)
    if (Array.isArray(entries)) return entries as DaemonFile[]
    throw new DaemonError(200, 'The node gave no list of files.')
  } catch (error) {
    const mayBeMissing = error instanceof DaemonError && (error.status === 404 || error.status === 500)
    if (!mayBeMissing || path === '/') throw error
    const { directory, name } = splitPath(path)
    const above = await probeFolder(files, directory)
    if (typeof above === 'string') return above
    const entry = entryNamed(above, name)
    if (!entry) return 'missing'
    if (entry.directory !== true) return 'obstructed'
    throw error
  }
}

/** The entry with exactly this name. */
export const entryNamed = (folder: Folder, name: string): DaemonFile | undefined =>
  typeof folder === 'string' ? undefined : folder.find((entry) => entry?.name === name)

/** Whether the item lies in the trash on the node. Throws a `DaemonError` when it cannot be told. */
export const isInTrash = async (files: DaemonFiles, item: Item): Promise<boolean> =>
  entryNamed(await probeFolder(files, folderOf(item)), item.name) !== undefined

/**
 * The folders of these items are gone, with all that is in them; missing ones are fine. Throws a `DaemonError`
 * otherwise. Wings: POST …/files/delete
 */
export async function removeFolders(files: DaemonFiles, ids: string[]): Promise<void> {
  try {
    await files.remove(trashDirectory, ids)
  } catch (error) {
    if (!(error instanceof DaemonError) || error.status !== 404) throw error
    // It may be a folder that newer daemons miss, or the server itself.
    const left = await probeFolder(files, trashDirectory)
    if (ids.some((id) => entryNamed(left, id))) throw error
  }
}
