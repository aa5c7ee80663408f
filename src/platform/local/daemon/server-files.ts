import { randomUUID } from 'node:crypto'
import { constants, createWriteStream, type Stats } from 'node:fs'
import { chmod, copyFile, lstat, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Daemon, Profile } from './daemon.ts'
import { FileError, ignoreMissing, systemCode } from './file-errors.ts'
import { describeFile, readableFlags, rfc3339, sniffPlace, type FileObject } from './file-object.ts'
import type { GameServer } from './game-server.ts'
import { cleanPath, ensureDirectory, locate, locateForWriting } from './server-paths.ts'

/** The files of one server; what arrives is kept in `spool`, on the same disk, until it is whole. */
export type Volume = { root: string; spool: string }

export type OpenFile = { handle: FileHandle; name: string; stats: Stats }

const entriesAtOnce = 32
const mostCopies = 51

export function volumeOf(daemon: Daemon, server: GameServer): Volume {
  return { root: server.directory, spool: daemon.settings.spoolDirectory }
}

/** What is at a path, the link itself when it is one. Rejects with ENOENT when nothing is. */
export async function lookUp(volume: Volume, path: string): Promise<{ place: string; stats: Stats }> {
  const place = await locate(volume.root, path)
  return { place, stats: await lstat(place) }
}

/** Opens a file for reading; refuses a pipe with 400 and rejects for a link. The caller closes it. */
export async function openFile(volume: Volume, path: string): Promise<OpenFile> {
  const { place, stats } = await lookUp(volume, path)
  if (stats.isFIFO() || stats.isSocket()) throw new FileError(400, 'Files of this kind cannot be opened.')
  const handle = await open(place, readableFlags)
  return { handle, name: basename(place), stats: await handle.stat() }
}

/** What a folder holds, by name, folders last. Rejects for a link. Wings: GET …/files/list-directory */
export async function listDirectory(volume: Volume, path: string, profile: Profile): Promise<FileObject[]> {
  const { place, stats } = await lookUp(volume, path)
  if (!stats.isDirectory()) throw new Error(`${path} is no directory`)
  const names = (await readdir(place)).toSorted()
  const found: FileObject[] = []
  for (let at = 0; at < names.length; at += entriesAtOnce) {
    const entries = names.slice(at, at + entriesAtOnce).map((name) => describeEntry(place, name, profile))
    found.push(...(await Promise.all(entries)).filter((entry) => entry !== undefined))
  }
  return [...found.filter((entry) => entry.file), ...found.filter((entry) => entry.directory)]
}

/** Nothing for what was removed in the meantime. */
async function describeEntry(
  folder: string,
  name: string,
  profile: Profile,
): Promise<FileObject | undefined> {
  const place = join(folder, name)
  try {
    const stats = await lstat(place)
    return describeFile(name, stats, await sniffPlace(place, stats), profile)
  } catch (error) {
    return ignoreMissing(error)
  }
}

/** Keeps a stream in the spool and gives the place, which the caller moves or removes. */
export async function spoolStream(volume: Volume, source: AsyncIterable<Buffer>): Promise<string> {
  const place = join(volume.spool, randomUUID())
  try {
    await pipeline(source, createWriteStream(place, { flags: 'wx' }))
    return place
  } catch (error) {
    await rm(place, { force: true })
    throw error
  }
}

/**
 * A spooled file is at the path afterwards, with the folders above it. It replaces a file and takes over its mode;
 * refuses a folder with 400 and rejects for a link. Gives the place.
 */
export async function placeFile(
  volume: Volume,
  path: string,
  spooled: string,
  mode = 0o644,
): Promise<string> {
  const { place, present } = await findTarget(volume, path)
  await chmod(spooled, present ? present.mode & 0o7777 : mode)
  await rename(spooled, place)
  return place
}

async function findTarget(
  volume: Volume,
  path: string,
): Promise<{ place: string; present: Stats | undefined }> {
  const place = await locateForWriting(volume.root, path)
  const present = await lstat(place).catch(ignoreMissing)
  if (present?.isDirectory()) throw new FileError(400, 'A directory has this name.')
  if (present && !present.isFile()) throw new Error(`${path} is no regular file`)
  return { place, present }
}

/** Writes a stream as `placeFile` does: whoever reads meanwhile has the old content or the new, never a part. */
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

/** Opens an empty file at the path, in the place of one that is there. The caller closes it. */
export async function openForWriting(volume: Volume, path: string): Promise<FileHandle> {
  const { place } = await findTarget(volume, path)
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW
  return open(place, flags, 0o644)
}

/** A folder is there afterwards; refuses with 400, or 500 on 1.11, what is in the way of it. */
export async function createDirectory(volume: Volume, path: string, profile: Profile): Promise<void> {
  try {
    await ensureDirectory(volume.root, path)
  } catch (error) {
    if (systemCode(error) !== 'ENOTDIR' || profile === '1.11') throw error
    throw new FileError(400, 'A part of the path is no directory.')
  }
}

/**
 * Moves a thing, and makes the folders above its target. Nothing happens when it is missing; refuses with 400
 * when anything is at the target. Wings: PUT …/files/rename
 */
export async function renameFile(volume: Volume, from: string, to: string): Promise<void> {
  if (cleanPath(from) === cleanPath(to)) return
  if (cleanPath(from) === '/' || cleanPath(to) === '/') throw new Error('the root cannot be moved')
  const source = await lookUp(volume, from).catch(ignoreMissing)
  if (!source) return
  const target = await locateForWriting(volume.root, to)
  if (await lstat(target).catch(ignoreMissing))
    throw new FileError(400, 'Something has the new name already.')
  await rename(source.place, target)
}

/** Puts a copy beside a file, `x copy.ext`, then `x copy 1.ext`; what is no file counts as missing. */
export async function copyBeside(volume: Volume, path: string): Promise<void> {
  const { place, stats } = await lookUp(volume, path)
  if (stats.isSymbolicLink()) throw new Error(`${path} is a link`)
  if (!stats.isFile()) throw Object.assign(new Error(`${path} is no file`), { code: 'ENOENT' })
  for (const name of copyNames(basename(place))) {
    try {
      return await copyFile(place, join(dirname(place), name), constants.COPYFILE_EXCL)
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
    }
  }
}

function* copyNames(name: string): Generator<string> {
  const [, stem = '', extension = ''] = /^(.*?)((?:\.tar)?\.[^.]*)?$/s.exec(name) ?? []
  for (let count = 0; count < mostCopies; count += 1) {
    yield `${stem} copy${count === 0 ? '' : ` ${count}`}${extension}`
  }
  yield `${stem}copy.${rfc3339(new Date())}${extension}`
}

/** Removes a thing for good; a missing one is fine except on pelican. Rejects for the root. */
export async function removeFile(volume: Volume, path: string, profile: Profile): Promise<void> {
  if (cleanPath(path) === '/') throw new Error('the root cannot be removed')
  const found = lookUp(volume, path)
  const present = await (profile === 'pelican' ? found : found.catch(ignoreMissing))
  if (present) await rm(present.place, { recursive: true, force: true })
}

/** Sets the permission bits; a missing thing is fine. Rejects for a link. */
export async function changeMode(volume: Volume, path: string, mode: number): Promise<void> {
  const found = await lookUp(volume, path).catch(ignoreMissing)
  if (found?.stats.isSymbolicLink()) throw new Error(`${path} is a link`)
  if (found) await chmod(found.place, mode & 0o777)
}
