import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import type { Hono } from 'hono'
import { afterAll, beforeEach } from 'vitest'
import { httpCaptcha } from '../../src/adapters/captcha.ts'
import type { Message } from '../../src/adapters/mail.ts'
import { mysqlHost } from '../../src/adapters/mysql-host.ts'
import { httpOauth } from '../../src/adapters/oauth.ts'
import { httpPastes } from '../../src/adapters/paste.ts'
import { signingKeyOf } from '../../src/adapters/queue-signature.ts'
import type { Queue } from '../../src/adapters/queue.ts'
import { activity } from '../../src/db/schema.ts'
import { jobHandlers } from '../../src/domain/job-handlers.ts'
import { sweepJobs } from '../../src/domain/jobs.ts'
import { importKeyRing } from '../../src/domain/secrets.ts'
import type { HttpEnv } from '../../src/http/environment.ts'
import { openMetrics } from '../../src/metrics.ts'
import type { Panel } from '../../src/panel.ts'
import { localCache } from '../../src/platform/local/cache.ts'
import { mailOutbox } from '../../src/platform/local/mail.ts'
import { nodeGameQuery } from '../../src/platform/node-game-query.ts'
import { openPanel, type Parts } from '../../src/platform/parts.ts'
import { serve } from '../../src/platform/serve.ts'
import { textFiles } from '../../src/platform/text-files.ts'
import { surfaces } from '../../src/surfaces/all.ts'
import { answerOf, type Answer, checkAnswer } from './answers.ts'
import { openTestDatabase, type TestDatabase } from './database.ts'
import { memoryObjects, type MemoryObjects } from './memory-objects.ts'

export const panelUrl = 'http://panel.test'
export const signingKeys = { current: 'sig_current_of_the_tests', next: 'sig_next_of_the_tests' }
export const metricsToken = 'metrics_token_of_the_tests'
const secretKeys = `test:${Buffer.alloc(32, 7).toString('base64')}`

const config: Parts['config'] = {
  url: panelUrl,
  name: 'Roost',
  clientRateLimit: 100_000,
  applicationRateLimit: 100_000,
  timezone: 'UTC',
  longestWait: 5_000,
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
  parts: Parts
  database: TestDatabase
  /** A panel whose actor is the system. */
  panel: Panel
  /** Where mails of this test are kept. */
  folder: string
  /** What the panel keeps its objects in, unless a test puts another store in its place. */
  objects: MemoryObjects
  clock: { now: Date; advance: (seconds: number) => void }
  /** Messages that were sent to the queue; `runJobs` does what they ask for. */
  messages: { id: string; delay: number }[]
  request: (method: string, path: string, options?: RequestOptions) => Promise<Answer>
  /** Runs every job that is due by the clock; returns how many. */
  runJobs: () => Promise<number>
  /** Names of the recorded events, oldest first. */
  events: () => Promise<string[]>
  /** The mails that were sent, oldest first. */
  mails: () => Promise<Message[]>
  /** How many statements `work` sends, begin and commit not counted. */
  countStatements: (work: () => Promise<unknown>) => Promise<number>
}

let opened: Promise<World> | null = null

/** The world of this test file: opened once per worker, emptied before each test. */
export function useWorld(): World {
  const world = {} as World
  beforeEach(async () => {
    opened ??= openWorld()
    const current = await opened
    await empty(current)
    Object.assign(world, current)
  })
  afterAll(async () => {
    const current = await opened
    opened = null
    await current?.database.close()
    if (current) await rm(current.folder, { recursive: true, force: true })
  })
  return world
}

async function openWorld(): Promise<World> {
  const database = await openTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'roost-world-'))
  const messages: World['messages'] = []
  const objects = memoryObjects()
  const clock = {
    now: new Date(),
    advance: (seconds: number) => void (clock.now = new Date(clock.now.getTime() + seconds * 1000)),
  }
  const queue: Queue = {
    send: async (sent) => void messages.push(...sent.map(({ id, delay }) => ({ id, delay }))),
    scheduleTick: async () => undefined,
    signedBy: ({ path, ...message }) => signingKeyOf(signingKeys, { ...message, url: `${panelUrl}${path}` }),
    ping: async () => undefined,
  }
  const parts: Parts = {
    config,
    keys: await importKeyRing(secretKeys),
    db: database.db,
    transaction: database.transaction,
    cache: localCache(() => clock.now.getTime()),
    flights: new Map(),
    circuits: new Map(),
    queue,
    objects,
    mail: mailOutbox(join(folder, 'outbox')),
    pastes: httpPastes(),
    oauth: httpOauth(),
    captcha: httpCaptcha(),
    texts: textFiles,
    mysqlHost,
    gameQuery: nodeGameQuery,
    metrics: openMetrics(),
    now: () => clock.now,
    close: database.close,
  }
  const settled: Promise<unknown>[] = []
  const app = serve(
    {
      parts: async () => parts,
      address: (c) => c.req.header('x-test-address') ?? '192.0.2.1',
      settle: (_c, work) => void settled.push(...work),
    },
    ...surfaces,
  )
  const facts = {
    ip: '127.0.0.1',
    requestId: 'test',
    defer: (work: Promise<unknown>) => void settled.push(work),
  }
  const panel: Panel = { ...openPanel(parts, facts), actor: { kind: 'system' } }
  return {
    app,
    parts,
    database,
    panel,
    clock,
    messages,
    request: async (method, path, options = {}) => {
      const answer = await answerOf(await app.request(requestOf(method, path, options)))
      await Promise.all(settled.splice(0))
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

/** Nothing is left of the test before: no rows, ids from 1, an empty cache, the clock at now. */
async function empty(world: World): Promise<void> {
  const { db } = world.database
  await db.execute(sql.raw(emptying))
  world.clock.now = new Date()
  await rm(join(world.folder, 'outbox'), { recursive: true, force: true })
  world.messages.length = 0
  world.database.statements.length = 0
  world.objects.clear()
  const cache = localCache(() => world.clock.now.getTime())
  Object.assign(world.parts, { cache, objects: world.objects, metrics: openMetrics() })
}

/** Deleting is much faster than truncating where tables are small; the owner of the database may skip the checks. */
const emptying = `do $$ declare name text; begin
  set local session_replication_role = replica;
  for name in select relname from pg_class where relnamespace = 'public'::regnamespace
      and relkind in ('r', 'p') and not relispartition and relname <> 'migrations' loop
    execute format('delete from %I', name);
  end loop;
  for name in select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'S' loop
    execute format('select setval(%L, 1, false)', name);
  end loop;
end $$`
