import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { rowsOf } from '../../src/db/database.ts'
import { openPglite } from '../../src/platform/local/pglite.ts'
import { countStatement, isTransactionControl } from '../../src/platform/statement-stats.ts'
import { migratePostgres, type DatabaseHandle, openPostgres } from '../../src/platform/postgres.ts'
import { addEmptying, emptyDatabase, type Run } from './empty-database.ts'

/** The driver of this run; each project of the configuration sets one. */
export type TestDriver = 'pglite' | 'postgres' | 'neon'
export const testDriver = (process.env.ROOST_TEST_DRIVER ?? 'pglite') as TestDriver

/** The URL of the real PostgreSQL. */
export const testDatabaseUrl = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'

export type TestDatabase = DatabaseHandle & {
  /** Every statement that was sent, without begin and commit. */
  statements: string[]
  /** The URL of the database; null for PGlite. */
  url: string | null
  /** Removes all rows, counts ids from 1 again and drops the partitions that tests made. */
  empty: () => Promise<void>
}

/** Opens a migrated, empty database with the driver of this run. Records every statement but begin and commit. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const statements: string[] = []
  const onStatement = (text: string) => {
    countStatement(text)
    if (!isTransactionControl(text)) statements.push(text)
  }
  if (testDriver === 'pglite') {
    const opened = await openPglite(null, onStatement)
    await addEmptying(async (statement) => rowsOf(await opened.db.execute(sql.raw(statement))))
    return { ...opened, statements, url: null, empty: () => empty(opened) }
  }
  const { url, drop } = await createDatabase()
  const { openNeonForTests } = await import('./neon.ts')
  const opened =
    testDriver === 'neon' ? await openNeonForTests(url, onStatement) : openPostgres(url, 5, onStatement)
  return {
    ...opened,
    statements,
    url,
    empty: () => empty(opened),
    close: async () => {
      await opened.close()
      await drop()
    },
  }
}

const empty = async ({ db }: DatabaseHandle) => void (await db.execute(sql.raw(emptyDatabase)))

/** Creates a migrated database on the real PostgreSQL; `drop` removes it. */
export async function createDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const template = process.env.ROOST_TEST_TEMPLATE
  const name = `${template ?? 'roost_test'}_${randomBytes(8).toString('hex')}`
  await administrate(template ? `create database ${name} template ${template}` : `create database ${name}`)
  const url = databaseUrlOf(name)
  if (!template) await prepareDatabase(url)
  return { url, drop: () => dropDatabase(name) }
}

/** Creates a database without tables on the real PostgreSQL, with these options; `drop` removes it. */
export async function createEmptyDatabase(options = ''): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `roost_test_${randomBytes(8).toString('hex')}`
  await administrate(`create database ${name} ${options}`)
  return { url: databaseUrlOf(name), drop: () => dropDatabase(name) }
}

/** Makes the database that those of one run are copied from, which is faster than migrating each; `drop` removes all. */
export async function createTemplate(): Promise<{ name: string; drop: () => Promise<void> }> {
  const name = `roost_test_${randomBytes(8).toString('hex')}`
  await administrate(`create database ${name}`)
  await prepareDatabase(databaseUrlOf(name))
  return {
    name,
    drop: async () => {
      const made = await administrate(`select datname as name from pg_database where datname like '${name}%'`)
      for (const each of made) await dropDatabase(each.name ?? '')
    },
  }
}

function databaseUrlOf(name: string): string {
  const url = new URL(testDatabaseUrl)
  url.pathname = `/${name}`
  return url.toString()
}

async function prepareDatabase(url: string): Promise<void> {
  await migratePostgres(url)
  await withClient(url, addEmptying)
}

const dropDatabase = async (name: string) =>
  void (await administrate(`drop database if exists ${name} with (force)`))

const administrate = (statement: string) => withClient(testDatabaseUrl, (run) => run(statement))

async function withClient<T>(url: string, work: (run: Run) => Promise<T>): Promise<T> {
  const client = postgres(url, { max: 1, onnotice: () => undefined })
  try {
    return await work(async (statement) => [...(await client.unsafe<Record<string, string>[]>(statement))])
  } finally {
    await client.end()
  }
}

/** Runs one statement on a connection of its own, and returns its rows. */
export async function queryDatabase(url: string, statement: string) {
  const client = postgres(url, { max: 1, onnotice: () => undefined })
  try {
    return await client.unsafe(statement)
  } finally {
    await client.end()
  }
}
