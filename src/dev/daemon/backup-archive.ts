import { createHash } from 'node:crypto'
import { createWriteStream, type Stats } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import ignore from 'ignore'
import { Header, Pax, type HeaderData } from 'tar'
import { readRange } from './archive-entry.ts'
import { ignoreMissing } from './file-errors.ts'
import { readableFlags } from './file-object.ts'

/** The SHA-1 of an archive and its size in bytes. */
export type ArchiveDetails = { checksum: string; size: number }

const block = 512

/**
 * Writes the regular files below a folder to a tar.gz, without those that match `ignored`, which is read as a
 * .gitignore. Links, sockets and empty folders are left out, as are files that are removed meanwhile. Rejects when
 * a file becomes shorter while it is read.
 */
export async function writeBackupArchive(
  directory: string,
  archivePath: string,
  ignored: string,
  signal: AbortSignal,
): Promise<ArchiveDetails> {
  const rules = ignore({ ignorecase: false, allowRelativePaths: true }).add(ignored)
  const hash = createHash('sha1')
  let size = 0
  const measure = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk)
      size += chunk.length
      yield chunk
    }
  }
  const members = encodeTar(directory, (path) => rules.ignores(path))
  await pipeline(members, createGzip(), measure, createWriteStream(archivePath), { signal })
  return { checksum: hash.digest('hex'), size }
}

async function* encodeTar(directory: string, isIgnored: (path: string) => boolean): AsyncGenerator<Buffer> {
  for await (const path of listFiles(directory, '', isIgnored)) yield* encodeFile(directory, path)
  yield Buffer.alloc(2 * block)
}

async function* listFiles(
  directory: string,
  folder: string,
  isIgnored: (path: string) => boolean,
): AsyncGenerator<string> {
  const entries = await readdir(join(directory, folder), { withFileTypes: true }).catch(ignoreMissing)
  for (const entry of entries ?? []) {
    const path = `${folder}${entry.name}`
    if (entry.isDirectory() && !isIgnored(`${path}/`)) yield* listFiles(directory, `${path}/`, isIgnored)
    if (entry.isFile() && !isIgnored(path)) yield path
  }
}

async function* encodeFile(directory: string, path: string): AsyncGenerator<Buffer> {
  const handle = await open(join(directory, path), readableFlags).catch(ignoreMissing)
  if (!handle) return
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) return
    yield encodeHeader(path, stats)
    let read = 0
    for await (const chunk of readRange(handle, 0, stats.size)) {
      read += chunk.length
      yield chunk
    }
    if (read < stats.size) throw new Error(`${path} became shorter while it was read`)
    yield Buffer.alloc((block - (read % block)) % block)
  } finally {
    await handle.close()
  }
}

/** Encodes the header of a file; a path or size that does not fit has an extended header before it. */
function encodeHeader(path: string, { mode, uid, gid, size, mtime }: Stats): Buffer {
  const data: HeaderData = { path, mode: mode & 0o7777, uid, gid, size, mtime, type: 'File' }
  const head = Buffer.alloc(block)
  const isLong = new Header(data).encode(head, 0)
  return isLong ? Buffer.concat([new Pax(data).encode(), head]) : head
}
