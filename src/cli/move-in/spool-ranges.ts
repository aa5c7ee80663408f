import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { constants, gunzipSync, gzipSync } from 'node:zlib'
import type { SourceRow } from './spool.ts'

/** Ids in a range: about as many rows are in memory at a time. */
const rangeIds = 2000
const writeLength = 256 * 1024

/** Tables that are kept by ranges of a column, as they can have millions of rows in any order. */
const rangedBy: Record<string, string> = {
  activity_logs: 'id',
  activity_log_subjects: 'activity_log_id',
  audit_logs: 'id',
}

/** Returns the first id of a range. */
export const firstIdOf = (number: number): number => number * rangeIds

/** Whether a table is kept by ranges. */
export const isRanged = (table: string): boolean => table in rangedBy

/** The rows of such tables: one packed file a range. */
export type RangedRows = {
  /** Adds rows, and returns how many. */
  add: (table: string, rows: AsyncIterable<SourceRow> | Iterable<SourceRow>) => Promise<number>
  /** The numbers of the ranges that have rows of a table, in their order. */
  numbers: (table: string) => number[]
  /** Reads a range; none for one without rows. */
  read: (table: string, number: number) => Promise<SourceRow[]>
}

/** Keeps tables by ranges in a folder. */
export function openRanges(folder: string): RangedRows {
  const ranges = new Map<string, Set<number>>()
  const fileOf = (table: string, number: number) => join(folder, `${table}.${number}.jsonl.gz`)
  const write = async (table: string, lines: Map<number, string>) => {
    const known = ranges.get(table) ?? new Set()
    ranges.set(table, known)
    for (const [number, text] of lines) {
      known.add(number)
      // Packed parts one after another are read as one.
      const packed = gzipSync(text, { level: constants.Z_BEST_SPEED })
      await appendFile(fileOf(table, number), packed, { mode: 0o600 })
    }
    lines.clear()
  }
  return {
    add: async (table, rows) => {
      const lines = new Map<number, string>()
      let [count, length] = [0, 0]
      for await (const row of rows) {
        const number = Math.floor(Number(row[rangedBy[table] ?? 'id']) / rangeIds)
        const line = `${JSON.stringify(row)}\n`
        lines.set(number, (lines.get(number) ?? '') + line)
        count += 1
        length += line.length
        if (length < writeLength) continue
        await write(table, lines)
        length = 0
      }
      await write(table, lines)
      return count
    },
    numbers: (table) => [...(ranges.get(table) ?? [])].toSorted((one, other) => one - other),
    read: async (table, number) => {
      if (!ranges.get(table)?.has(number)) return []
      const text = gunzipSync(await readFile(fileOf(table, number))).toString('utf8')
      return text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as SourceRow)
    },
  }
}
