import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { Hono } from 'hono'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import type { HttpEnv } from '../../../src/http/http-env.ts'
import type { PanelConfig } from '../../../src/panel.ts'
import { rowsOf } from '../../../src/db/database.ts'
import { signMessage } from '../../../src/dev/qstash/signature.ts'
import { startNode } from '../../../src/platform/node.ts'
import { surfaces } from '../../../src/surfaces/all.ts'
import type { Answer } from '../../support/answers.ts'
import { type CloudServices, openCloudServices } from '../../support/cloud-services.ts'
import { type TcpProxy, startTcpProxy } from '../../support/tcp-proxy.ts'
import { openTestStore, type TestStore } from '../../support/object-store.ts'
import { freePort } from '../../support/panel-process.ts'
import { sendRaw } from '../../support/raw-http.ts'
import { startStubDaemon, type StubDaemon } from '../../support/stub-daemon.ts'
import { until } from '../../support/until.ts'
import { signingKeys } from '../../support/world.ts'
import { type CacheKind, startFailingCache } from './failing-cache.ts'

export type Call = { token?: string; body?: unknown; headers?: Record<string, string> }

/** A whole panel on Node, with a TCP proxy in front of each external service. */
export type Deployment = {
  /** Connects to the database without the proxy that the panel uses. */
  services: CloudServices
  store: TestStore
  daemon: StubDaemon
  /** The daemon of another node. */
  otherDaemon: StubDaemon
  proxies: Record<'database' | 'neon' | 'cache' | 'queue' | 'objects' | 'daemon', TcpProxy>
  /** The configuration of the running panel; tests may change it. */
  config: PanelConfig
  /** Its APP_URL. */
  origin: string
  request: (method: string, path: string, call?: Call) => Promise<Answer>
  /** Sends the tick that the queue sends each minute. */
  tick: () => Promise<Answer>
  /** Waits until no job runs any more, makes all waiting jobs due and sends a tick. */
  passTime: () => Promise<void>
  health: () => Promise<Answer>
  /** Reads every row that a request can change, with its timestamps. */
  rows: () => Promise<Record<string, unknown>>
  close: () => Promise<void>
}

export type DeploymentOptions = {
  driver?: 'postgres' | 'neon'
  poolSize?: number
  /** Over the REST protocol of Upstash when left out. */
  cache?: CacheKind
}

/** Starts one deployment for the tests of a file; restores all proxies after each test. */
export function useDeployment(options: DeploymentOptions = {}): Deployment {
  const deployment = {} as Deployment
  beforeAll(async () => {
    Object.assign(deployment, await startDeployment(options))
  })
  afterEach(async () => {
    for (const proxy of Object.values(deployment.proxies)) await proxy.restore()
    for (const daemon of [deployment.daemon, deployment.otherDaemon]) daemon.respond(null)
  })
  afterAll(() => deployment.close?.())
  return deployment
}

async function startDeployment({
  driver = 'postgres',
  poolSize = 2,
  cache: cacheKind = 'rest',
}: DeploymentOptions): Promise<Deployment> {
  const services = await openCloudServices()
  const [store, daemon, otherDaemon, directory, port] = await Promise.all([
    openTestStore(),
    startStubDaemon(),
    startStubDaemon(),
    mkdtemp(join(tmpdir(), 'roost-degradation-')),
    freePort(),
  ])
  const cache = await startFailingCache(cacheKind, services)
  const proxies = { ...(await startProxies(services, store, daemon)), cache: cache.proxy }
  const origin = `http://localhost:${port}`
  const { environment, watcher } = environmentBehindProxies(services, store, proxies)
  const panel = await startNode(
    {
      ...environment,
      ...cache.environment,
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
        host: new URL(origin).host,
        accept: 'application/json',
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  await request('GET', '/locales/locale.json?locale=en&namespace=common')
  const tick = async () => {
    const signature = signMessage({ key: signingKeys.current, url: `${origin}/jobs/tick`, body: '' })
    return request('POST', '/jobs/tick', { headers: { 'upstash-signature': signature } })
  }
  return {
    services,
    store,
    daemon,
    otherDaemon,
    proxies,
    origin,
    request,
    tick,
    config: watcher.config(),
    passTime: async () => {
      const running = sql`select id from jobs where state = 'running'`
      await until(async () => expect(rowsOf(await services.database.db.execute(running))).toEqual([]))
      await services.database.db.execute(sql`update jobs set run_at = now() where state = 'waiting'`)
      expect((await tick()).status).toBe(200)
    },
    health: async () => {
      watcher.forgetHealth()
      return request('GET', '/health')
    },
    rows: () => readRows(services),
    close: async () => {
      for (const proxy of Object.values(proxies)) await proxy.restore()
      await panel.close()
      await Promise.all([...Object.values(proxies), store, daemon, otherDaemon].map((each) => each.close()))
      await cache.close()
      await services.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function startProxies(services: CloudServices, store: TestStore, daemon: StubDaemon) {
  const portOf = (address = '') => Number(new URL(address).port || 5432)
  const { environment } = services
  const [database, neon, queue, objects, toDaemon] = await Promise.all([
    startTcpProxy(portOf(environment.DATABASE_URL)),
    startTcpProxy(portOf(`http://${environment.NEON_LOCAL_PROXY}`)),
    startTcpProxy(portOf(environment.QSTASH_URL)),
    startTcpProxy(portOf(store.options.endpoint ?? '')),
    startTcpProxy(daemon.port),
  ])
  return { database, neon, queue, objects, daemon: toDaemon }
}

/** Builds the environment with every address behind its proxy, and a surface that gives access to the configuration of the panel. */
function environmentBehindProxies(
  services: CloudServices,
  store: TestStore,
  proxies: Awaited<ReturnType<typeof startProxies>>,
) {
  const url = new URL(services.environment.DATABASE_URL ?? '')
  url.host = proxies.database.address
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
      NEON_LOCAL_PROXY: proxies.neon.address,
      QSTASH_URL: `http://${proxies.queue.address}`,
      S3_BUCKET: options.bucket,
      S3_REGION: options.region,
      S3_ACCESS_KEY_ID: options.accessKeyId,
      S3_SECRET_ACCESS_KEY: options.secretAccessKey,
      S3_ENDPOINT: `http://${proxies.objects.address}`,
      S3_PATH_STYLE: 'true',
    },
    watcher: {
      surface,
      config: () => config!,
      /** Skips the ten seconds for which a health report is cached. */
      forgetHealth: () => void (skipped += 11_000),
    },
  }
}

/** Tables that change by themselves, or with every request. */
const volatileTables = ['cache_entries', 'throttles', 'sessions', 'migrations']
const recurring = `name not in ('maintain-activity', 'prune', 'sweep-uploads')`

async function readRows({ database }: CloudServices): Promise<Record<string, unknown>> {
  const found = await database.db.execute(sql`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace
      and relkind in ('r', 'p') and not relispartition order by relname`)
  const names = rowsOf<{ name: string }>(found).map(({ name }) => name)
  const entries = await Promise.all(
    names
      .filter((name) => !volatileTables.includes(name))
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
