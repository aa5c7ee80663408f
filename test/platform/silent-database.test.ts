import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { rowsOf } from '../../src/db/database.ts'
import { locations } from '../../src/db/schema.ts'
import { openNeon } from '../../src/platform/neon.ts'
import { type DatabaseHandle, openPostgres } from '../../src/platform/postgres.ts'
import { toApiError } from '../../src/http/errors.ts'
import { type CloudServices, findPostgres, openCloudServices } from '../support/cloud-services.ts'
import { failures, type TcpProxy, startTcpProxy } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

const hasPostgres = await findPostgres('databases that say nothing')
const timeoutMs = 400

/** Opens the database with each driver through a proxy, with one connection where there is a pool. */
const drivers: Record<string, (url: string, proxy: TcpProxy) => DatabaseHandle> = {
  pg: (url, proxy) => {
    const address = new URL(url)
    address.host = proxy.address
    return openPostgres(address.href, 1, undefined, timeoutMs)
  },
  'neon over a pool': (url, proxy) =>
    openNeon(url, { usesHttp: false, poolSize: 1, localProxy: proxy.address, timeoutMs }),
  'neon over HTTP': (url, proxy) =>
    openNeon(url, { usesHttp: true, poolSize: 1, localProxy: proxy.address, timeoutMs }),
}

describe.skipIf(!hasPostgres).each(Object.keys(drivers))('a database by %s', (driver) => {
  let services: CloudServices
  let proxy: TcpProxy
  let database: DatabaseHandle

  beforeAll(async () => {
    services = await openCloudServices()
    const { DATABASE_URL: url = '', NEON_LOCAL_PROXY: neonProxy = '' } = services.environment
    const real = driver === 'pg' ? new URL(url).port || '5432' : neonProxy.split(':')[1]
    proxy = await startTcpProxy(Number(real))
    database = drivers[driver]!(url, proxy)
  })
  afterEach(() => proxy.restore())
  afterAll(async () => {
    await proxy?.disconnect()
    await database?.close()
    await services?.close()
  })

  /** Returns the status that callers of the panel get. */
  const statusOf = (work: Promise<unknown>) =>
    work.then(
      () => 200,
      (error: Error) => toApiError(error).status,
    )
  const one = () => database.db.execute(sql`select 1 as one`)
  const isBack = () => until(async () => expect(await statusOf(one())).toBe(200))
  const write = (short: string) => database.db.insert(locations).values({ short })
  const writtenRows = async () => {
    const rows = await services.database.db.select({ short: locations.short }).from(locations)
    return rows.map(({ short }) => short)
  }

  it.each(failures)(
    'that is %s times out for every waiting request, and is found again',
    async (_how, fail) => {
      expect(rowsOf(await one())).toEqual([{ one: 1 }])
      await fail(proxy)
      const waiting = Array.from({ length: 6 }, () => statusOf(one()))
      const transactions = Array.from({ length: 2 }, () =>
        statusOf(database.transaction(async (db) => db.execute(sql`select 1`))),
      )
      expect(await Promise.all([...waiting, ...transactions])).toEqual(Array.from({ length: 8 }, () => 503))
      expect(await statusOf(write('refused'))).toBe(503)
      await proxy.restore()
      await isBack()
      expect(await statusOf(database.transaction(async (db) => db.execute(sql`select 1`)))).toBe(200)
      expect(await writtenRows()).not.toContain('refused')
    },
  )

  it.each(failures)('that is %s in the middle of a transaction keeps nothing of it', async (how, fail) => {
    const cut = database.transaction(async (db) => {
      await db.insert(locations).values({ short: `half-${how}` })
      await fail(proxy)
      await db.insert(locations).values({ short: `rest-${how}` })
    })
    expect(await statusOf(cut)).toBe(503)
    await proxy.restore()
    await isBack()
    expect(await writtenRows()).not.toContain(`half-${how}`)
  })

  it.each(failures)('that is %s when a transaction is to be kept keeps nothing of it', async (how, fail) => {
    const cut = database.transaction(async (db) => {
      await db.insert(locations).values({ short: `whole-${how}` })
      await fail(proxy)
    })
    expect(await statusOf(cut)).toBe(503)
    await proxy.restore()
    await isBack()
    expect(await writtenRows()).not.toContain(`whole-${how}`)
  })

  it('that is still busy with a lost transaction answers the next statement by another connection', async () => {
    const busy = database.transaction(async (db) =>
      db.execute(sql`select pg_sleep(${(timeoutMs * 4) / 1000})`),
    )
    expect(await statusOf(busy)).toBe(503)
    expect(await statusOf(one())).toBe(200)
  })

  it('that answers others meanwhile is waited for as long', async () => {
    const slow = statusOf(database.db.execute(sql`select pg_sleep(0.2)`))
    expect(await Promise.all([slow, statusOf(one()), statusOf(one())])).toEqual([200, 200, 200])
  })
})
