import postgres from 'postgres'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import journal from '../../drizzle/meta/_journal.json' with { type: 'json' }
import { migratePostgres } from '../../src/platform/postgres.ts'
import { openCommandLine } from '../cli/command-line.ts'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'

const hasPostgres = await findPostgres('several that migrate at once')

describe.skipIf(!hasPostgres)('several that migrate one database at once', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>
  let client: postgres.Sql

  beforeEach(async () => {
    database = await createDatabase()
    client = postgres(database.url, { max: 1, onnotice: () => undefined })
    await client.unsafe('drop schema public cascade; create schema public')
  })
  afterEach(async () => {
    await client.end()
    await database.drop()
  })

  const applied = async () =>
    (await client`select created_at::float8 as at from migrations order by id`).map(({ at }) => at)
  const all = journal.entries.map(({ when }) => when)

  it('apply each migration once', async () => {
    await Promise.all(Array.from({ length: 5 }, () => migratePostgres(database.url)))
    expect(await applied()).toEqual(all)
  })

  it('leave the way free when one of them fails', async () => {
    await client.unsafe('create table users (id integer)')
    await expect(migratePostgres(database.url)).rejects.toThrow('users')
    await client.unsafe('drop table users')
    await migratePostgres(database.url)
    expect(await applied()).toEqual(all)
  })

  it('may be panels that start', async () => {
    // Machines of one panel have the same keys.
    const env = { DATABASE_URL: database.url, APP_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}` }
    const lines = await Promise.all([1, 2].map(() => openCommandLine(env)))
    const running = await Promise.all(lines.map((line) => line.start()))
    try {
      for (const { url } of running) {
        const health = (await (await fetch(`${url}/health`)).json()) as { parts: { migrations: string } }
        expect(health.parts.migrations).toBe('ok')
      }
      expect(await applied()).toEqual(all)
    } finally {
      expect(await Promise.all(running.map((panel) => panel.stop()))).toEqual([0, 0])
      await Promise.all(lines.map((line) => line.remove()))
    }
  })
})
