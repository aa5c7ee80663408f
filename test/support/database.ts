import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { openPglite } from '../../src/platform/local/pglite.ts'
import { countStatement, framesTransaction } from '../../src/platform/statement-count.ts'
import { migratePostgres, type OpenedDatabase, openPostgres } from '../../src/platform/postgres.ts'

/** Which driver this run is about; each project of the configuration names one. */
export type TestDriver = 'pglite' | 'postgres' | 'neon'
export const testDriver = (process.env.ROOST_TEST_DRIVER ?? 'pglite') as TestDriver

/** Where the real PostgreSQL is. */
export const testDatabaseUrl = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'

export type TestDatabase = OpenedDatabase & { statements: string[]; url: string | null }

/** A migrated, empty database over the driver of this run. Remembers every statement but those around transactions. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const statements: string[] = []
  const onStatement = (text: string) => {
    countStatement(text)
    if (!framesTransaction(text)) statements.push(text)
  }
  if (testDriver === 'pglite') return { ...(await openPglite(null, onStatement)), statements, url: null }
  const { url, drop } = await createDatabase()
  const { openNeonForTests } = await import('./neon.ts')
  const opened =
    testDriver === 'neon' ? await openNeonForTests(url, onStatement) : openPostgres(url, 5, onStatement)
  return {
    ...opened,
    statements,
    url,
    close: async () => {
      await opened.close()
      await drop()
    },
  }
}

/** A new database on the real PostgreSQL, migrated; `drop` removes it. */
export async function createDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `roost_test_${randomUUID().replaceAll('-', '')}`
  const url = new URL(testDatabaseUrl)
  await administrate(`create database ${name}`)
  url.pathname = `/${name}`
  await migratePostgres(url.toString())
  return { url: url.toString(), drop: () => administrate(`drop database if exists ${name} with (force)`) }
}

async function administrate(statement: string): Promise<void> {
  const client = postgres(testDatabaseUrl, { max: 1, onnotice: () => undefined })
  try {
    await client.unsafe(statement)
  } finally {
    await client.end()
  }
}
