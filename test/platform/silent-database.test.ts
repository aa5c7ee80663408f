import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { rowsOf } from '../../src/db/database.ts'
import { locations } from '../../src/db/schema.ts'
import { openNeon } from '../../src/platform/neon.ts'
import { type OpenedDatabase, openPostgres } from '../../src/platform/postgres.ts'
import { readFailure } from '../../src/http/errors.ts'
import { type CloudServices, findPostgres, openCloudServices } from '../support/cloud-services.ts'
import { failures, type Line, openLine } from '../support/line.ts'

const hasPostgres = await findPostgres('databases that say nothing')
const patience = 400

/** The database as each driver reaches it over a line, with room for one connection where there is a pool. */
const drivers: Record<string, (url: string, line: Line) => OpenedDatabase> = {
  pg: (url, line) => {
    const address = new URL(url)
    address.host = line.address
    return openPostgres(address.href, 1, undefined, patience)
  },
  'neon over a pool': (url, line) =>
    openNeon(url, { http: false, poolSize: 1, localProxy: line.address, patience }),
  'neon over HTTP': (url, line) =>
    openNeon(url, { http: true, poolSize: 1, localProxy: line.address, patience }),
}

describe.skipIf(!hasPostgres).each(Object.keys(drivers))('a database by %s', (driver) => {
  let services: CloudServices
  let line: Line
  let database: OpenedDatabase

  beforeAll(async () => {
    services = await openCloudServices()
    const { DATABASE_URL: url = '', NEON_LOCAL_PROXY: proxy = '' } = services.environment
    const real = driver === 'pg' ? new URL(url).port || '5432' : proxy.split(':')[1]
    line = await openLine(Number(real))
    database = drivers[driver]!(url, line)
  })
  afterEach(() => line.mend())
  afterAll(async () => {
    await line?.cut()
    await database?.close()
    await services?.close()
  })

  /** What callers of the panel hear of it. */
  const statusOf = (work: Promise<unknown>) =>
    work.then(
      () => 200,
      (error: Error) => readFailure(error).status,
    )
  const one = () => database.db.execute(sql`select 1 as one`)
  const isBack = () => vi.waitFor(async () => expect(await statusOf(one())).toBe(200))
  const write = (short: string) => database.db.insert(locations).values({ short })
  const kept = async () => {
    const rows = await services.database.db.select({ short: locations.short }).from(locations)
    return rows.map(({ short }) => short)
  }

  it.each(failures)(
    'that is %s is given up by everybody who waits for it, and found again',
    async (_how, fail) => {
      expect(rowsOf(await one())).toEqual([{ one: 1 }])
      await fail(line)
      const waiting = Array.from({ length: 6 }, () => statusOf(one()))
      const transactions = Array.from({ length: 2 }, () =>
        statusOf(database.transaction(async (db) => db.execute(sql`select 1`))),
      )
      expect(await Promise.all([...waiting, ...transactions])).toEqual(Array.from({ length: 8 }, () => 503))
      expect(await statusOf(write('refused'))).toBe(503)
      await line.mend()
      await isBack()
      expect(await statusOf(database.transaction(async (db) => db.execute(sql`select 1`)))).toBe(200)
      expect(await kept()).not.toContain('refused')
    },
  )

  it.each(failures)('that is %s in the middle of a transaction keeps nothing of it', async (how, fail) => {
    const cut = database.transaction(async (db) => {
      await db.insert(locations).values({ short: `half-${how}` })
      await fail(line)
      await db.insert(locations).values({ short: `rest-${how}` })
    })
    expect(await statusOf(cut)).toBe(503)
    await line.mend()
    await isBack()
    expect(await kept()).not.toContain(`half-${how}`)
  })

  it.each(failures)('that is %s when a transaction is to be kept keeps nothing of it', async (how, fail) => {
    const cut = database.transaction(async (db) => {
      await db.insert(locations).values({ short: `whole-${how}` })
      await fail(line)
    })
    expect(await statusOf(cut)).toBe(503)
    await line.mend()
    await isBack()
    expect(await kept()).not.toContain(`whole-${how}`)
  })

  it('that answers others meanwhile is waited for as long', async () => {
    const slow = statusOf(database.db.execute(sql`select pg_sleep(0.2)`))
    expect(await Promise.all([slow, statusOf(one()), statusOf(one())])).toEqual([200, 200, 200])
  })
})
