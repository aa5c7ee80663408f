import { inflateRawSync } from 'node:zlib'

const endOfDirectory = 0x06054b50
const directoryEntry = 0x02014b50
const deflated = 8

export type ZipEntry = { name: string; data: () => Buffer }

/** The files of a ZIP archive of less than 4 GiB. Throws when it is none. */
export function zipEntries(archive: Buffer): ZipEntry[] {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]))
  if (end < 0 || archive.readUInt32LE(end) !== endOfDirectory) throw new Error('This is no ZIP archive.')
  const entries: ZipEntry[] = []
  let at = archive.readUInt32LE(end + 16)
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (archive.readUInt32LE(at) !== directoryEntry)
      throw new Error('The directory of the archive is broken.')
    const nameLength = archive.readUInt16LE(at + 28)
    const start = at
    entries.push({
      name: archive.toString('utf8', at + 46, at + 46 + nameLength),
      data: () => contentOf(archive, start),
    })
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
  }
  return entries
}

/** Names and extra fields have lengths of their own in front of the content. */
function contentOf(archive: Buffer, entry: number): Buffer {
  const header = archive.readUInt32LE(entry + 42)
  const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28)
  const content = archive.subarray(start, start + archive.readUInt32LE(entry + 20))
  return archive.readUInt16LE(entry + 10) === deflated ? inflateRawSync(content) : content
}
