import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { sql } from 'drizzle-orm'
import type { Cache } from '../../src/adapters/cache.ts'
import { rowsOf } from '../../src/db/database.ts'
import { databaseCache } from '../../src/platform/database-cache.ts'
import { type DatabaseHandle, openPostgres } from '../../src/platform/postgres.ts'
import { findPostgres } from '../support/cloud-services.ts'
import { createDatabase } from '../support/database.ts'
import { expectWorkingCache } from '../support/working-cache.ts'

const hasPostgres = await findPostgres('a cache in the database')

describe.skipIf(!hasPostgres)('a cache in the database', () => {
  let drop: () => Promise<void>
  const statements: string[] = []
  /** Connections of two processes. */
  let processes: DatabaseHandle[]

  beforeAll(async () => {
    const created = await createDatabase()
    drop = created.drop
    processes = [1, 2].map(() => openPostgres(created.url, 2, (text) => void statements.push(text)))
  })
  afterAll(async () => {
    for (const each of processes ?? []) await each.close()
    await drop?.()
  })

  const caches = () => processes.map(({ db }) => databaseCache(db).cache)
  const count = async () => {
    const found = await processes[0]?.db.execute(sql`select count(*)::int as rows from cache_entries`)
    return rowsOf<{ rows: number }>(found)[0]?.rows
  }

  it('stores, adds, removes and counts', async () => {
    for (const cache of caches()) await expectWorkingCache(cache)
  })

  it('is not written to the log of the database', async () => {
    const found = await processes[0]?.db.execute(
      sql`select relpersistence as kind from pg_class where relname = 'cache_entries'`,
    )
    expect(rowsOf(found)).toEqual([{ kind: 'u' }])
  })

  it('shows one process what another has stored', async () => {
    const [one, other] = caches()
    await one?.set('a', [1], 60)
    expect(await other?.get('a')).toEqual([1])
    expect(await other?.add('a', 2, 60)).toBe(false)
    await other?.remove('a')
    expect(await one?.get('a')).toBeNull()
  })

  it('gives every hit of several processes a number of its own, by few statements', async () => {
    statements.length = 0
    const opened = caches()
    const counted: Record<string, number[]> = { x: [], y: [], z: [] }
    const keys = Object.keys(counted)
    await Promise.all(
      Array.from({ length: 600 }, async (_, index) => {
        const key = keys[index % 3] ?? ''
        const hit = await opened[index % 2]?.hit(key, 60)
        counted[key]?.push(hit?.hits ?? 0)
      }),
    )
    const expected = Array.from({ length: 200 }, (_, index) => index + 1)
    for (const key of keys) expect(counted[key]?.toSorted((one, other) => one - other)).toEqual(expected)
    expect(statements.length).toBeLessThan(10)
  })

  it('asks for whatever is wanted at once by one statement', async () => {
    const [cache] = caches() as [Cache]
    await Promise.all([cache.set('kept', 1, 60), cache.set('gone', 2, 60)])
    statements.length = 0
    const found = await Promise.all([
      cache.get('kept'),
      cache.get('kept'),
      cache.get('missing'),
      cache.add('kept', 3, 60),
      cache.add('new', 4, 60),
      cache.add('new', 5, 60),
      cache.remove('gone'),
      cache.set('twice', 6, 60),
      cache.set('twice', 7, 60),
      cache.hit('together', 60),
      cache.hit('together', 60),
    ])
    expect(statements).toHaveLength(1)
    expect(found.slice(0, 6)).toEqual([1, 1, null, false, true, false])
    expect(found.slice(9)).toMatchObject([{ hits: 1 }, { hits: 2 }])
    const keys = ['new', 'gone', 'twice']
    expect(await Promise.all(keys.map((key) => cache.get(key)))).toEqual([4, null, 7])
  })

  it('changes a key in the order of the calls', async () => {
    const [cache] = caches() as [Cache]
    await Promise.all([cache.set('turns', 1, 60), cache.remove('turns'), cache.set('turns', 2, 60)])
    expect(await cache.get('turns')).toBe(2)
    const [, added] = await Promise.all([cache.remove('turns'), cache.add('turns', 3, 60)])
    expect([added, await cache.get('turns')]).toEqual([true, 3])
  })

  it('takes values of every kind, and keys with any sign', async () => {
    const [one, other] = caches() as [Cache, Cache]
    const values = ['text', '', 0, false, null, [], { a: ['"\'\u0000\ud800\\'] }]
    for (const [at, value] of values.entries()) {
      await one.set(`"key\\' ${at}`, value, 60)
      expect(await other.get(`"key\\' ${at}`)).toEqual(value)
    }
  })

  it('fails all who wait when the statement fails, and goes on afterwards', async () => {
    const [cache] = caches() as [Cache]
    const database = processes[0]!
    await database.db.execute(sql`alter table cache_entries rename to cache_entries_away`)
    const outcomes = await Promise.allSettled([cache.get('a'), cache.hit('b', 60), cache.set('c', 1, 60)])
    await database.db.execute(sql`alter table cache_entries_away rename to cache_entries`)
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect((await cache.hit('b', 60)).hits).toBe(1)
  })

  it('begins to count again, and adds again, once an entry has expired', async () => {
    const [cache] = caches()
    await cache?.hit('old', 1)
    await cache?.set('gone', 1, 1)
    await vi.waitFor(async () => expect(await cache?.get('gone')).toBeNull(), { timeout: 5000 })
    expect(await cache?.add('gone', 2, 60)).toBe(true)
    await vi.waitFor(async () => expect((await cache?.hit('old', 60))?.hits).toBe(1), { timeout: 5000 })
  })

  it('deletes what has expired, and nothing else', async () => {
    const database = processes[0]!
    await database.db.execute(sql`truncate cache_entries`)
    await database.db.execute(sql`
      insert into cache_entries (key, expires_at)
      select 'old' || n, now() - interval '1 second' from generate_series(1, 12000) n`)
    await caches()[0]?.set('young', 1, 60)
    await databaseCache(database.db).prune()
    expect(await count()).toBe(1)
    expect(await caches()[1]?.get('young')).toBe(1)
  })
})
