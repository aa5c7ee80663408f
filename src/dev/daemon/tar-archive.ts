import { once } from 'node:events'
import { Parser, type ReadEntry } from 'tar'
import type { ArchiveEntry, EntryHandler } from './archive-entry.ts'

const kinds: Record<string, ArchiveEntry['kind']> = {
  File: 'file',
  OldFile: 'file',
  ContiguousFile: 'file',
  Directory: 'directory',
  GNUDumpDir: 'directory',
}

/** Reads a tar, compressed or not. Rejects when it is damaged or ends early. */
export async function readTar(source: AsyncIterable<Buffer>, handle: EntryHandler): Promise<void> {
  let handled = Promise.resolve()
  let current: ReadEntry | undefined
  let hasEnd = false
  const parser = new Parser({
    strict: true,
    // Worlds that are mostly empty exceed the default limit.
    maxDecompressionRatio: Infinity,
    onReadEntry: (entry) => {
      current = entry
      entry.on('error', () => {})
      handled = handled.then(() => handle(toArchiveEntry(entry)))
      // An entry that is not read has to be skipped, or the parser waits for it.
      void handled.catch(() => {}).finally(() => entry.resume())
    },
  })
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  parser.on('eof', () => (hasEnd = true))
  parser.on('end', resolve)
  // The parser rejects an empty archive as invalid.
  parser.on('error', (error) => (hasEnd && !current ? undefined : reject(error)))
  // It is awaited later and must not be reported as an unhandled rejection until then.
  ended.catch(() => {})
  try {
    for await (const chunk of source) {
      if (!parser.write(chunk)) await Promise.race([once(parser, 'drain'), ended])
    }
    parser.end()
    await ended
  } catch (error) {
    // The handler of the current entry would wait for its end forever.
    current?.destroy(error)
    await handled.catch(() => {})
    throw error
  }
  await handled
}

function toArchiveEntry(entry: ReadEntry): ArchiveEntry {
  return {
    path: entry.path,
    kind: kinds[entry.type] ?? 'other',
    mode: (entry.mode ?? 0o644) & 0o777,
    modified: entry.mtime,
    content: entry,
  }
}
