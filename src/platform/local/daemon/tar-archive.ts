import { once } from 'node:events'
import { Parser, type ReadEntry } from 'tar'
import type { ArchiveEntry, Visit } from './archive-entry.ts'

const kinds: Record<string, ArchiveEntry['kind']> = {
  File: 'file',
  OldFile: 'file',
  ContiguousFile: 'file',
  Directory: 'directory',
  GNUDumpDir: 'directory',
}

/** Reads a tar, compressed or not. Rejects when it is damaged or ends early. */
export async function readTar(source: AsyncIterable<Buffer>, visit: Visit): Promise<void> {
  let visits = Promise.resolve()
  let current: ReadEntry | undefined
  let hasEnd = false
  const parser = new Parser({
    strict: true,
    // Worlds that are mostly empty shrink by more than the usual limit.
    maxDecompressionRatio: Infinity,
    onReadEntry: (entry) => {
      current = entry
      entry.on('error', () => {})
      visits = visits.then(() => visit(describe(entry)))
      // What nobody reads is passed over, after a refusal too: the archive would stand still.
      void visits.catch(() => {}).finally(() => entry.resume())
    },
  })
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>()
  parser.on('eof', () => (hasEnd = true))
  parser.on('end', resolve)
  // The parser takes an archive of nothing for none.
  parser.on('error', (error) => (hasEnd && !current ? undefined : reject(error)))
  // It is not waited for at once, and may not count as unheard.
  ended.catch(() => {})
  try {
    for await (const chunk of source) {
      if (!parser.write(chunk)) await Promise.race([once(parser, 'drain'), ended])
    }
    parser.end()
    await ended
  } catch (error) {
    // Whoever reads the entry under way would wait for its end for ever.
    current?.destroy(error)
    await visits.catch(() => {})
    throw error
  }
  await visits
}

function describe(entry: ReadEntry): ArchiveEntry {
  return {
    path: entry.path,
    kind: kinds[entry.type] ?? 'other',
    mode: (entry.mode ?? 0o644) & 0o777,
    modified: entry.mtime,
    content: entry,
  }
}
