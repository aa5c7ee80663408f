import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readColumn } from '../../src/db/data-column.ts'
import { single, rowsOf, uniqueViolation } from '../../src/db/database.ts'
import { activity, apiKeys, locations } from '../../src/db/schema.ts'
import { clientStatement } from '../../src/domain/auth/credential-statements.ts'
import { openNeon } from '../../src/platform/neon.ts'
import type { DatabaseHandle } from '../../src/platform/postgres.ts'
import { type CloudServices, findPostgres, openCloudServices } from '../support/cloud-services.ts'
import { makeKey, makeUser } from '../support/factories.ts'

const hasPostgres = await findPostgres('the neon driver')

describe.skipIf(!hasPostgres).each([
  { mode: 'over HTTP', http: true },
  { mode: 'over a pool of sockets', http: false },
])('Neon $mode', ({ http }) => {
  let services: CloudServices
  let neon: DatabaseHandle

  beforeAll(async () => {
    services = await openCloudServices()
    neon = openNeon(services.environment.DATABASE_URL ?? '', {
      usesHttp: http,
      poolSize: 1,
      localProxy: services.neon.address,
    })
  })
  afterAll(async () => {
    await neon?.close()
    await services?.close()
  })

  const shorts = async () => {
    const rows = await neon.db.select({ short: locations.short }).from(locations).orderBy(locations.id)
    return rows.map(({ short }) => short)
  }

  it('stores and reads rows just as the TCP driver does', async () => {
    const user = await makeUser(services.world)
    const key = await makeKey(services.world, user, {
      type: 'application',
      acl: { nodes: 3 },
      allowedIps: ['a', '"b"'],
    })
    const entry = { event: 'a:b', ip: '::1', source: 'api' as const, properties: { list: [1, 'ü', null] } }
    await services.database.db.insert(activity).values(entry)
    const { id, ...values } = key.row
    const copy = {
      ...values,
      identifier: 'ptla_copied00001',
      expiresAt: new Date('2026-03-29T01:30:00.123Z'),
    }
    const stored = single(await neon.db.insert(apiKeys).values(copy).returning())
    expect(stored).toEqual({ ...copy, id: stored.id })
    for (const read of [neon.db, services.database.db]) {
      expect(await read.select().from(apiKeys).where(eq(apiKeys.id, stored.id))).toEqual([stored])
    }
    expect(await neon.db.select().from(activity)).toEqual(await services.database.db.select().from(activity))
    expect(id).toBeLessThan(stored.id)
  })

  it('reads what differs from request to request, such as the filters of a list, over one connection', async () => {
    const { row } = await makeKey(services.world, await makeUser(services.world), { type: 'account' })
    const values = { identifier: row.identifier, secretHash: row.secretHash, uuid: null, short: null }
    for (const text of ['one', 'another']) {
      const column = { name: null, column: () => sql<string>`${sql.raw(`'${text}'`)}`, values: {} }
      expect(await readColumn(neon.db, column)).toBe(text)
      const statement = clientStatement(neon.db, { column })
      expect(single(await statement.execute(values)).data).toBe(text)
    }
  })

  it('keeps what a transaction wrote, and nothing of one that fails', async () => {
    await neon.transaction(async (db) => db.insert(locations).values({ short: 'kept' }))
    const failing = neon.transaction(async (db) => {
      await db.insert(locations).values({ short: 'lost' })
      throw new Error('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
    expect(await shorts()).toEqual(['kept'])
  })

  it('tells of a unique violation in a statement and in a transaction', async () => {
    const again = { short: 'kept' }
    const violationIn = (work: Promise<unknown>) => work.then(() => null, uniqueViolation)
    expect(await violationIn(neon.db.insert(locations).values(again))).toMatch(/^locations_short/)
    const inside = neon.transaction(async (db) => db.insert(locations).values(again))
    expect(await violationIn(inside)).toMatch(/^locations_short/)
  })

  it('opens sockets for transactions only, or keeps one for all', async () => {
    await shorts()
    const before = { ...services.neon.counts }
    for (let round = 0; round < 3; round += 1) await shorts()
    await neon.transaction(async (db) => db.execute(sql`select 1`))
    const { statements, connections } = services.neon.counts
    expect([statements - before.statements, connections - before.connections]).toEqual(http ? [3, 1] : [0, 0])
  })

  it('counts the sockets of its pool, and what waits for them', async () => {
    const idle = http ? undefined : { open: 1, idle: 1, limit: 1, waiting: 0 }
    expect(neon.poolState?.()).toEqual(idle)
    if (http) return
    const end = Promise.withResolvers<void>()
    const held = neon.transaction(async (db) => {
      await db.execute(sql`select 1`)
      await end.promise
    })
    const next = shorts()
    await expect.poll(() => neon.poolState?.()).toEqual({ open: 1, idle: 0, limit: 1, waiting: 1 })
    end.resolve()
    await Promise.all([held, next])
    expect(neon.poolState?.()).toEqual(idle)
  })

  it('survives a connection that breaks inside a transaction', async () => {
    const broken = neon.transaction(async (db) => {
      const { pid } = single(rowsOf<{ pid: number }>(await db.execute(sql`select pg_backend_pid() as pid`)))
      await services.database.db.execute(sql`select pg_terminate_backend(${pid})`)
      await db.execute(sql`select 1`)
    })
    await expect(broken).rejects.toMatchObject({ cause: { code: expect.stringMatching(/^(08006|57P01)$/) } })
    expect(await shorts()).toEqual(['kept'])
  })
})

describe('Neon out of reach', () => {
  it.each([true, false])('fails with SQLSTATE 08006 (over HTTP: %s)', async (http) => {
    // The discard port of this machine: nothing listens there.
    const neon = openNeon('postgres://user@127.0.0.1:9/none', {
      usesHttp: http,
      poolSize: 1,
      localProxy: '127.0.0.1:9',
    })
    await expect(neon.db.execute(sql`select 1`)).rejects.toMatchObject({ cause: { code: '08006' } })
    await expect(neon.transaction(async (db) => db.execute(sql`select 1`))).rejects.toMatchObject({
      code: '08006',
    })
    await neon.close()
  })
})
