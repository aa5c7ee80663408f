import { inflateRawSync } from 'node:zlib'

const endOfDirectory = 0x06054b50
const directoryEntry = 0x02014b50
const deflated = 8

export type ZipEntry = { name: string; data: () => Buffer }

/** Lists the files of a ZIP archive of less than 4 GiB. Throws when it is invalid. */
export function zipEntries(archive: Buffer): ZipEntry[] {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]))
  if (end < 0 || archive.readUInt32LE(end) !== endOfDirectory) throw new Error('This is not a ZIP archive.')
  const entries: ZipEntry[] = []
  let offset = archive.readUInt32LE(end + 16)
  for (let remaining = archive.readUInt16LE(end + 10); remaining > 0; remaining -= 1) {
    if (archive.readUInt32LE(offset) !== directoryEntry)
      throw new Error('The directory of the archive is damaged.')
    const nameLength = archive.readUInt16LE(offset + 28)
    const start = offset
    entries.push({
      name: archive.toString('utf8', offset + 46, offset + 46 + nameLength),
      data: () => contentOf(archive, start),
    })
    offset += 46 + nameLength + archive.readUInt16LE(offset + 30) + archive.readUInt16LE(offset + 32)
  }
  return entries
}

/** Reads the content, which follows a header of variable length. */
function contentOf(archive: Buffer, entry: number): Buffer {
  const header = archive.readUInt32LE(entry + 42)
  const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28)
  const content = archive.subarray(start, start + archive.readUInt32LE(entry + 20))
  return archive.readUInt16LE(entry + 10) === deflated ? inflateRawSync(content) : content
}
