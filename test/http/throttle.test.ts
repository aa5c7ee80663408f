import type { Context } from 'hono'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Panel } from '../../src/panel.ts'
import { localCache } from '../../src/platform/local/cache.ts'
import { throttle } from '../../src/http/throttle.ts'
import { useLogLines } from '../support/log-lines.ts'
import { ask, tinyApp } from './tiny-app.ts'

const start = new Date('2026-01-01T00:00:30.000Z')
let now = start
const clock = () => now
let panel: Pick<Panel, 'cache' | 'now'>

beforeEach(() => {
  now = start
  panel = { cache: localCache(() => now.getTime()), now: clock }
})

const wait = (seconds: number) => void (now = new Date(now.getTime() + seconds * 1000))

const header = (name: string) => (c: Context) => c.req.header(name) ?? null
const byHeader = (name: string, limit: number, seconds: number) =>
  throttle({ name, limit, seconds, key: header('x-user') })

const open = () =>
  tinyApp(panel)
    .get('/', byHeader('few', 2, 60), (c) => c.text('let through'))
    .get('/both', byHeader('many', 100, 60), byHeader('two', 2, 30), (c) => c.text('let through'))
    .get(
      '/configured',
      throttle({ name: 'configured', limit: () => 1, seconds: 60, key: () => 'all' }),
      (c) => c.text('let through'),
    )

const get = (app: ReturnType<typeof open>, path = '/', user: string | null = 'uma') =>
  ask(app, 'GET', path, { headers: user === null ? {} : { 'x-user': user } })

const limitHeaders = ({ headers }: { headers: Headers }) =>
  ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`))

describe('a throttle', () => {
  it('tells what is left', async () => {
    const app = open()
    expect(limitHeaders(await get(app))).toEqual(['2', '1', null])
    expect(limitHeaders(await get(app))).toEqual(['2', '0', null])
  })

  it('refuses what is too much, and says until when', async () => {
    const app = open()
    await get(app)
    wait(10)
    await get(app)
    const refused = await get(app)
    expect(refused).toMatchObject({ status: 429, body: { errors: [{ code: 'ThrottleRequestsException' }] } })
    const retryAfter = Number(refused.headers.get('retry-after'))
    expect(retryAfter).toBe(50)
    expect(limitHeaders(refused)).toEqual(['2', '0', String(now.getTime() / 1000 + retryAfter)])
    wait(retryAfter)
    expect(limitHeaders(await get(app))).toEqual(['2', '1', null])
  })

  it('counts each key for itself, and nothing without one', async () => {
    const app = open()
    for (const user of ['uma', 'uma', 'uwe', 'uwe']) expect((await get(app, '/', user)).status).toBe(200)
    expect((await get(app, '/', 'uma')).status).toBe(429)
    for (let hit = 0; hit < 5; hit += 1) {
      const answer = await get(app, '/', null)
      expect([answer.status, ...limitHeaders(answer)]).toEqual([200, null, null, null])
    }
  })

  it('counts each name for itself, and shows the one with the least left', async () => {
    const app = open()
    expect(limitHeaders(await get(app, '/both'))).toEqual(['2', '1', null])
    expect((await get(app)).status).toBe(200)
    await get(app, '/both')
    const refused = await get(app, '/both')
    expect([refused.status, refused.headers.get('x-ratelimit-limit')]).toEqual([429, '2'])
    wait(30)
    expect((await get(app, '/both')).status).toBe(200)
  })

  it('NW-3: lets a larger group through four times as often as one of it', async () => {
    const app = tinyApp(panel).get(
      '/',
      throttle({
        name: 'grouped',
        limit: 2,
        seconds: 60,
        key: header('x-user'),
        groupKey: header('x-group'),
      }),
      (c) => c.text('let through'),
    )
    const from = (user: string, group?: string) =>
      ask(app, 'GET', '/', { headers: { 'x-user': user, ...(group ? { 'x-group': group } : {}) } })
    for (let at = 0; at < 4; at += 1) {
      for (let hits = 0; hits < 2; hits += 1) expect((await from(`u${at}`, 'g')).status).toBe(200)
    }
    const refused = await from('u5', 'g')
    expect([refused.status, ...limitHeaders(refused).slice(0, 2)]).toEqual([429, '8', '0'])
    expect((await from('u5', 'h')).status).toBe(200)
    expect((await from('u6')).status).toBe(200)
    expect((await from('u0', 'h')).status).toBe(429)
  })

  it('takes its limit from the panel where it is configured', async () => {
    const app = open()
    expect((await get(app, '/configured')).status).toBe(200)
    expect((await get(app, '/configured')).status).toBe(429)
  })
})

describe('a throttle without its cache', () => {
  const logged = useLogLines()

  it('lets every request through and logs why, once a minute', async () => {
    const hit = () => Promise.reject(new Error('The cache is away.'))
    panel = { ...panel, cache: { ...panel.cache, hit } }
    const app = open()
    for (let count = 0; count < 5; count += 1) expect((await get(app)).status).toBe(200)
    expect(logged.lines()).toMatchObject([
      { level: 'warn', message: 'Requests are not counted.', throttle: 'few', cause: 'The cache is away.' },
    ])
  })
})
