import { randomUUID } from 'node:crypto'
import { constants, createWriteStream, type Stats } from 'node:fs'
import { chmod, copyFile, lstat, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import pLimit from 'p-limit'
import type { Daemon, Profile } from './daemon.ts'
import { FileError, ignoreMissing, systemCode } from './file-errors.ts'
import { describeFile, readableFlags, rfc3339, sniffPath, type FileObject } from './file-object.ts'
import type { GameServer } from './game-server.ts'
import { cleanPath, ensureDirectory, locate, locateForWriting } from './server-paths.ts'

/** The files of a server, and the folder on the same disk for files that are still being received. */
export type Volume = { root: string; spool: string }

export type OpenFile = { handle: FileHandle; name: string; stats: Stats }

const maxConcurrentEntries = 32
const maxCopies = 51

/** Gives the volume of a server. */
export function volumeOf(daemon: Daemon, server: GameServer): Volume {
  return { root: server.directory, spool: daemon.settings.spoolDirectory }
}

/** Finds a file by its path without following a link. Rejects with ENOENT when it is missing. */
export async function statPath(volume: Volume, path: string): Promise<{ diskPath: string; stats: Stats }> {
  const diskPath = await locate(volume.root, path)
  return { diskPath, stats: await lstat(diskPath) }
}

/** Opens a file for reading; refuses a pipe with 400 and rejects for a link. The caller closes it. */
export async function openFile(volume: Volume, path: string): Promise<OpenFile> {
  const { diskPath, stats } = await statPath(volume, path)
  if (stats.isFIFO() || stats.isSocket()) throw new FileError(400, 'Files of this kind cannot be opened.')
  const handle = await open(diskPath, readableFlags)
  return { handle, name: basename(diskPath), stats: await handle.stat() }
}

/** Lists a folder by name, folders last. Rejects for a link. Wings: GET …/files/list-directory */
export async function listDirectory(volume: Volume, path: string, profile: Profile): Promise<FileObject[]> {
  const { diskPath, stats } = await statPath(volume, path)
  if (!stats.isDirectory()) throw new Error(`${path} is not a directory`)
  const names = (await readdir(diskPath)).toSorted()
  const entries = await pLimit(maxConcurrentEntries).map(names, (name) =>
    describeEntry(diskPath, name, profile),
  )
  const found = entries.filter((entry) => entry !== undefined)
  return [...found.filter((entry) => entry.file), ...found.filter((entry) => entry.directory)]
}

/** Describes an entry of a folder; undefined when it was removed meanwhile. */
async function describeEntry(
  folder: string,
  name: string,
  profile: Profile,
): Promise<FileObject | undefined> {
  const diskPath = join(folder, name)
  try {
    const stats = await lstat(diskPath)
    return describeFile(name, stats, await sniffPath(diskPath, stats), profile)
  } catch (error) {
    return ignoreMissing(error)
  }
}

/** Writes a stream to a file in the spool and gives its path. The caller moves or removes the file. */
export async function spoolStream(volume: Volume, source: AsyncIterable<Buffer>): Promise<string> {
  const diskPath = join(volume.spool, randomUUID())
  try {
    await pipeline(source, createWriteStream(diskPath, { flags: 'wx' }))
    return diskPath
  } catch (error) {
    await rm(diskPath, { force: true })
    throw error
  }
}

/**
 * Moves a spooled file to the path, creates the folders above it and gives the path on the disk. A file that it
 * replaces hands on its mode. Refuses a folder with 400 and rejects for a link.
 */
export async function placeFile(
  volume: Volume,
  path: string,
  spooled: string,
  mode = 0o644,
): Promise<string> {
  const { diskPath, present } = await findTarget(volume, path)
  await chmod(spooled, present ? present.mode & 0o7777 : mode)
  await rename(spooled, diskPath)
  return diskPath
}

async function findTarget(
  volume: Volume,
  path: string,
): Promise<{ diskPath: string; present: Stats | undefined }> {
  const diskPath = await locateForWriting(volume.root, path)
  const present = await lstat(diskPath).catch(ignoreMissing)
  if (present?.isDirectory()) throw new FileError(400, 'A directory with this name exists.')
  if (present && !present.isFile()) throw new Error(`${path} is not a regular file`)
  return { diskPath, present }
}

/** Writes a stream as `placeFile` does: readers find the old content or the new one, never a part of it. */
export async function writeFile(
  volume: Volume,
  path: string,
  source: AsyncIterable<Buffer>,
  mode?: number,
): Promise<string> {
  await findTarget(volume, path)
  const spooled = await spoolStream(volume, source)
  try {
    return await placeFile(volume, path, spooled, mode)
  } finally {
    await rm(spooled, { force: true })
  }
}

/** Creates an empty file at the path, or truncates the existing one, and opens it. The caller closes it. */
export async function openForWriting(volume: Volume, path: string): Promise<FileHandle> {
  const { diskPath } = await findTarget(volume, path)
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW
  return open(diskPath, flags, 0o644)
}

/** Creates a folder and those above it. Refuses with 400, or 500 on 1.11, when a file has the name of one. */
export async function createDirectory(volume: Volume, path: string, profile: Profile): Promise<void> {
  try {
    await ensureDirectory(volume.root, path)
  } catch (error) {
    if (systemCode(error) !== 'ENOTDIR' || profile === '1.11') throw error
    throw new FileError(400, 'A part of the path is not a directory.')
  }
}

/**
 * Moves a file or folder and creates the folders above its target; a missing one is ignored. Refuses with 400 when
 * the target exists. Wings: PUT …/files/rename
 */
export async function renameFile(volume: Volume, from: string, to: string): Promise<void> {
  if (cleanPath(from) === cleanPath(to)) return
  if (cleanPath(from) === '/' || cleanPath(to) === '/') throw new Error('the root cannot be moved')
  const source = await statPath(volume, from).catch(ignoreMissing)
  if (!source) return
  const target = await locateForWriting(volume.root, to)
  if (await lstat(target).catch(ignoreMissing)) throw new FileError(400, 'A file with the new name exists.')
  await rename(source.diskPath, target)
}

/** Copies a file to `x copy.ext` or `x copy 1.ext` beside it. A folder counts as missing. */
export async function duplicateFile(volume: Volume, path: string): Promise<void> {
  const { diskPath, stats } = await statPath(volume, path)
  if (stats.isSymbolicLink()) throw new Error(`${path} is a link`)
  if (!stats.isFile()) throw Object.assign(new Error(`${path} is not a file`), { code: 'ENOENT' })
  for (const name of generateCopyNames(basename(diskPath))) {
    try {
      return await copyFile(diskPath, join(dirname(diskPath), name), constants.COPYFILE_EXCL)
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
    }
  }
}

function* generateCopyNames(name: string): Generator<string> {
  const [, stem = '', extension = ''] = /^(.*?)((?:\.tar)?\.[^.]*)?$/s.exec(name) ?? []
  for (let count = 0; count < maxCopies; count += 1) {
    yield `${stem} copy${count === 0 ? '' : ` ${count}`}${extension}`
  }
  yield `${stem}copy.${rfc3339(new Date())}${extension}`
}

/** Deletes a file or folder; a missing one is ignored except on pelican. Rejects for the root. */
export async function removeFile(volume: Volume, path: string, profile: Profile): Promise<void> {
  if (cleanPath(path) === '/') throw new Error('the root cannot be removed')
  const found = statPath(volume, path)
  const present = await (profile === 'pelican' ? found : found.catch(ignoreMissing))
  if (present) await rm(present.diskPath, { recursive: true, force: true })
}

/** Sets the permission bits; a missing file is ignored. Rejects for a link. */
export async function changeMode(volume: Volume, path: string, mode: number): Promise<void> {
  const found = await statPath(volume, path).catch(ignoreMissing)
  if (found?.stats.isSymbolicLink()) throw new Error(`${path} is a link`)
  if (found) await chmod(found.diskPath, mode & 0o777)
}
