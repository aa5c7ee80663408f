import type { FileHandle } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import { readRange, type ArchiveEntry, type EntryHandler } from './archive-entry.ts'
import { FileError, systemCode } from './file-errors.ts'

const endLength = 22
const maxCommentLength = 65_535
const maxDirectoryBytes = 64 * 1024 * 1024
const headLength = { central: 46, local: 30 }
const signatures = { end: 0x06054b50, central: 0x02014b50, local: 0x04034b50 }
/** The values of fields that do not fit and are in the ZIP64 fields instead. */
const [tooLarge, tooMany] = [0xffffffff, 0xffff]

type ZipEntry = {
  path: string
  encrypted: boolean
  method: number
  checksum: number
  packed: number
  size: number
  unixMode: number
  modified: Date
  offset: number
}

/**
 * Reads a zip by its central directory. Refuses with 400 an archive that is damaged, encrypted, larger than 4 GiB, or
 * compressed by another method than deflate.
 */
export async function readZip(handle: FileHandle, size: number, handleEntry: EntryHandler): Promise<void> {
  for (const entry of await readDirectory(handle, size)) {
    await handleEntry({
      path: entry.path,
      kind: kindOf(entry),
      mode: entry.unixMode & 0o777 || 0o644,
      modified: entry.modified,
      content: readContent(handle, entry),
    })
  }
}

function kindOf({ path, unixMode }: ZipEntry): ArchiveEntry['kind'] {
  if (path.endsWith('/')) return 'directory'
  const type = unixMode & 0o170000
  return type === 0 || type === 0o100000 ? 'file' : 'other'
}

async function readDirectory(handle: FileHandle, size: number): Promise<ZipEntry[]> {
  const tailStart = Math.max(0, size - endLength - maxCommentLength)
  const tail = await readBytes(handle, tailStart, size - tailStart)
  const end = findEnd(tail)
  const [count, length, offset] = [
    tail.readUInt16LE(end + 10),
    tail.readUInt32LE(end + 12),
    tail.readUInt32LE(end + 16),
  ]
  if (length > maxDirectoryBytes || offset === tooLarge || count === tooMany) throw damaged()
  const directory = await readBytes(handle, offset, length)
  const entries: ZipEntry[] = []
  for (let at = 0; entries.length < count;) {
    if (at + headLength.central > length || directory.readUInt32LE(at) !== signatures.central) throw damaged()
    const lengths = [28, 30, 32].map((field) => directory.readUInt16LE(at + field))
    entries.push(decodeEntry(directory.subarray(at), lengths[0] ?? 0))
    at += lengths.reduce((sum, part) => sum + part, headLength.central)
  }
  return entries
}

/** Finds the end record, which only a comment may follow. */
function findEnd(tail: Buffer): number {
  for (let at = tail.length - endLength; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) === signatures.end) return at
  }
  throw damaged()
}

function decodeEntry(record: Buffer, nameLength: number): ZipEntry {
  const flags = record.readUInt16LE(8)
  const isUnix = record.readUInt8(5) === 3
  const entry = {
    path: decodeName(record.subarray(headLength.central, headLength.central + nameLength)),
    encrypted: (flags & 1) !== 0,
    method: record.readUInt16LE(10),
    modified: decodeTime(record.readUInt16LE(14), record.readUInt16LE(12)),
    checksum: record.readUInt32LE(16),
    packed: record.readUInt32LE(20),
    size: record.readUInt32LE(24),
    unixMode: isUnix ? record.readUInt16LE(40) : 0,
    offset: record.readUInt32LE(42),
  }
  const isReadable = !entry.encrypted && (entry.method === 0 || entry.method === 8)
  if (!isReadable || [entry.packed, entry.size, entry.offset].includes(tooLarge)) {
    throw new FileError(
      400,
      'The archive is encrypted, too large, or compressed by a method that is not supported.',
    )
  }
  return entry
}

/** Decodes a name as UTF-8, else as Latin-1: archives without UTF-8 do not name their encoding. */
function decodeName(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return bytes.toString('latin1')
  }
}

function decodeTime(date: number, time: number): Date {
  return new Date(
    1980 + (date >> 9),
    ((date >> 5) & 15) - 1,
    date & 31,
    time >> 11,
    (time >> 5) & 63,
    (time & 31) * 2,
  )
}

async function* readContent(handle: FileHandle, entry: ZipEntry): AsyncGenerator<Buffer> {
  const head = await readBytes(handle, entry.offset, headLength.local)
  if (head.readUInt32LE(0) !== signatures.local) throw damaged()
  const start = entry.offset + headLength.local + head.readUInt16LE(26) + head.readUInt16LE(28)
  const packed = readRange(handle, start, start + entry.packed)
  // A failure of either is thrown by the iteration.
  const content = entry.method === 0 ? packed : pipeline(packed, createInflateRaw(), () => {})
  const checked = createCheck(entry)
  try {
    for await (const chunk of content) yield checked.pass(chunk as Buffer)
  } catch (error) {
    throw systemCode(error)?.startsWith('Z_') ? damaged() : error
  }
  checked.finish()
}

/** Creates a check of content against the directory. It refuses content that is too long before its end. */
function createCheck(entry: ZipEntry) {
  let [size, checksum] = [0, 0]
  return {
    pass: (chunk: Buffer): Buffer => {
      size += chunk.length
      checksum = crc32(chunk, checksum)
      if (size > entry.size) throw damaged()
      return chunk
    },
    finish: (): void => {
      if (size !== entry.size || checksum !== entry.checksum) throw damaged()
    },
  }
}

async function readBytes(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position)
  if (bytesRead < length) throw damaged()
  return buffer
}

function damaged(): FileError {
  return new FileError(400, 'The archive is damaged.')
}
