import type { FileHandle } from 'node:fs/promises'

/** A file or directory in an archive; the content may be read once, before the next entry, or not at all. */
export type ArchiveEntry = {
  path: string
  kind: 'file' | 'directory' | 'other'
  mode: number
  modified: Date | undefined
  content: AsyncIterable<Buffer>
}

/** Handles the entries of an archive one after the other; reading ends with the first that it rejects. */
export type EntryHandler = (entry: ArchiveEntry) => Promise<void>

const chunkLength = 64 * 1024

/** Reads an open file from `start` to before `end`, or to its end if that comes first. The file stays open. */
export async function* readRange(handle: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at < end;) {
    const length = Math.min(chunkLength, end - at)
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}
