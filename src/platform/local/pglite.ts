import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { drizzle } from 'drizzle-orm/pglite'
import { migrate } from 'drizzle-orm/pglite/migrator'
import type { Database } from '../../db/database.ts'
import * as schema from '../../db/schema.ts'
import { migrationsConfig, migrationsFolder } from '../migrations.ts'
import type { OpenedDatabase } from '../postgres.ts'
import { timingStatement } from '../statement-count.ts'

const cacheDirectory = fileURLToPath(new URL('../../../node_modules/.cache/roost', import.meta.url))

/**
 * PostgreSQL inside this process, at the newest schema. `directory` null keeps it in memory.
 *
 * A new database is unpacked from a snapshot that already has the schema; the first start on a
 * machine makes that snapshot. The engine serves one connection: transactions wait for each other.
 */
export async function openPglite(
  directory: string | null,
  onStatement?: (text: string) => void,
): Promise<OpenedDatabase & { snapshot: () => Promise<Blob> }> {
  const isNew = directory === null || !existsSync(join(directory, 'PG_VERSION'))
  const snapshot = isNew ? await readSnapshot() : null
  if (directory) await mkdir(directory, { recursive: true })
  const engine = await PGlite.create({
    ...(directory ? { dataDir: directory } : {}),
    ...(snapshot ? { loadDataDir: snapshot } : {}),
    extensions: { pg_trgm },
  })
  const db = drizzle(engine, {
    schema,
    casing: 'snake_case',
    logger: onStatement ? { logQuery: onStatement } : false,
  })
  timeQueries(engine)
  await migrate(db, migrationsConfig)
  if (isNew && !snapshot) await writeSnapshot(await engine.dumpDataDir('gzip'))
  return {
    db: db satisfies Database,
    transaction: (work) => db.transaction(work),
    close: () => engine.close(),
    snapshot: () => engine.dumpDataDir('gzip'),
  }
}

/** The time of every statement counts for whoever sends it, within transactions, too. */
function timeQueries(engine: PGlite): void {
  const timing = (connection: Pick<PGlite, 'query'>) => {
    const query = connection.query.bind(connection) as (...input: unknown[]) => Promise<unknown>
    connection.query = ((...input: unknown[]) => timingStatement(query(...input))) as PGlite['query']
  }
  const transaction = engine.transaction.bind(engine)
  timing(engine)
  engine.transaction = (work) =>
    transaction((inner) => {
      timing(inner)
      return work(inner)
    })
}

/** The snapshot's name tells which migrations and which engine it was made with. */
async function snapshotPath(): Promise<string> {
  const hash = createHash('sha256').update(process.version)
  for (const name of (await readdir(migrationsFolder)).filter((file) => file.endsWith('.sql')).toSorted()) {
    hash.update(await readFile(join(migrationsFolder, name)))
  }
  return join(cacheDirectory, `pglite-${hash.digest('hex').slice(0, 16)}.tar.gz`)
}

async function readSnapshot(): Promise<Blob | null> {
  try {
    return new Blob([new Uint8Array(await readFile(await snapshotPath()))])
  } catch {
    return null
  }
}

/** Written aside and renamed, so that nobody reads half of it. */
async function writeSnapshot(snapshot: Blob): Promise<void> {
  try {
    await mkdir(cacheDirectory, { recursive: true })
    const path = await snapshotPath()
    const aside = `${path}.${process.pid}`
    await writeFile(aside, new Uint8Array(await snapshot.arrayBuffer()))
    await rename(aside, path)
  } catch {
    // Only the speed of the next new database is lost.
  }
}
