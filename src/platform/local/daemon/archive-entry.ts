import type { FileHandle } from 'node:fs/promises'

/** One thing in an archive; the content may be read once, before the next entry, or not at all. */
export type ArchiveEntry = {
  path: string
  kind: 'file' | 'directory' | 'other'
  mode: number
  modified: Date | undefined
  content: AsyncIterable<Buffer>
}

/** Is handed every entry in turn; the first that it refuses is the last. */
export type Visit = (entry: ArchiveEntry) => Promise<void>

const chunkLength = 64 * 1024

/** The bytes of an open file between two positions, or as many of them as there are; the file stays open. */
export async function* readRange(handle: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end;) {
    const length = Math.min(chunkLength, end - at)
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
