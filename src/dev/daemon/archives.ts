import { rm, utimes, type FileHandle } from 'node:fs/promises'
import { basename } from 'node:path'
import { constants, gunzipSync } from 'node:zlib'
import { Header } from 'tar'
import { readRange, type EntryHandler } from './archive-entry.ts'
import type { Profile } from './daemon.ts'
import { FileError } from './file-errors.ts'
import { describeFile, rfc3339, type FileObject } from './file-object.ts'
import { statPath, openFile, placeFile, spoolStream, writeFile, type Volume } from './server-files.ts'
import { cleanPath, ensureDirectory } from './server-paths.ts'
import { readTar } from './tar-archive.ts'
import { packDirectory } from './transfer-archive.ts'
import { readZip } from './zip-archive.ts'

const tarBlock = 512
const sampleLength = 64 * 1024

/** Packs files of a folder into a tar.gz beside them, which appears once it is whole. Wings: POST …/files/compress */
export async function compress(
  volume: Volume,
  directory: string,
  names: string[],
  profile: Profile,
): Promise<FileObject> {
  const { diskPath: folder, stats } = await statPath(volume, directory)
  if (!stats.isDirectory()) throw new Error(`${directory} is not a directory`)
  const paths = names.map((name) => cleanPath(name))
  for (const path of paths) await statPath(volume, cleanPath(directory, path))
  const archive = packDirectory(
    folder,
    paths.map((path) => path.slice(1) || '.'),
  )
  const spooled = await spoolStream(volume, archive)
  try {
    const name = `archive-${rfc3339(new Date()).replaceAll(':', '')}.tar.gz`
    const path = cleanPath(directory, name)
    const diskPath = await placeFile(volume, path, spooled)
    const written = await statPath(volume, path)
    return describeFile(basename(diskPath), written.stats, 'application/tar+gzip', profile)
  } finally {
    await rm(spooled, { force: true })
  }
}

/**
 * Unpacks a tar, tar.gz or zip into a folder and replaces existing files; denied paths, links and devices are left
 * out. Refuses with 400 other formats and archives with a path outside the folder, before anything is written.
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
    if (!stats.isFile()) throw new Error(`${name} is not a file`)
    const read = await detectFormat(handle, stats.size)
    await read(async ({ path }) => refuseUnsafe(path))
    await read(async (entry) => {
      const path = cleanPath(directory, entry.path)
      if (isDenied(path)) return
      if (entry.kind === 'directory') await ensureDirectory(volume.root, path)
      if (entry.kind !== 'file') return
      const diskPath = await writeFile(volume, path, entry.content, entry.mode)
      if (entry.modified) await utimes(diskPath, entry.modified, entry.modified)
    })
  } finally {
    await handle.close()
  }
}

/** Detects the format of an archive and gives its reader. Refuses with 400 an unknown format. */
async function detectFormat(
  handle: FileHandle,
  size: number,
): Promise<(handleEntry: EntryHandler) => Promise<void>> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(sampleLength), 0, sampleLength, 0)
  const head = buffer.subarray(0, bytesRead)
  const signature = head.toString('latin1', 0, 4)
  if (signature === 'PK\x03\x04' || signature === 'PK\x05\x06') {
    return (handleEntry) => readZip(handle, size, handleEntry)
  }
  const plain = signature.startsWith('\x1f\x8b') ? gunzipStart(head) : head
  if (plain.length >= tarBlock && new Header(plain, 0).cksumValid)
    return (handleEntry) => readTar(readRange(handle, 0, size), handleEntry)
  throw new FileError(400, 'The format of the archive is not supported.')
}

/** Decompresses as much of the beginning of a gzip as there is. */
function gunzipStart(head: Buffer): Buffer {
  try {
    return gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH })
  } catch {
    return Buffer.alloc(0)
  }
}

function refuseUnsafe(path: string): void {
  if (!/^[/\\]|\0/.test(path) && !path.split(/[/\\]/).includes('..')) return
  throw new FileError(400, 'The archive contains a path outside of its folder.')
}
