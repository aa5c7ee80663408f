import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { runTick } from '../../src/domain/jobs/tick.ts'
import { readEnv } from '../../src/platform/env.ts'
import { lambda } from '../../src/platform/lambda.ts'
import { requiredByClouds } from '../../src/platform/deployment-faults.ts'
import { worker } from '../../src/platform/workers.ts'
import { surfaces } from '../../src/surfaces/all.ts'
import { type Answer, answerOf } from '../support/answers.ts'
import { stubEnvironment } from '../support/cloud-services.ts'
import { callThroughGateway } from '../support/lambda-gateway.ts'

type Variables = Record<string, string>
type Case = [change: Variables, ...names: string[]]

/** The environment of a deployed panel, whose services are never called here. */
const fit: Variables = {
  APP_URL: 'https://panel.test',
  APP_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
  DATABASE_URL: 'postgres://owner:hush-database@db.test/panel',
  UPSTASH_REDIS_REST_URL: 'https://cache.test',
  UPSTASH_REDIS_REST_TOKEN: 'hush-cache',
  QSTASH_TOKEN: 'hush-queue',
  QSTASH_CURRENT_SIGNING_KEY: 'sig_hush_current',
  QSTASH_NEXT_SIGNING_KEY: 'sig_hush_next',
}
const material = Buffer.alloc(32, 2).toString('base64')
/** What QStash's documentation gives its development server's users. */
const development = {
  QSTASH_TOKEN: 'eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0=',
  QSTASH_CURRENT_SIGNING_KEY: 'sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r',
  QSTASH_NEXT_SIGNING_KEY: 'sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs',
}

/** Values with which no platform starts. */
const malformed: Case[] = [
  [{ APP_URL: 'panel.test' }, 'APP_URL'],
  [{ APP_URL: 'https://panel.test/panel' }, 'APP_URL'],
  [{ APP_URL: 'https://me:hush@panel.test' }, 'APP_URL'],
  [{ APP_KEYS: 'hush' }, 'APP_KEYS'],
  [{ APP_KEYS: `k1:${Buffer.alloc(16).toString('base64')}` }, 'APP_KEYS'],
  [{ APP_KEYS: `k1:${material},k1:${fit.APP_KEYS?.slice(3)}` }, 'APP_KEYS'],
  [{ APP_TIMEZONE: 'Europe/Nowhere' }, 'APP_TIMEZONE'],
  [{ DATABASE_URL: 'mysql://owner:hush@db.test/panel' }, 'DATABASE_URL'],
  [{ DATABASE_URL: 'postgres' }, 'DATABASE_URL'],
  [{ UPSTASH_REDIS_REST_URL: 'redis://:hush@cache.test' }, 'UPSTASH_REDIS_REST_URL'],
  [{ UPSTASH_REDIS_REST_TOKEN: '"hush"' }, 'UPSTASH_REDIS_REST_TOKEN'],
  [{ QSTASH_TOKEN: 'hush\n' }, 'QSTASH_TOKEN'],
  [{ QSTASH_CURRENT_SIGNING_KEY: '   ' }, 'QSTASH_CURRENT_SIGNING_KEY'],
  [{ QSTASH_NEXT_SIGNING_KEY: "'sig_hush'" }, 'QSTASH_NEXT_SIGNING_KEY'],
  [{ QSTASH_NEXT_SIGNING_KEY: '' }, 'QSTASH_NEXT_SIGNING_KEY'],
  [{ UPSTASH_REDIS_REST_TOKEN: '' }, 'UPSTASH_REDIS_REST_TOKEN'],
  [{ S3_BUCKET: 'panel' }, 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'],
  [{ LOG_LEVEL: 'loud', CLIENT_RATE_LIMIT: 'many' }, 'LOG_LEVEL', 'CLIENT_RATE_LIMIT'],
]

/** Caches with which no Node process starts; functions do not read these variables. */
const unfitCaches: Case[] = [
  [{ REDIS_URL: 'redis://:hush@cache.test' }, 'UPSTASH_REDIS_REST_URL'],
  [{ CACHE_DRIVER: 'memory' }, 'CACHE_DRIVER'],
  [{ UPSTASH_REDIS_REST_URL: '', UPSTASH_REDIS_REST_TOKEN: '', REDIS_URL: 'http://hush.test' }, 'REDIS_URL'],
  [
    {
      UPSTASH_REDIS_REST_URL: '',
      UPSTASH_REDIS_REST_TOKEN: '',
      REDIS_URL: 'redis://hush.test',
      CACHE_DRIVER: 'database',
    },
    'CACHE_DRIVER',
  ],
  [
    { UPSTASH_REDIS_REST_URL: '', UPSTASH_REDIS_REST_TOKEN: '', DATABASE_URL: '', CACHE_DRIVER: 'database' },
    'CACHE_DRIVER',
  ],
]

/** Keys which are not those of the queue, and what only development may have. */
const unsafe: Case[] = [
  [{ QSTASH_NEXT_SIGNING_KEY: 'sig_hush_current' }, 'QSTASH_NEXT_SIGNING_KEY'],
  [{ QSTASH_CURRENT_SIGNING_KEY: 'hush-queue' }, 'QSTASH_CURRENT_SIGNING_KEY'],
  [{ QSTASH_NEXT_SIGNING_KEY: 'eyJodXNoIjoxfQ==' }, 'QSTASH_NEXT_SIGNING_KEY'],
  [{ QSTASH_TOKEN: 'sig_hush_third' }, 'QSTASH_TOKEN'],
  [{ QSTASH_DEV: 'true' }, 'QSTASH_DEV'],
  [development, 'QSTASH_CURRENT_SIGNING_KEY', 'QSTASH_NEXT_SIGNING_KEY', 'QSTASH_TOKEN'],
  [{ QSTASH_NEXT_SIGNING_KEY: 'sig_7GFR4YaDshFcqsxWRZpRB161jguD' }, 'QSTASH_NEXT_SIGNING_KEY'],
  [{ QSTASH_URL: 'http://queue.test' }, 'QSTASH_URL'],
  [{ NEON_LOCAL_PROXY: 'proxy.test:4444' }, 'NEON_LOCAL_PROXY'],
]

/** Values with which no function on Workers or Lambda starts. */
const unfitForClouds: Case[] = [
  ...requiredByClouds.map((name): Case => [{ [name]: '' }, name]),
  [Object.fromEntries(requiredByClouds.map((name) => [name, ''])), ...requiredByClouds],
  [{ APP_KEYS: '', APP_URL: 'panel.test', QSTASH_DEV: '1' }, 'APP_URL', 'APP_KEYS', 'QSTASH_DEV'],
  [{ APP_URL: 'http://panel.test' }, 'APP_URL'],
  [{ JOBS_URL: 'http://jobs.test' }, 'JOBS_URL'],
  [{ APP_URL: 'http://127.0.0.1:8787' }, 'APP_URL'],
  [{ JOBS_URL: 'http://localhost:8787' }, 'JOBS_URL'],
  [{ DEMO: 'true' }, 'DEMO'],
]

const namesIn = (faults: string[]) => faults.map((fault) => fault.trim().split(':')[0])
const inOrder = (names: (string | undefined)[]) =>
  names.toSorted((one, other) => String(one).localeCompare(String(other)))

type Isolate = { send: (method: string, path: string) => Promise<Answer>; tick: () => Promise<unknown> }

function openWorker(environment: Variables): Isolate {
  const { fetch, scheduled } = worker(surfaces, { tick: runTick })
  const context = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} }
  return {
    send: async (method, path) =>
      answerOf(await fetch(new Request(`https://panel.test${path}`, { method }), environment, context)),
    tick: async () => scheduled?.({}, environment),
  }
}

function openLambda(environment: Variables): Isolate {
  stubEnvironment(environment)
  const handler = lambda(surfaces, { tick: runTick })
  return {
    send: (method, path) => callThroughGateway(handler, method, path, { sourceIp: '192.0.2.1' }),
    tick: () => handler({ source: 'aws.events', 'detail-type': 'Scheduled Event' }),
  }
}

describe.each([
  { platform: 'Workers', open: openWorker },
  { platform: 'Lambda', open: openLambda },
])('a function on $platform', ({ open }) => {
  afterEach(() => {
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
  })

  it.each([...malformed, ...unsafe, ...unfitForClouds])(
    'does not start with %j',
    async (change, ...names) => {
      const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
      const isolate = open({ ...fit, ...change })
      await expect(isolate.tick()).rejects.toThrow('not configured')
      for (const [method, path] of [
        ['GET', '/health'],
        ['GET', '/api/client'],
        ['POST', '/api/application/locations'],
        ['POST', '/jobs/tick'],
        ['GET', '/api/remote/servers'],
      ] as const) {
        const { status, body, headers } = await isolate.send(method, path)
        expect([status, headers.get('retry-after')]).toEqual([503, '5'])
        expect(body.errors).toEqual([
          {
            code: 'ServiceUnavailableHttpException',
            status: '503',
            detail: 'The panel is not configured completely.',
            meta: { reason: 'panel_not_configured' },
          },
        ])
      }
      const text = logged.mock.calls.flat().join('\n')
      const lines = text.split('\n').filter((line) => line.includes('The environment is invalid.'))
      expect(lines.map((line) => inOrder(namesIn(JSON.parse(line).faults)))).toEqual([inOrder(names)])
      expect(text).not.toContain('hush')
    },
  )
})

describe('the Node process', () => {
  it.each([...malformed, ...unsafe, ...unfitCaches])('does not start with %j', (change, ...names) => {
    try {
      readEnv({ ...fit, ...change })
    } catch (error) {
      const { message, faults } = error as { message: string; faults: string[] }
      expect(inOrder(namesIn(faults))).toEqual(inOrder(names))
      expect(message).not.toContain('hush')
      return
    }
    expect.unreachable()
  })

  describe('that is refused', () => {
    let directory: string
    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'roost-refused-'))
      // Under root the demo keeps its files beside the data directory, where another user can enter.
      await chmod(directory, 0o711)
    })
    afterEach(() => rm(directory, { recursive: true, force: true }))

    it.each<[Variables, string]>([
      [
        { PORT: '99999', APP_URL: 'panel.test', QSTASH_TOKEN: 'hush' },
        `The environment is invalid:
  APP_URL: must be an http:// or https:// URL
  PORT: Too big: expected number to be <=65535
  QSTASH_CURRENT_SIGNING_KEY: is missing, though QSTASH_TOKEN is set
  QSTASH_NEXT_SIGNING_KEY: is missing, though QSTASH_TOKEN is set\n`,
      ],
      [
        { ...fit, QSTASH_NEXT_SIGNING_KEY: 'sig_hush_current' },
        'The environment is invalid:\n  QSTASH_NEXT_SIGNING_KEY: must differ from QSTASH_CURRENT_SIGNING_KEY\n',
      ],
      [
        { APP_URL: 'https://panel.test', QSTASH_DEV: 'true' },
        'The environment is invalid:\n  QSTASH_DEV: is for development and must not be set in a deployed panel\n',
      ],
      [
        { DATA_DIR: '/proc/nowhere/data' },
        'The panel could not start: DATA_DIR /proc/nowhere/data cannot be created (ENOENT).\n',
      ],
      [
        { DATABASE_URL: 'postgres://owner:hush@127.0.0.1:9/panel', DATABASE_WAIT_SECONDS: '0' },
        'The panel could not start: The database cannot be reached: connect ECONNREFUSED 127.0.0.1:9. Start PostgreSQL, or correct DATABASE_URL.\n',
      ],
    ])('ends with 1 and one message, and leaves nothing behind: %j', async (variables, message) => {
      expect(await start(variables)).toEqual({ code: 1, out: '', err: message })
      expect(await readdir(join(directory, 'data')).catch(() => [])).not.toContain('database')
    })

    it(
      'ends with 1 and the cause when seeding the demo fails, whatever is open',
      { timeout: 120_000 },
      async () => {
        // The daemon runs and the server is installed when the file cannot be written.
        await mkdir(join(directory, 'data', 'bootstrap.json.new'), { recursive: true, mode: 0o700 })
        const { code, err } = await start({ LOG_LEVEL: 'off' })
        expect({ code, err }).toEqual({
          code: 1,
          err: expect.stringMatching(/^The panel could not start: EISDIR: .*bootstrap\.json\.new'\n$/),
        })
        expect(await readdir(join(directory, 'data'))).not.toContain('lock')
      },
    )

    it(
      'ends with 1 while its database takes connections and does not answer',
      { timeout: 60_000 },
      async () => {
        const silent = createServer((socket) => void sockets.push(socket))
        const sockets: Socket[] = []
        await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
        const { port } = silent.address() as AddressInfo
        const { code, err } = await start({
          DATABASE_URL: `postgres://owner:hush@127.0.0.1:${port}/panel`,
          DATABASE_WAIT_SECONDS: '0',
        })
        for (const socket of sockets) socket.destroy()
        silent.close()
        expect({ code, err }).toEqual({
          code: 1,
          err: 'The panel could not start: The database cannot be reached: timeout expired. Start PostgreSQL, or correct DATABASE_URL.\n',
        })
      },
    )

    /** Runs `npm start`'s process until it ends. */
    async function start(variables: Variables) {
      const { PATH = '', HOME = '' } = process.env
      const child = spawn(process.execPath, ['functions/all/start.js'], {
        env: { PATH, HOME, PORT: '0', DATA_DIR: join(directory, 'data'), ...variables },
      })
      const [[code], out, err] = await Promise.all([
        once(child, 'exit'),
        text(child.stdout),
        text(child.stderr),
      ])
      return { code, out, err }
    }
  })
})

describe('an environment', () => {
  it.each<[string, Variables]>([
    ['of a deployed panel', {}],
    ['with the keys by which an older one seals', { APP_KEYS: `k2:${material}, ${fit.APP_KEYS}` }],
    [
      'with stand-ins on loopback',
      { QSTASH_URL: 'http://127.0.0.1:8090', NEON_LOCAL_PROXY: 'localhost:4444' },
    ],
    [
      'of development',
      {
        ...development,
        APP_URL: 'http://localhost:8787',
        QSTASH_URL: 'http://localhost:8080',
        NEON_LOCAL_PROXY: 'neon:4444',
      },
    ],
    ['that switches the demo off', { DEMO: 'false' }],
    ['with a slash behind the host', { APP_URL: 'https://panel.test/' }],
  ])('%s is fit for every platform', (_what, change) => {
    for (const cloud of [null, 'workers', 'lambda'] as const) {
      expect(() => readEnv({ ...fit, ...change }, cloud)).not.toThrow()
    }
  })

  it('of the Node process may name nothing, or an address in the house', () => {
    expect(() => readEnv({})).not.toThrow()
    expect(() => readEnv({ APP_URL: 'http://192.168.1.5:8080' })).not.toThrow()
  })
})
