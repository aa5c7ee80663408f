import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { Hono } from 'hono'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { rowsOf } from '../../../src/db/database.ts'
import type { HttpEnv } from '../../../src/http/environment.ts'
import type { PanelConfig } from '../../../src/panel.ts'
import { signMessage } from '../../../src/platform/local/qstash-signature.ts'
import { startNode } from '../../../src/platform/node.ts'
import { surfaces } from '../../../src/surfaces/all.ts'
import type { Answer } from '../../support/answers.ts'
import { type CloudServices, openCloudServices } from '../../support/cloud-services.ts'
import { type Line, openLine } from '../../support/line.ts'
import { openTestStore, type TestStore } from '../../support/object-store.ts'
import { freePort } from '../../support/panel-process.ts'
import { sendRaw } from '../../support/raw-http.ts'
import { startStubDaemon, type StubDaemon } from '../../support/stub-daemon.ts'
import { signingKeys } from '../../support/world.ts'

export type Call = { token?: string; body?: unknown; headers?: Record<string, string> }

/** A whole panel on Node, with lines to everything outside of it, each of which can be cut. */
export type Site = {
  /** Reaches the database without the line that the panel uses. */
  services: CloudServices
  store: TestStore
  daemon: StubDaemon
  /** Of another node. */
  otherDaemon: StubDaemon
  lines: Record<'database' | 'neon' | 'cache' | 'queue' | 'objects' | 'daemon', Line>
  /** What the running panel goes by; tests may change it. */
  config: PanelConfig
  /** Its APP_URL. */
  origin: string
  request: (method: string, path: string, call?: Call) => Promise<Answer>
  /** What the queue asks for each minute. */
  tick: () => Promise<Answer>
  /** Jobs that wait for their time are due, and a tick runs them. */
  passTime: () => Promise<void>
  health: () => Promise<Answer>
  /** Every row that a call can change, with the times at which it did. */
  rows: () => Promise<Record<string, unknown>>
  close: () => Promise<void>
}

export type SiteOptions = { driver?: 'postgres' | 'neon'; poolSize?: number }

/** One site for the tests of a file; between them all lines are mended. */
export function useSite(options: SiteOptions = {}): Site {
  const site = {} as Site
  beforeAll(async () => {
    Object.assign(site, await openSite(options))
  })
  afterEach(async () => {
    for (const line of Object.values(site.lines)) await line.mend()
    for (const daemon of [site.daemon, site.otherDaemon]) daemon.respond(null)
  })
  afterAll(() => site.close?.())
  return site
}

async function openSite({ driver = 'postgres', poolSize = 2 }: SiteOptions): Promise<Site> {
  const services = await openCloudServices()
  const [store, daemon, otherDaemon, directory, port] = await Promise.all([
    openTestStore(),
    startStubDaemon(),
    startStubDaemon(),
    mkdtemp(join(tmpdir(), 'roost-degradation-')),
    freePort(),
  ])
  const lines = await openLines(services, store, daemon)
  const origin = `http://localhost:${port}`
  const { environment, watcher } = surroundings(services, store, lines)
  const panel = await startNode(
    {
      ...environment,
      APP_URL: origin,
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: directory,
      DEMO: 'false',
      // It holds for the whole process, and so for the files after this one.
      LOG_LEVEL: 'warn',
      DATABASE_DRIVER: driver,
      DATABASE_POOL_SIZE: String(poolSize),
    },
    [watcher.surface, ...surfaces],
    async () => null,
  )
  const request = (method: string, path: string, { token, body, headers }: Call = {}) =>
    sendRaw(new URL(`http://127.0.0.1:${port}`), method, path, {
      headers: {
        accept: 'application/json',
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  await request('GET', '/locales/locale.json?locale=en&namespace=common')
  const tick = async () => {
    const signature = await signMessage({ key: signingKeys.current, url: `${origin}/jobs/tick`, body: '' })
    return request('POST', '/jobs/tick', { headers: { 'upstash-signature': signature } })
  }
  return {
    services,
    store,
    daemon,
    otherDaemon,
    lines,
    origin,
    request,
    tick,
    config: watcher.config(),
    passTime: async () => {
      await services.database.db.execute(sql`update jobs set run_at = now() where state = 'waiting'`)
      expect((await tick()).status).toBe(200)
    },
    health: async () => {
      watcher.forgetHealth()
      return request('GET', '/health')
    },
    rows: () => readRows(services),
    close: async () => {
      for (const line of Object.values(lines)) await line.mend()
      await panel.close()
      await Promise.all([...Object.values(lines), store, daemon, otherDaemon].map((each) => each.close()))
      await services.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function openLines(services: CloudServices, store: TestStore, daemon: StubDaemon) {
  const portOf = (address = '') => Number(new URL(address).port || 5432)
  const { environment } = services
  const [database, neon, cache, queue, objects, toDaemon] = await Promise.all([
    openLine(portOf(environment.DATABASE_URL)),
    openLine(portOf(`http://${environment.NEON_LOCAL_PROXY}`)),
    openLine(portOf(environment.UPSTASH_REDIS_REST_URL)),
    openLine(portOf(environment.QSTASH_URL)),
    openLine(portOf(store.options.endpoint ?? '')),
    openLine(daemon.port),
  ])
  return { database, neon, cache, queue, objects, daemon: toDaemon }
}

/** The environment with every address behind its line, and a surface that takes hold of the panel's parts. */
function surroundings(services: CloudServices, store: TestStore, lines: Site['lines']) {
  const url = new URL(services.environment.DATABASE_URL ?? '')
  url.host = lines.database.address
  const { options } = store
  let config: PanelConfig | null = null
  let skipped = 0
  const surface = new Hono<HttpEnv>().use(async (c, next) => {
    const { panel } = c.var
    config = panel.config
    const later = skipped
    if (c.req.path === '/health') c.set('panel', { ...panel, now: () => new Date(Date.now() + later) })
    await next()
  })
  return {
    environment: {
      ...services.environment,
      DATABASE_URL: url.href,
      NEON_LOCAL_PROXY: lines.neon.address,
      UPSTASH_REDIS_REST_URL: `http://${lines.cache.address}`,
      QSTASH_URL: `http://${lines.queue.address}`,
      S3_BUCKET: options.bucket,
      S3_REGION: options.region,
      S3_ACCESS_KEY_ID: options.accessKeyId,
      S3_SECRET_ACCESS_KEY: options.secretAccessKey,
      S3_ENDPOINT: `http://${lines.objects.address}`,
      S3_PATH_STYLE: 'true',
    },
    watcher: {
      surface,
      config: () => config!,
      /** A report is kept for ten seconds. */
      forgetHealth: () => void (skipped += 11_000),
    },
  }
}

/** What changes by itself, or with every call. */
const restless = ['throttles', 'sessions', 'migrations']
const recurring = `name not in ('maintain-activity', 'prune', 'sweep-uploads')`

async function readRows({ database }: CloudServices): Promise<Record<string, unknown>> {
  const found = await database.db.execute(sql`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace
      and relkind in ('r', 'p') and not relispartition order by relname`)
  const names = rowsOf<{ name: string }>(found).map(({ name }) => name)
  const entries = await Promise.all(
    names
      .filter((name) => !restless.includes(name))
      .map(async (name) => {
        const often = name === 'api_keys' ? `- 'last_used_at' - 'updated_at'` : ''
        const where = name === 'jobs' ? `where ${recurring}` : ''
        const [row] = rowsOf<{ rows: unknown }>(
          await database.db.execute(
            sql.raw(`select coalesce(jsonb_agg(to_jsonb(t) ${often} order by to_jsonb(t)::text), '[]') as rows
              from (select * from ${name} ${where}) t`),
          ),
        )
        return [name, row?.rows]
      }),
  )
  return Object.fromEntries(entries)
}
