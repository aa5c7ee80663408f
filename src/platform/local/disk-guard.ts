import { statfsSync } from 'node:fs'
import type { PGlite } from '@electric-sql/pglite'

/**
 * Bytes that stay free for the embedded database: the next two segments of its log and a checkpoint. An engine that
 * cannot extend its log never answers again, and takes the process with it.
 */
export const minFreeBytes = 48 * 1024 * 1024
/** Bytes of a new database with its log. */
const newDatabaseBytes = 96 * 1024 * 1024

const mebibytes = (bytes: number) => Math.floor(bytes / 1024 / 1024)

/** Returns the bytes that this account may still write to the disk of a folder. */
export function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}

/** Throws when the disk of a folder is too full to open a database in it; `isNew` when there is none yet. */
export function requireFreeDisk(directory: string, isNew: boolean): void {
  const needed = minFreeBytes + (isNew ? newDatabaseBytes : 0)
  const free = freeBytes(directory)
  if (free >= needed) return
  throw new Error(
    `The disk of ${directory} is full: ${mebibytes(free)} MiB are free, and the embedded database needs ${mebibytes(needed)}.`,
  )
}

/**
 * Lets the engine only read while its disk is nearly full, and write again once there is space. What would write then
 * fails with SQLSTATE 53100. Looks at the disk before each statement and transaction, which takes microseconds.
 */
export function guardDisk(engine: PGlite, directory: string): void {
  let isReadOnly = false
  const [query, transaction] = [engine.query.bind(engine), engine.transaction.bind(engine)]
  const update = async () => {
    const isFull = freeBytes(directory) < minFreeBytes
    if (isFull === isReadOnly) return
    isReadOnly = isFull
    await engine.exec(`set default_transaction_read_only = ${isFull ? 'on' : 'off'}`)
  }
  const guarded = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await update()
    return work().catch((error: unknown) => {
      throw isReadOnly ? toStorageFull(error) : error
    })
  }
  engine.query = ((...input: Parameters<PGlite['query']>) =>
    guarded(() => query(...input))) as PGlite['query']
  engine.transaction = (work) => guarded(() => transaction(work))
}

/** Returns the error, with SQLSTATE 53100 when the engine refused to write because it only reads: 25006. */
function toStorageFull(error: unknown): unknown {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ((current as { code?: unknown }).code === '25006')
      return Object.assign(new Error('The disk of the embedded database is full.'), { code: '53100' })
  }
  return error
}
