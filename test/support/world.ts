import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hono } from 'hono'
import { beforeEach } from 'vitest'
import { httpCaptcha } from '../../src/adapters/captcha.ts'
import type { Message } from '../../src/adapters/mail.ts'
import { mysqlHosts } from '../../src/adapters/mysql-host.ts'
import { httpOauth } from '../../src/adapters/oauth.ts'
import { httpPasteService } from '../../src/adapters/paste.ts'
import { publicFetch } from '../../src/adapters/public-fetch.ts'
import { findSigningKey } from '../../src/adapters/queue-signature.ts'
import type { Queue } from '../../src/adapters/queue.ts'
import { activity } from '../../src/db/schema.ts'
import { jobHandlers } from '../../src/domain/jobs/handlers.ts'
import { sweepJobs } from '../../src/domain/jobs/run.ts'
import { importKeyRing } from '../../src/domain/secrets.ts'
import type { HttpEnv } from '../../src/http/http-env.ts'
import { createMetrics } from '../../src/metrics.ts'
import type { Panel } from '../../src/panel.ts'
import { localCache } from '../../src/platform/local/cache.ts'
import { mailOutbox } from '../../src/platform/local/mail-outbox.ts'
import { nodeDaemonFetch } from '../../src/platform/node-daemon-fetch.ts'
import { nodeProbe } from '../../src/platform/node-probe.ts'
import { nodeGameQuery } from '../../src/platform/node-game-query.ts'
import { nodeSendGet } from '../../src/platform/node-send-get.ts'
import type { Services } from '../../src/platform/open-panel.ts'
import { serve } from '../../src/platform/serve.ts'
import { localeFiles } from '../../src/platform/locale-files.ts'
import { surfaces } from '../../src/surfaces/all.ts'
import { answerOf, type Answer, checkAnswer } from './answers.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'
import { defaultRule, testEgress } from './egress.ts'
import { memoryObjects, type MemoryObjects } from './memory-objects.ts'
import { resetWorld } from './reset.ts'

export const panelUrl = 'http://panel.test'
export const signingKeys = { current: 'sig_current_of_the_tests', next: 'sig_next_of_the_tests' }
export const metricsToken = 'metrics_token_of_the_tests'
const secretKeys = `test:${Buffer.alloc(32, 7).toString('base64')}`

/** Hashes in three milliseconds instead of some hundreds. */
export const cheapPasswords = { N: 1024, r: 8, p: 1 }

const config: Services['config'] = {
  url: panelUrl,
  name: 'Roost',
  sendsMail: false,
  clientRateLimit: 100_000,
  applicationRateLimit: 100_000,
  timezone: 'UTC',
  maxWaitMs: 5_000,
  passwordCost: cheapPasswords,
  metricsToken,
}

export type RequestOptions = {
  token?: string
  body?: unknown
  raw?: string
  headers?: Record<string, string>
  ip?: string
}

/** The whole panel over a real database, with a clock that tests can turn. */
export type World = {
  app: Hono<HttpEnv>
  services: Services
  /** The value of `services` at the beginning of each test. */
  defaults: Services
  database: TestDatabase
  /** A panel whose actor is the system. */
  panel: Panel
  /** The folder of the mails of this test. */
  folder: string
  /** The object store of the panel, unless a test replaces it. */
  objects: MemoryObjects
  clock: { now: Date; advance: (seconds: number) => void }
  /** Messages that were sent to the queue; `runJobs` does what they ask for. */
  messages: { id: string; delay: number }[]
  /** Work that continues after the response. */
  background: Promise<unknown>[]
  request: (method: string, path: string, options?: RequestOptions) => Promise<Answer>
  /** Runs every job that is due by the clock; returns how many. */
  runJobs: () => Promise<number>
  /** Lists the names of the recorded events, oldest first. */
  events: () => Promise<string[]>
  /** Lists the sent mails, oldest first. */
  mails: () => Promise<Message[]>
  /** Counts the statements that `work` sends, without begin and commit. */
  countStatements: (work: () => Promise<unknown>) => Promise<number>
}

let opened: Promise<World> | null = null

/** Returns the world of this worker: opened by the first test file that uses it, reset before each test. */
export function useWorld(): World {
  const world = {} as World
  beforeEach(async () => {
    opened ??= openWorld()
    const current = await opened
    await resetWorld(current)
    Object.assign(world, current)
  })
  return world
}

async function openWorld(): Promise<World> {
  const database = await openTestDatabase()
  const folder = await mkdtemp(join(process.env.ROOST_TEST_FOLDER ?? tmpdir(), 'world-'))
  const messages: World['messages'] = []
  const objects = memoryObjects()
  const clock = {
    now: new Date(),
    advance: (seconds: number) => void (clock.now = new Date(clock.now.getTime() + seconds * 1000)),
  }
  const queue: Queue = {
    send: async (sent) => void messages.push(...sent.map(({ id, delaySeconds: delay }) => ({ id, delay }))),
    scheduleTick: async () => undefined,
    verifySignature: ({ path, ...message }) =>
      findSigningKey(signingKeys, { ...message, url: `${panelUrl}${path}` }),
    ping: async () => undefined,
  }
  const defaults: Services = {
    config,
    keys: await importKeyRing(secretKeys),
    db: database.db,
    transaction: database.transaction,
    cache: localCache(() => clock.now.getTime()),
    inFlight: new Map(),
    circuitBreakers: new Map(),
    daemonFetch: nodeDaemonFetch(defaultRule),
    queue,
    objects,
    mail: mailOutbox(join(folder, 'outbox')),
    pastes: httpPasteService(testEgress.fetch),
    publicFetch: publicFetch(nodeSendGet),
    oauth: httpOauth(testEgress.fetch),
    captcha: httpCaptcha(testEgress.fetch),
    locales: localeFiles,
    mysqlHost: mysqlHosts(testEgress),
    probeNode: nodeProbe(testEgress),
    gameQuery: nodeGameQuery(testEgress),
    metrics: createMetrics(),
    now: () => clock.now,
    close: database.close,
  }
  const services = { ...defaults }
  const background: Promise<unknown>[] = []
  const app = serve(
    {
      services: async () => services,
      clientAddress: (c) => c.req.header('x-test-address') ?? '192.0.2.1',
      waitUntil: (_c, work) => void background.push(...work),
    },
    ...surfaces,
  )
  // `resetWorld` fills it in.
  const panel = {} as Panel
  return {
    app,
    services,
    defaults,
    database,
    panel,
    clock,
    messages,
    background,
    request: async (method, path, options = {}) => {
      const answer = await answerOf(await app.request(requestOf(method, path, options)))
      await Promise.all(background.splice(0))
      checkAnswer(app, method, path, answer)
      return answer
    },
    runJobs: () => sweepJobs(panel, jobHandlers),
    events: async () => {
      const rows = await database.db.select({ event: activity.event }).from(activity).orderBy(activity.id)
      return rows.map(({ event }) => event)
    },
    mails: () => readMails(join(folder, 'outbox')),
    folder,
    objects,
    countStatements: async (work) => {
      const before = database.statements.length
      await work()
      return database.statements.length - before
    },
  }
}

async function readMails(outbox: string): Promise<Message[]> {
  const names = (await readdir(outbox).catch(() => [] as string[])).toSorted((one, other) =>
    one.localeCompare(other),
  )
  return Promise.all(
    names.map(async (name) => JSON.parse(await readFile(join(outbox, name), 'utf8')) as Message),
  )
}

function requestOf(method: string, path: string, options: RequestOptions): Request {
  const hasBody = options.body !== undefined || options.raw !== undefined
  return new Request(`${panelUrl}${path}`, {
    method,
    headers: {
      accept: 'application/json',
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
      ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
      ...(options.ip ? { 'x-test-address': options.ip } : {}),
      ...options.headers,
    },
    ...(hasBody ? { body: options.raw ?? JSON.stringify(options.body) } : {}),
  })
}
