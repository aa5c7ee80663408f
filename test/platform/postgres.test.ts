import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { rowsOf } from '../../src/db/database.ts'
import { openPostgres } from '../../src/platform/postgres.ts'

const reachable = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
const answers = async (url: string): Promise<unknown> => {
  const { db, close } = openPostgres(url, 1)
  return db.execute(sql`select 1 as one`).finally(close)
}
const hasPostgres = await answers(reachable).then(
  () => true,
  () => false,
)

it.runIf(hasPostgres)('an address of PostgreSQL may have words that are for other drivers', async () => {
  const address = new URL(reachable)
  address.searchParams.set('channel_binding', 'require')
  expect(rowsOf(await answers(address.href))).toEqual([{ one: 1 }])
})
