import type { DaemonFile, DaemonFiles } from '../../adapters/daemon-files.ts'
import { daemonFailure, notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import type { ReachedServer } from '../credentials.ts'
import { isUnexplained, refuseFileFailure } from './daemon-failures.ts'
import { isTrashName, resolvePath, splitPath } from './paths.ts'

export type Target = Pick<ReachedServer, 'server' | 'node'>

/** One thing in a folder. */
export type FileEntry = {
  name: string
  /** As `ls -l` writes it. */
  mode: string
  /** Octal digits. */
  modeBits: string
  /** Bytes; of a link, those of its own. */
  size: number
  kind: 'file' | 'folder' | 'link' | 'special'
  mimeType: string
  createdAt: Date
  modifiedAt: Date
}

/** The files of a server on its daemon. */
export const filesOf = (panel: Panel, { server, node }: Target): DaemonFiles =>
  panel.daemon(node).files(server.uuid)

/**
 * What a folder holds, folders first, then by name; without the trash. Refuses with 404 when there is no such
 * folder. Spec: Client API, files: list. Wings: GET …/files/list-directory.
 */
export async function listFolder(
  panel: Panel,
  target: Target,
  directory: string | null,
): Promise<FileEntry[]> {
  const path = resolvePath('directory', directory ?? '/')
  const entries = await readFolder(panel, filesOf(panel, target), path)
  return entries.filter(({ name }) => !isTrashName(name)).toSorted(compareEntries)
}

/**
 * What a folder holds, as the daemon tells. Refuses with 404 when there is none: daemons before 1.12 fail
 * with 500 then, so the folder above is asked, and the root, before a failure is believed.
 */
export async function readFolder(panel: Panel, files: DaemonFiles, path: string): Promise<FileEntry[]> {
  try {
    return entriesOf(panel, await files.list(path))
  } catch (error) {
    if (path === '/') return refuseFileFailure(error)
    if (statusOf(error) === 404) throw noSuchFolder()
    if (!isUnexplained(error)) return refuseFileFailure(error)
    const { directory, name } = splitPath(path)
    const above = await files.list(directory).catch((failure: unknown) => {
      if (isUnexplained(failure) || statusOf(failure) === 404) return null
      return refuseFileFailure(failure)
    })
    // Not even the folder above can be read: when the daemon can read anything, that one is missing too.
    if (above === null) await files.list('/').catch(refuseFileFailure)
    const entry = entriesOf(panel, above ?? []).find((each) => each.name === name)
    if (entry?.kind !== 'folder') throw noSuchFolder()
    return refuseFileFailure(error)
  }
}

/** What is at a path, which is not the root; null when there is nothing, not even a folder above. */
export async function findEntry(panel: Panel, files: DaemonFiles, path: string): Promise<FileEntry | null> {
  const { directory, name } = splitPath(path)
  const entries = await readFolder(panel, files, directory).catch(emptyWhenMissing)
  return entries.find((entry) => entry.name === name) ?? null
}

/** For `.catch`: what is missing holds nothing. */
export function emptyWhenMissing(error: unknown): FileEntry[] {
  if (statusOf(error) === 404) return []
  throw error
}

const statusOf = (error: unknown) => (error as { status?: unknown } | null)?.status
const noSuchFolder = () => notFound('There is no such folder.')

const names = new Intl.Collator('en', { numeric: true })

function compareEntries(one: FileEntry, other: FileEntry): number {
  const isFolder = (entry: FileEntry) => Number(entry.kind === 'folder')
  return isFolder(other) - isFolder(one) || names.compare(one.name, other.name)
}

/** Daemons are other people's machines: what has no name is nothing. */
function entriesOf(panel: Panel, answer: unknown): FileEntry[] {
  if (!Array.isArray(answer)) throw daemonFailure(502, 'The node gave an answer that cannot be used.')
  return answer.flatMap((each: unknown) => {
    const file = (typeof each === 'object' && each !== null ? each : {}) as DaemonFile
    return typeof file.name === 'string' && file.name !== '' ? [entryOf(panel, file)] : []
  })
}

/** A file as its daemon describes it, with what it left out. Wings: file object. */
export function entryOf(panel: Panel, file: DaemonFile): FileEntry {
  const kind = kindOf(file)
  const mime = kind === 'folder' ? 'inode/directory' : 'application/octet-stream'
  return {
    name: text(file.name, ''),
    mode: text(file.mode, kind === 'folder' ? 'drwxr-xr-x' : '-rw-r--r--'),
    modeBits: text(file.mode_bits, kind === 'folder' ? '755' : '644'),
    size: typeof file.size === 'number' && file.size > 0 ? Math.trunc(file.size) : 0,
    kind,
    mimeType: text(file.mime, mime),
    createdAt: instant(panel, file.created),
    modifiedAt: instant(panel, file.modified),
  }
}

/** The letters in front of the nine for the rights tell; older daemons never say `symlink`. */
function kindOf(file: DaemonFile): FileEntry['kind'] {
  const letters = text(file.mode, '').slice(0, -9)
  if (file.symlink === true || letters.includes('L')) return 'link'
  if (file.directory === true || letters.includes('d')) return 'folder'
  if (/[pSDc?]/.test(letters)) return 'special'
  return file.file === false ? 'folder' : 'file'
}

/** Milliseconds within which years have four digits. */
const furthest = 5.6e13

const text = (value: unknown, missing: string) =>
  typeof value === 'string' && value !== '' ? value : missing

function instant(panel: Panel, value: unknown): Date {
  const read = new Date(typeof value === 'string' ? value : NaN)
  // Also false for what is no instant at all.
  return Math.abs(read.getTime()) < furthest ? read : panel.now()
}
