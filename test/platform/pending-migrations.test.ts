import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import journal from '../../drizzle/meta/_journal.json' with { type: 'json' }
import { listMountedRoutes } from '../../src/cli/api-info.ts'
import { rowsOf } from '../../src/db/database.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import { lambda } from '../../src/platform/lambda.ts'
import { startNode } from '../../src/platform/node.ts'
import { migratePostgres } from '../../src/platform/postgres.ts'
import { worker } from '../../src/platform/workers.ts'
import { surfaces } from '../../src/surfaces/all.ts'
import { type Answer, answerOf } from '../support/answers.ts'
import {
  type CloudServices,
  findPostgres,
  openCloudServices,
  stubEnvironment,
} from '../support/cloud-services.ts'
import { fullAcl, makeKey, makeLocation, makeNode, makeUser } from '../support/factories.ts'
import { callThroughGateway } from '../support/lambda-gateway.ts'

const hasPostgres = await findPostgres('migrations that are pending')
const origin = 'https://panel.example.com'
const locations = '/api/application/locations'

/** One isolate or process. */
type Isolate = {
  send: (method: string, path: string, headers?: Record<string, string>, body?: string) => Promise<Answer>
  tick: () => Promise<unknown>
}

function openWorker(environment: Record<string, string>): Isolate {
  const { fetch, scheduled } = worker(surfaces, { tick: runTick })
  const env = { ...environment, APP_URL: origin }
  return {
    send: async (method, path, headers = {}, body) => {
      const waited: Promise<unknown>[] = []
      const context = {
        waitUntil: (work: Promise<unknown>) => void waited.push(work),
        passThroughOnException: () => undefined,
        props: {},
      }
      const request = new Request(`${origin}${path}`, { method, headers, ...(body ? { body } : {}) })
      const answer = await answerOf(await fetch(request, env, context))
      await Promise.all(waited)
      return answer
    },
    tick: async () => scheduled?.({}, env),
  }
}

function openLambda(environment: Record<string, string>): Isolate {
  stubEnvironment({ ...environment, APP_URL: origin })
  const handler = lambda(surfaces, { tick: runTick })
  return {
    send: (method, path, headers = {}, body) =>
      callThroughGateway(handler, method, path, {
        headers,
        ...(body ? { body } : {}),
        sourceIp: '192.0.2.1',
      }),
    tick: () => handler({ source: 'aws.events', 'detail-type': 'Scheduled Event' }),
  }
}

const writingRoutes = listMountedRoutes().filter(({ method }) => method !== 'GET')
const concrete = (path: string) => path.replaceAll(/:\w+/g, '1')

describe.skipIf(!hasPostgres).each([
  { platform: 'Workers', open: openWorker },
  { platform: 'Lambda', open: openLambda },
])('a database that lacks a migration, on $platform', ({ open }) => {
  let services: CloudServices
  let isolate: Isolate
  let authorization: string
  let daemon: string

  beforeAll(async () => {
    services = await openCloudServices()
    const admin = await makeUser(services.world, { rootAdmin: true })
    authorization = `Bearer ${(await makeKey(services.world, admin, { type: 'application', acl: fullAcl })).token}`
    daemon = `Bearer ${(await makeNode(services.world)).token}`
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await services?.close()
  })
  beforeEach(async () => {
    // What is known of the database ages by this clock.
    vi.useFakeTimers({ toFake: ['Date'] })
    await hideNewest()
    isolate = open(services.environment)
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    vi.useRealTimers()
    await showNewest()
  })

  const run = (statement: ReturnType<typeof sql>) => services.database.db.execute(statement)
  const hideNewest = () =>
    run(
      sql`update migrations set created_at = -created_at where created_at = (select max(created_at) from migrations)`,
    )
  const showNewest = () => run(sql`update migrations set created_at = -created_at where created_at < 0`)
  const later = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000)
  const add = (short: string) =>
    isolate.send(
      'POST',
      locations,
      { authorization, 'content-type': 'application/json' },
      JSON.stringify({ short }),
    )

  /** A fingerprint of all rows. */
  const contents = async () => {
    const tables = rowsOf<{ name: string }>(
      await run(sql`select tablename as name from pg_tables where schemaname = 'public' order by 1`),
    )
    return Promise.all(
      tables.map(async ({ name }) => {
        const rows = await run(
          sql`select md5(coalesce(string_agg(t::text, ',' order by t::text), '')) as hash from ${sql.identifier(name)} t`,
        )
        return [name, rowsOf<{ hash: string }>(rows)[0]?.hash]
      }),
    )
  }

  it('is written to by no route, with 503 and Retry-After', async () => {
    const before = await contents()
    expect(writingRoutes.length).toBeGreaterThan(100)
    for (const { method, path } of writingRoutes) {
      const bearer = path.startsWith('/api/remote') ? daemon : authorization
      const headers = { authorization: bearer, 'content-type': 'application/json' }
      const { status, body, headers: answered } = await isolate.send(method, concrete(path), headers, '{}')
      expect([method, path, status]).toEqual([method, path, 503])
      expect(body.errors).toEqual([
        {
          code: 'ServiceUnavailableHttpException',
          status: '503',
          detail: expect.stringContaining('migrated'),
          meta: { reason: 'panel_upgrading' },
        },
      ])
      expect(answered.get('retry-after')).toBe('5')
    }
    expect(await contents()).toEqual(before)
  })

  it.each([
    '/auth/oauth/discord',
    '/auth/oauth/discord/callback',
    `/api/remote/backups/${crypto.randomUUID()}`,
  ])('is not written to by GET %s either', async (path) => {
    expect((await isolate.send('GET', path, { authorization: daemon })).status).toBe(503)
  })

  it('is left alone by the tick, which says so', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const before = await contents()
    await isolate.tick()
    expect(await contents()).toEqual(before)
    expect(warn.mock.calls.flat().join('\n')).toContain('The tick was skipped')
  })

  it('is told once in the log, and in the report of health', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    for (let round = 0; round < 3; round += 1) {
      await add('never')
      later(3)
    }
    const lines = error.mock.calls.flat().filter((line) => String(line).includes('lacks migrations'))
    expect(lines).toHaveLength(1)
    expect(await isolate.send('GET', '/health')).toMatchObject({
      status: 200,
      body: { status: 'degraded', parts: { database: 'ok', migrations: 'failed' }, pending_migrations: 1 },
    })
  })

  it('is read as far as it goes', async () => {
    await makeLocation(services.world, { short: crypto.randomUUID() })
    expect((await isolate.send('GET', locations, { authorization })).status).toBe(200)
    await run(sql`alter table locations rename column long to elsewhere`)
    try {
      const { status, body } = await isolate.send('GET', locations, { authorization })
      expect([status, body.errors[0].code]).toEqual([503, 'ServiceUnavailableHttpException'])
      await showNewest()
      later(3)
      expect((await isolate.send('GET', locations, { authorization })).status).toBe(500)
    } finally {
      await run(sql`alter table locations rename column elsewhere to long`)
    }
  })

  it('is asked once in two seconds, until it has all; then never again', async () => {
    const countQueries = async (work: () => Promise<unknown>) => {
      const lines = vi.spyOn(console, 'log').mockImplementation(() => undefined)
      await work()
      const texts = lines.mock.calls.flat().map(String)
      lines.mockRestore()
      return texts.filter((text) => text.includes('"request"')).map((text) => JSON.parse(text).statements)
    }
    expect(await countQueries(() => add('first'))).toEqual([1])
    expect(await countQueries(() => Promise.all([add('a'), add('b'), add('c')]))).toEqual([0, 0, 0])
    await showNewest()
    expect((await add('still')).status).toBe(503)
    later(3)
    const [first = 0] = await countQueries(async () =>
      expect((await add(crypto.randomUUID())).status).toBe(201),
    )
    const [second] = await countQueries(async () => expect((await add(crypto.randomUUID())).status).toBe(201))
    expect(second).toBe(first - 1)
  })

  it('may be newer than the code', async () => {
    await showNewest()
    await run(sql`insert into migrations (hash, created_at) values ('of a later version', ${Date.now() * 2})`)
    try {
      expect((await add(crypto.randomUUID())).status).toBe(201)
    } finally {
      await run(sql`delete from migrations where hash = 'of a later version'`)
    }
  })

  it('is not written to where the account may not read', async () => {
    await showNewest()
    await run(sql`alter table migrations rename column created_at to elsewhere`)
    try {
      expect((await add('never')).status).toBe(503)
    } finally {
      await run(sql`alter table migrations rename column elsewhere to created_at`)
    }
  })

  it('is refused altogether while it is empty, and served once it is migrated', async () => {
    await run(sql`drop schema public cascade`)
    await run(sql`create schema public`)
    const asOtherUser = (method: string) => isolate.send(method, locations, { authorization })
    expect((await asOtherUser('GET')).status).toBe(503)
    expect((await asOtherUser('POST')).status).toBe(503)
    expect((await isolate.send('GET', '/auth/login')).status).toBe(503)
    expect((await isolate.send('GET', '/health')).body).toMatchObject({
      status: 'degraded',
      pending_migrations: journal.entries.length,
    })
    await migratePostgres(services.environment.DATABASE_URL ?? '')
    later(3)
    expect((await asOtherUser('GET')).status).toBe(401)
    expect((await asOtherUser('POST')).status).toBe(401)
  })
})

describe.skipIf(!hasPostgres)('the Node process over Neon', () => {
  let services: CloudServices
  let directory: string

  beforeAll(async () => {
    services = await openCloudServices()
    directory = await mkdtemp(join(tmpdir(), 'roost-pending-'))
  })
  afterAll(async () => {
    await services?.close()
    await rm(directory, { recursive: true, force: true })
  })

  it('starts on an empty database, and writes nothing there', async () => {
    const { db } = services.database
    await db.execute(sql`drop schema public cascade`)
    await db.execute(sql`create schema public`)
    const environment = {
      DATABASE_URL: services.environment.DATABASE_URL,
      NEON_LOCAL_PROXY: services.neon.address,
    }
    const panel = await startNode(
      { ...environment, DATABASE_DRIVER: 'neon', PORT: '0', DATA_DIR: directory },
      surfaces,
      async () => undefined,
      { log: () => undefined },
    )
    try {
      expect(panel.bootstrap).toBeNull()
      expect((await fetch(`${panel.url}${locations}`, { method: 'POST' })).status).toBe(503)
      expect((await fetch(`${panel.url}/auth/login`)).status).toBe(503)
      const tables = await db.execute(sql`select from pg_tables where schemaname = 'public'`)
      expect(rowsOf(tables)).toEqual([])
    } finally {
      await panel.close()
    }
  })
})
