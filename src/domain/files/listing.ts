import type { DaemonFile, DaemonFiles } from '../../adapters/daemon-files.ts'
import { DaemonError } from '../../adapters/daemon-error.ts'
import { ApiError, notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import type { ServerOnNode } from '../servers/access.ts'
import { isInternalDaemonError, toFileApiError } from './daemon-failures.ts'
import { withListingLock } from './lock.ts'
import { isTrashName, resolvePath, splitPath } from './paths.ts'

/** An entry of a folder. */
export type FileEntry = {
  name: string
  /** As `ls -l` writes it. */
  mode: string
  /** Octal digits. */
  modeBits: string
  /** Bytes; for a link, those of the link itself. */
  size: number
  kind: 'file' | 'folder' | 'link' | 'special'
  mimeType: string
  createdAt: Date
  modifiedAt: Date
}

/** Returns the file operations of a server on its daemon. */
export const getDaemonFiles = (panel: Panel, { server, node }: ServerOnNode): DaemonFiles =>
  panel.daemon(node).files(server.uuid)

/** A folder as it is shown; truncated when it has more than 10,000 entries. */
export type FolderListing = { entries: FileEntry[]; isTruncated: boolean }

/**
 * Lists a folder without the trash: folders first, then by name; of more than 10,000 entries only the first that the
 * daemon names. Refuses with 404 when the folder does not exist, with 429 while another folder of the server is being
 * listed. Spec: getClientServersByServerFilesList. Wings: GET …/files/list-directory.
 */
export async function listFolder(
  panel: Panel,
  target: ServerOnNode,
  directory: string | null,
): Promise<FolderListing> {
  const path = resolvePath('directory', directory ?? '/')
  const files = getDaemonFiles(panel, target)
  return withListingLock(panel, target.server, async () => {
    const { entries, isTruncated } = await readFolder(files, path, () => files.list(path))
    const shown = toFileEntries(panel, entries).filter(({ name }) => !isTrashName(name))
    return { entries: shown.toSorted(compareEntries), isTruncated }
  })
}

/**
 * Finds the entries of a folder with these names, in one call. Refuses with 404 when the folder does not exist, with
 * 502 when it is too large to find them.
 */
export const findEntries = async (
  panel: Panel,
  files: DaemonFiles,
  directory: string,
  names: readonly string[],
): Promise<FileEntry[]> =>
  toFileEntries(panel, await readFolder(files, directory, () => files.find(directory, names)))

/** Finds the entry at a path other than the root; null when it or its folder does not exist. */
export async function findEntry(panel: Panel, files: DaemonFiles, path: string): Promise<FileEntry | null> {
  const { directory, name } = splitPath(path)
  const [entry] = await findEntries(panel, files, directory, [name]).catch(emptyIfNotFound)
  return entry ?? null
}

/**
 * Reads a folder. Refuses with 404 when it does not exist. Daemons before 1.12 answer 500 then, so the parent and
 * the root are read before the failure is believed.
 */
async function readFolder<T>(files: DaemonFiles, path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (path === '/') throw toFileApiError(error)
    if (statusOf(error) === 404) throw folderNotFound()
    if (!isInternalDaemonError(error)) throw toFileApiError(error)
    const { directory, name } = splitPath(path)
    const found = await files.find(directory, [name]).catch((failure: unknown) => {
      if (isInternalDaemonError(failure) || statusOf(failure) === 404) return null
      throw toFileApiError(failure)
    })
    // When the daemon can read the root but not the parent, the parent is missing too.
    if (found === null) {
      await files.find('/', []).catch((failure: unknown) => {
        throw toFileApiError(failure)
      })
    }
    const [entry] = found ?? []
    if (!entry || detectKind(entry) !== 'folder') throw folderNotFound()
    throw toFileApiError(error)
  }
}

/** Converts a 404 into an empty folder, for `.catch`; throws other errors again. */
export function emptyIfNotFound(error: unknown): FileEntry[] {
  if (statusOf(error) === 404) return []
  throw error
}

const statusOf = (error: unknown) =>
  error instanceof ApiError || error instanceof DaemonError ? error.status : null
const folderNotFound = () => notFound('folder_missing', 'The folder does not exist.')

// Created with the first listing: it takes a tenth of the time in which a function loads.
let nameCollator: Intl.Collator | null = null

function compareEntries(a: FileEntry, b: FileEntry): number {
  nameCollator ??= new Intl.Collator('en', { numeric: true })
  const isFolder = (entry: FileEntry) => Number(entry.kind === 'folder')
  return isFolder(b) - isFolder(a) || nameCollator.compare(a.name, b.name)
}

/** Drops entries without a name: answers of daemons are untrusted (RM-6). */
const toFileEntries = (panel: Panel, entries: readonly (DaemonFile | null)[]): FileEntry[] =>
  entries.flatMap((file) =>
    typeof file?.name === 'string' && file.name !== '' ? [toFileEntry(panel, file)] : [],
  )

/** Converts a file of the daemon, with defaults for what it left out. Wings: docs/wings.md#file-object. */
export function toFileEntry(panel: Panel, file: DaemonFile): FileEntry {
  const kind = detectKind(file)
  const mime = kind === 'folder' ? 'inode/directory' : 'application/octet-stream'
  return {
    name: textOr(file.name, ''),
    mode: textOr(file.mode, kind === 'folder' ? 'drwxr-xr-x' : '-rw-r--r--'),
    modeBits: textOr(file.mode_bits, kind === 'folder' ? '755' : '644'),
    size: typeof file.size === 'number' && file.size > 0 ? Math.trunc(file.size) : 0,
    kind,
    mimeType: textOr(file.mime, mime),
    createdAt: dateOrNow(panel, file.created),
    modifiedAt: dateOrNow(panel, file.modified),
  }
}

/** Reads the type from the letters before the nine of the permissions; older daemons never send `symlink`. */
function detectKind(file: DaemonFile): FileEntry['kind'] {
  const typeLetters = textOr(file.mode, '').slice(0, -9)
  if (file.symlink === true || typeLetters.includes('L')) return 'link'
  if (file.directory === true || typeLetters.includes('d')) return 'folder'
  if (/[pSDc?]/.test(typeLetters)) return 'special'
  return file.file === false ? 'folder' : 'file'
}

/** Milliseconds since 1970 up to which years have four digits. */
const maxDateMs = 5.6e13

const textOr = (value: unknown, fallback: string) =>
  typeof value === 'string' && value !== '' ? value : fallback

function dateOrNow(panel: Panel, value: unknown): Date {
  const date = new Date(typeof value === 'string' ? value : NaN)
  // Also false for an invalid date.
  return Math.abs(date.getTime()) < maxDateMs ? date : panel.now()
}
