import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { makeSpoolFolder, removeAbandonedFolders } from './spool-folders.ts'
import { isRanged, openRanges, type RangedRows } from './spool-ranges.ts'

/** A row of the old panel: numbers, texts and null, by column. */
export type SourceRow = Record<string, string | number | null>

/** The rows of the old panel in a folder of this machine: one file a table, one JSON object a line. */
export type Spool = {
  /** Columns by table, of those that the old panel has. */
  columns: Map<string, string[]>
  /** Number of rows by table. */
  counts: Map<string, number>
  /** Number of rows by `table.column`, of columns that nothing is known about and that hold something. */
  unknownValues: Map<string, number>
  /** Sentences about the source, for the operator. */
  notes: string[]
  /** Writes rows of a table to the end of its file. */
  add: (table: string, rows: AsyncIterable<SourceRow> | Iterable<SourceRow>) => Promise<void>
  /** Rows of tables that are too large to be read as one, which have no batches. */
  ranges: Pick<RangedRows, 'numbers' | 'read'>
  /** Reads a table in batches. A table that is not there has none. */
  batches: (table: string, size?: number) => AsyncGenerator<SourceRow[]>
  /** Deletes the folder. */
  remove: () => Promise<void>
}

const batchSize = 500
const writeLength = 64 * 1024

let parentFolder = tmpdir()

/** Sets the folder in which this process opens its spools, in place of that for temporary files. */
export const setSpoolFolder = (folder: string): void => {
  parentFolder = folder
}

/**
 * Opens an empty spool in a private folder for temporary files, and deletes those of processes that were killed. Its
 * secrets stay encrypted with the old panel's key.
 */
export async function openSpool(): Promise<Spool> {
  await removeAbandonedFolders(parentFolder)
  const folder = await makeSpoolFolder(parentFolder)
  const columns = new Map<string, string[]>()
  const counts = new Map<string, number>()
  const ranges = openRanges(folder)
  const fileOf = (table: string) => join(folder, `${encodeURIComponent(table)}.jsonl`)
  return {
    columns,
    counts,
    unknownValues: new Map(),
    notes: [],
    ranges,
    add: async (table, rows) => {
      const added = isRanged(table) ? await ranges.add(table, rows) : await addLines(fileOf(table), rows)
      counts.set(table, (counts.get(table) ?? 0) + added)
    },
    batches: async function* (table, size = batchSize) {
      if (!counts.get(table) || isRanged(table)) return
      let batch: SourceRow[] = []
      for await (const line of createInterface({
        input: createReadStream(fileOf(table)),
        crlfDelay: Infinity,
      })) {
        batch.push(JSON.parse(line) as SourceRow)
        if (batch.length < size) continue
        yield batch
        batch = []
      }
      if (batch.length > 0) yield batch
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Adds rows to the end of a file, and returns how many. */
async function addLines(path: string, rows: AsyncIterable<SourceRow> | Iterable<SourceRow>): Promise<number> {
  const file = await open(path, 'a', 0o600)
  let [count, lines] = [0, '']
  try {
    for await (const row of rows) {
      count += 1
      lines += `${JSON.stringify(row)}\n`
      if (lines.length < writeLength) continue
      await file.appendFile(lines)
      lines = ''
    }
    await file.appendFile(lines)
    return count
  } finally {
    await file.close()
  }
}
