/** An entry of an archive. */
export type ArchiveEntry = { name: string; size: number; isFolder: boolean }

/** The entries of an archive; truncated when it has more than these. */
export type ArchiveListing = { entries: ArchiveEntry[]; isTruncated: boolean }

/** Longer lists help no reader. */
export const maxListedEntries = 5000

const endSignature = 0x06054b50
const end64Signature = 0x06064b50
const locator64Signature = 0x07064b50
const entrySignature = 0x02014b50
const endLength = 22
const maxCommentLength = 0xffff
const unknown16 = 0xffff
const unknown32 = 0xffffffff

const viewOf = async (blob: Blob, from: number, to = blob.size) =>
  new DataView(await blob.slice(Math.max(0, from), to).arrayBuffer())

/** Lists a zip by its central directory; null when it has none. */
export async function listZip(blob: Blob): Promise<ArchiveListing | null> {
  const directory = await findDirectory(blob)
  if (!directory) return null
  const view = await viewOf(blob, directory.start, directory.start + directory.size)
  const entries: ArchiveEntry[] = []
  let at = 0
  while (at + 46 <= view.byteLength && view.getUint32(at, true) === entrySignature) {
    if (entries.length === maxListedEntries) return { entries, isTruncated: true }
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) =>
      view.getUint16(at + offset, true),
    ) as [number, number, number]
    if (at + 46 + nameLength + extraLength > view.byteLength) break
    const name = new TextDecoder().decode(new Uint8Array(view.buffer, at + 46, nameLength))
    const size = sizeOf(view, at, at + 46 + nameLength, extraLength)
    entries.push({ name, size, isFolder: name.endsWith('/') })
    at += 46 + nameLength + extraLength + commentLength
  }
  return { entries, isTruncated: false }
}

/** Finds the central directory by the record at the end. Other data may stand before the archive. */
async function findDirectory(blob: Blob): Promise<{ start: number; size: number } | null> {
  const tailStart = Math.max(0, blob.size - endLength - maxCommentLength)
  const tail = await viewOf(blob, tailStart)
  let at = tail.byteLength - endLength
  while (at >= 0 && tail.getUint32(at, true) !== endSignature) at -= 1
  if (at < 0) return null
  const [size, offset] = [tail.getUint32(at + 12, true), tail.getUint32(at + 16, true)]
  if (offset === unknown32 || size === unknown32 || tail.getUint16(at + 10, true) === unknown16)
    return findDirectory64(blob, tailStart + at)
  return { start: tailStart + at - size, size }
}

async function findDirectory64(blob: Blob, end: number): Promise<{ start: number; size: number } | null> {
  const locator = await viewOf(blob, end - 20, end)
  if (locator.byteLength < 20 || locator.getUint32(0, true) !== locator64Signature) return null
  const record = await viewOf(blob, Number(locator.getBigUint64(8, true)))
  if (record.byteLength < 56 || record.getUint32(0, true) !== end64Signature) return null
  return { start: Number(record.getBigUint64(48, true)), size: Number(record.getBigUint64(40, true)) }
}

/** Returns the size of an entry; that of a large one stands in an extra field. */
function sizeOf(view: DataView, entry: number, extra: number, extraLength: number): number {
  const size = view.getUint32(entry + 24, true)
  if (size !== unknown32) return size
  for (let at = extra; at + 4 <= extra + extraLength; at += 4 + view.getUint16(at + 2, true)) {
    if (view.getUint16(at, true) === 1 && at + 12 <= view.byteLength)
      return Number(view.getBigUint64(at + 4, true))
  }
  return size
}
