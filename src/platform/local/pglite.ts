import { existsSync, openAsBlob } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { drizzle } from 'drizzle-orm/pglite'
import { migrate } from 'drizzle-orm/pglite/migrator'
import type { Database } from '../../db/database.ts'
import * as schema from '../../db/schema.ts'
import { isBundled } from '../content-folders.ts'
import { migrationsConfig, migrationsFolder } from '../migrations.ts'
import type { DatabaseHandle } from '../postgres.ts'
import { repositoryRoot } from '../repository.ts'
import { timeStatement } from '../statement-stats.ts'
import { guardDisk, requireFreeDisk } from './disk-guard.ts'
import { nameStatements } from './pglite-statements.ts'
import { countUse } from './pglite-use.ts'

/** The file by which a folder is a database. */
const versionFile = 'PG_VERSION'

/** Where snapshots are kept. */
const cacheDirectory = join(repositoryRoot, 'dist', 'cache')

export type EmbeddedDatabase = DatabaseHandle & {
  /** Runs work while no statement and no transaction runs: the files of the database are consistent meanwhile. */
  exclusively: <T>(work: () => Promise<T>) => Promise<T>
}

type OpenOptions = {
  migrates?: boolean
  /** Is called once another disk is mounted in place of one that failed: the database has to be opened anew. */
  onRemounted?: (() => void) | undefined
}

/**
 * Opens a PostgreSQL inside this process and migrates it to the newest schema, unless `migrates` is false. `directory`
 * null keeps it in memory.
 *
 * A new database is unpacked from a snapshot with the schema, which `npm run build` makes. The engine has
 * one connection: transactions wait for each other.
 */
export async function openPglite(
  directory: string | null,
  onStatement?: (text: string) => void,
  { migrates = true, onRemounted = () => {} }: OpenOptions = {},
): Promise<EmbeddedDatabase> {
  const isNew = directory === null || !existsSync(join(directory, versionFile))
  const snapshot = isNew ? await findSnapshot() : null
  if (directory) {
    await mkdir(directory, { recursive: true })
    requireFreeDisk(directory, isNew)
  }
  const engine = await createEngine(directory, snapshot)
  const db = drizzle(engine, {
    schema,
    casing: 'snake_case',
    logger: onStatement ? { logQuery: onStatement } : false,
  })
  nameStatements(engine)
  const guard = directory ? guardDisk(engine, directory, onRemounted) : null
  timeStatements(engine)
  const poolState = countUse(engine)
  if (migrates) await migrate(db, migrationsConfig)
  if (isNew && !snapshot) await writeSnapshot(await engine.dumpDataDir('gzip'))
  return {
    db: db satisfies Database,
    transaction: (work) => db.transaction(work),
    poolState,
    close: async () => {
      // A checkpoint on a full or read-only disk can hang; the next start recovers from the log instead.
      if (guard?.mayWrite() ?? true) await engine.close()
    },
    exclusively: async (work) => {
      // What is opened from a copy then has little log to replay.
      await engine.query('checkpoint')
      return engine.transaction(work)
    },
  }
}

/** Opens the engine. What it throws is often no error, and then has a number only. */
async function createEngine(directory: string | null, snapshot: string | null): Promise<PGlite> {
  try {
    // The engine would unpack it in memory, and 60 MiB of the process would stay taken.
    if (directory && snapshot) await unpackSnapshot(snapshot, directory)
    return await PGlite.create({
      ...(directory ? { dataDir: directory } : {}),
      ...(snapshot && !directory ? { loadDataDir: await openAsBlob(snapshot) } : {}),
      extensions: { pg_trgm },
      // Its own default takes 128 MiB; the system caches the files of a small database as well.
      startParams: [...PGlite.defaultStartParams, '-c', 'shared_buffers=8MB'],
    })
  } catch (error) {
    // Without the cause: the message names the folder and says what the engine often only numbers.
    throw new Error(`The embedded database in ${directory ?? 'memory'} cannot be opened: ${reasonOf(error)}.`)
  }
}

/** Numbers of errors of files in WebAssembly. */
const wasiErrors: Record<number, string> = {
  2: 'permission denied',
  19: 'the disk quota is used up',
  29: 'the disk failed',
  44: 'a file is missing',
  51: 'the disk is full',
  63: 'permission denied',
  69: 'the disk is read-only',
}

function reasonOf(error: unknown): string {
  const { errno, message } = (error ?? {}) as { errno?: number; message?: unknown }
  if (errno !== undefined) return wasiErrors[errno] ?? `error ${errno} of its files`
  return typeof message === 'string' && message !== '' ? message.replace(/\.$/, '') : 'it ended'
}

/** Adds the duration of every statement to the statistics of its request, also within transactions. */
function timeStatements(engine: PGlite): void {
  const addTiming = (connection: Pick<PGlite, 'query'>) => {
    const query = connection.query.bind(connection) as (...input: unknown[]) => Promise<unknown>
    connection.query = ((...input: unknown[]) =>
      timeStatement(query(...input), undefined, input[0])) as PGlite['query']
  }
  const transaction = engine.transaction.bind(engine)
  addTiming(engine)
  engine.transaction = (work) =>
    transaction((inner) => {
      addTiming(inner)
      return work(inner)
    })
}

/** Returns the path of the snapshot, which depends on the migrations and the engine. */
async function snapshotPath(): Promise<string> {
  const enginesPackage = isBundled
    ? new URL('./pglite/package.json', import.meta.url)
    : new URL('../package.json', import.meta.resolve('@electric-sql/pglite'))
  const hash = createHash('sha256').update(await readFile(enginesPackage))
  for (const name of (await readdir(migrationsFolder)).filter((file) => file.endsWith('.sql')).toSorted()) {
    hash.update(await readFile(join(migrationsFolder, name)))
  }
  return join(cacheDirectory, `pglite-${hash.digest('hex').slice(0, 16)}.tar.gz`)
}

/** Returns the path of the snapshot; null when there is none yet. */
async function findSnapshot(): Promise<string | null> {
  const path = await snapshotPath()
  return existsSync(path) ? path : null
}

/** Unpacks the snapshot file by file. What makes it a database comes last, so that half of it is none. */
async function unpackSnapshot(snapshot: string, directory: string): Promise<void> {
  const { extract } = await import('tar')
  const failures: string[] = []
  const onwarn = (code: string, message: string | Error) => {
    // Its paths begin with a slash, which is left out.
    if (code !== 'TAR_ENTRY_INFO') failures.push(message instanceof Error ? message.message : message)
  }
  const unpack = async (filter: (path: string) => boolean) => {
    await extract({ file: snapshot, cwd: directory, onwarn, filter })
    if (failures[0] !== undefined) throw new Error(failures[0])
  }
  const isVersion = (path: string) => path.replace(/^\//, '') === versionFile
  await unpack((path) => !isVersion(path))
  await unpack(isVersion)
}

/** Writes the snapshot to a temporary file and renames it, so that no process reads half of it. */
async function writeSnapshot(snapshot: Blob): Promise<void> {
  try {
    await mkdir(cacheDirectory, { recursive: true })
    const path = await snapshotPath()
    const temporaryPath = `${path}.${process.pid}`
    await writeFile(temporaryPath, new Uint8Array(await snapshot.arrayBuffer()))
    await rename(temporaryPath, path)
  } catch {
    // Without a snapshot the next new database only takes longer.
  }
}

/** Makes the snapshot of this version's schema, unless there is one: without it a first start takes 300 MiB more. */
export async function prepareSnapshot(): Promise<void> {
  if ((await findSnapshot()) !== null) return
  await rm(cacheDirectory, { recursive: true, force: true })
  await (await openPglite(null)).close()
}
