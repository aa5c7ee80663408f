import { closeSync, fstatSync, openSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'
import { log } from '../../log.ts'

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

/** Why the engine may not write, with the SQLSTATE of what would; `ok` when it may. */
type DiskState = 'ok' | 'full' | 'read-only'

const faults = {
  full: {
    code: '53100',
    message: 'The disk of the embedded database is full.',
    step: 'Free space there, and the panel goes on by itself',
  },
  'read-only': {
    code: '25006',
    message: 'The disk of the embedded database is read-only, or broken.',
    step: 'Look for its errors in the log of the system (dmesg), repair the disk and mount it again; the panel then goes on by itself',
  },
}

/** Looks whether the engine may write to its disk, now and later. */
export type DiskGuard = { mayWrite: () => boolean }

/**
 * Lets the engine only read while its disk is nearly full or does not take a byte, and write again once it does. What would
 * write then fails with SQLSTATE 53100 or 25006. Looks at the disk before each statement and transaction, which takes
 * microseconds: an engine whose log cannot be written never answers again. `onRemounted` is called once when the folder is
 * that of another disk, which takes a byte: the files of the engine are still those of the failed one.
 */
export function guardDisk(engine: PGlite, directory: string, onRemounted = () => {}): DiskGuard {
  const { takesByte, isElsewhere } = openProbe(directory)
  let state: DiskState = 'ok'
  const look = (): DiskState =>
    takesByte() ? (freeBytes(directory) < minFreeBytes ? 'full' : 'ok') : 'read-only'
  const [query, transaction] = [engine.query.bind(engine), engine.transaction.bind(engine)]
  let isLeft = false
  const update = async () => {
    const found = look()
    if (found === 'read-only' && !isLeft && isElsewhere()) {
      isLeft = true
      onRemounted()
    }
    if (found === state) return
    state = found
    report(state, directory)
    await engine.exec(`set default_transaction_read_only = ${found === 'ok' ? 'off' : 'on'}`)
  }
  const guarded = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await update()
    return work().catch((error: unknown) => {
      throw state === 'ok' ? error : toDiskError(error, state)
    })
  }
  engine.query = ((...input: Parameters<PGlite['query']>) =>
    guarded(() => query(...input))) as PGlite['query']
  engine.transaction = (work) => guarded(() => transaction(work))
  return { mayWrite: () => look() === 'ok' }
}

const byte = Buffer.from('.')

/** Opens a file of the folder to see what the disk takes. */
function openProbe(directory: string) {
  const path = join(directory, 'roost.probe')
  const file = openSync(path, 'w', 0o600)
  return {
    /** Writes a byte: a disk after an error says only then that it is read-only. */
    takesByte: (): boolean => {
      try {
        writeSync(file, byte, 0, 1, 0)
        return true
      } catch (error) {
        // A full one is told by its free bytes.
        return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')
      }
    },
    /** Whether the folder has another file of this name, since another disk is mounted there, and that takes a byte. */
    isElsewhere: (): boolean => {
      let there: number | null = null
      try {
        there = openSync(path, 'r+')
        const [before, now] = [fstatSync(file), fstatSync(there)]
        return before.dev !== now.dev && writeSync(there, byte, 0, 1, 0) === 1
      } catch {
        return false
      } finally {
        if (there !== null) closeSync(there)
      }
    },
  }
}

function report(state: DiskState, directory: string): void {
  if (state === 'ok') return log('info', 'The embedded database can write again.')
  const { message, step } = faults[state]
  log('error', `${message} Writes are refused, and reads go on.`, { cause: `${directory}. ${step}.` })
}

/** Returns the error of the disk when the engine refused to write because it only reads: 25006. */
function toDiskError(error: unknown, state: 'full' | 'read-only'): unknown {
  for (let current = error; current instanceof Error; current = current.cause) {
    const { code, message } = faults[state]
    if ((current as { code?: unknown }).code === '25006') return Object.assign(new Error(message), { code })
  }
  return error
}
