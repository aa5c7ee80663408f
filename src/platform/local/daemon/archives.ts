import { rm, utimes, type FileHandle } from 'node:fs/promises'
import { basename } from 'node:path'
import { constants, gunzipSync } from 'node:zlib'
import { Header } from 'tar'
import { readRange, type Visit } from './archive-entry.ts'
import type { Profile } from './daemon.ts'
import { FileError } from './file-errors.ts'
import { describeFile, rfc3339, type FileObject } from './file-object.ts'
import { lookUp, openFile, placeFile, spoolStream, writeFile, type Volume } from './server-files.ts'
import { cleanPath, ensureDirectory } from './server-paths.ts'
import { readTar } from './tar-archive.ts'
import { packDirectory } from './transfer-archive.ts'
import { readZip } from './zip-archive.ts'

const tarBlock = 512
const sampleLength = 64 * 1024

/** Packs things of a folder into a tar.gz beside them, which is there when it is whole. Wings: POST …/files/compress */
export async function compress(
  volume: Volume,
  directory: string,
  names: string[],
  profile: Profile,
): Promise<FileObject> {
  const { place: folder, stats } = await lookUp(volume, directory)
  if (!stats.isDirectory()) throw new Error(`${directory} is no directory`)
  const paths = names.map((name) => cleanPath(name))
  for (const path of paths) await lookUp(volume, cleanPath(directory, path))
  const archive = packDirectory(
    folder,
    paths.map((path) => path.slice(1) || '.'),
  )
  const spooled = await spoolStream(volume, archive)
  try {
    const name = `archive-${rfc3339(new Date()).replaceAll(':', '')}.tar.gz`
    const path = cleanPath(directory, name)
    const place = await placeFile(volume, path, spooled)
    const written = await lookUp(volume, path)
    return describeFile(basename(place), written.stats, 'application/tar+gzip', profile)
  } finally {
    await rm(spooled, { force: true })
  }
}

/**
 * Unpacks a tar, tar.gz or zip into a folder, over what is there; denied paths, links and devices are left out.
 * Refuses other formats, and archives with a name that leads elsewhere, with 400 before anything is written.
 * Wings: POST …/files/decompress
 */
export async function decompress(
  volume: Volume,
  directory: string,
  name: string,
  isDenied: (path: string) => boolean,
): Promise<void> {
  const { handle, stats } = await openFile(volume, cleanPath(directory, name))
  try {
    if (!stats.isFile()) throw new Error(`${name} is no file`)
    const read = await recognise(handle, stats.size)
    await read(async ({ path }) => refuseUnsafe(path))
    await read(async (entry) => {
      const path = cleanPath(directory, entry.path)
      if (isDenied(path)) return
      if (entry.kind === 'directory') await ensureDirectory(volume.root, path)
      if (entry.kind !== 'file') return
      const place = await writeFile(volume, path, entry.content, entry.mode)
      if (entry.modified) await utimes(place, entry.modified, entry.modified)
    })
  } finally {
    await handle.close()
  }
}

/** How the archive is read; refuses with 400 what is none. */
async function recognise(handle: FileHandle, size: number): Promise<(visit: Visit) => Promise<void>> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(sampleLength), 0, sampleLength, 0)
  const head = buffer.subarray(0, bytesRead)
  const signature = head.toString('latin1', 0, 4)
  if (signature === 'PK\x03\x04' || signature === 'PK\x05\x06') {
    return (visit) => readZip(handle, size, visit)
  }
  const plain = signature.startsWith('\x1f\x8b') ? gunzipStart(head) : head
  if (plain.length >= tarBlock && new Header(plain, 0).cksumValid)
    return (visit) => readTar(readRange(handle, 0, size), visit)
  throw new FileError(400, 'The format of the archive is not known.')
}

/** The beginning of what was compressed, however much of it there is. */
function gunzipStart(head: Buffer): Buffer {
  try {
    return gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH })
  } catch {
    return Buffer.alloc(0)
  }
}

function refuseUnsafe(path: string): void {
  if (!/^[/\\]|\0/.test(path) && !path.split(/[/\\]/).includes('..')) return
  throw new FileError(400, 'The archive holds a name that leads out of its folder.')
}
