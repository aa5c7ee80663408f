import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { jobHandlers } from '../../src/domain/jobs/handlers.ts'
import { enqueueJob } from '../../src/domain/jobs/enqueue.ts'
import { runJob } from '../../src/domain/jobs/run.ts'
import { jobs } from '../../src/db/schema.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import { createMetrics } from '../../src/metrics.ts'
import { metricsText } from '../../src/metrics-text.ts'
import type { Panel } from '../../src/panel.ts'
import { version } from '../../src/version.ts'
import { signMessage } from '../../src/dev/qstash/signature.ts'
import {
  makeApplicationToken,
  makeClientToken,
  makeNode,
  makeServer,
  makeUser,
} from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { metricsToken, panelUrl, signingKeys, useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()

/** The panel as the system, with the services of this test. */
const system = (): Panel => ({ ...world.panel, cache: world.services.cache, metrics: world.services.metrics })

const health = () => world.request('GET', '/health')
const metrics = async () => (await world.request('GET', '/metrics', { token: metricsToken })).text

/** Runs `work` while a part of the panel is another one. */
async function withPart(part: object, work: () => Promise<void>): Promise<void> {
  const before = { ...world.services }
  Object.assign(world.services, part)
  await work()
  Object.assign(world.services, before)
}

const away = () => Promise.reject(new Error('connect ECONNREFUSED 10.1.2.3:6379 with s3cret'))

describe('GET /health', () => {
  it('shows every part, and for how long it was waited', async () => {
    await runTick(system())
    world.clock.advance(30)
    expect(await health()).toMatchObject({
      status: 200,
      body: {
        status: 'ok',
        version,
        parts: { database: 'ok', cache: 'ok', queue: 'ok', objects: 'ok', tick: 'ok', migrations: 'ok' },
        milliseconds: { database: expect.any(Number), queue: expect.any(Number) },
        tick_age_seconds: 30,
        pending_migrations: 0,
      },
    })
  })

  it('knows nothing of a tick before the first one, and misses it after three minutes', async () => {
    expect((await health()).body).toMatchObject({
      status: 'ok',
      parts: { tick: 'unknown' },
      tick_age_seconds: null,
    })
    await runTick(system())
    world.clock.advance(181)
    expect((await health()).body).toMatchObject({ status: 'degraded', parts: { tick: 'failed' } })
  })

  it('does not count a tick that failed', async () => {
    const failing = { ...system(), transaction: away, db: undefined as never }
    await expect(runTick(failing)).rejects.toThrow()
    expect((await health()).body.parts.tick).toBe('unknown')
  })

  it('serves on without the cache and the queue, and tells no address or secret', async () => {
    const { cache, queue } = world.services
    await withPart({ cache: { ...cache, get: away }, queue: { ...queue, ping: away } }, async () => {
      const { status, body, text } = await health()
      expect([status, body.status]).toEqual([200, 'degraded'])
      expect(body.parts).toMatchObject({ database: 'ok', cache: 'failed', queue: 'failed', tick: 'unknown' })
      expect(text).not.toMatch(/s3cret|10\.1\.2\.3/)
    })
  })

  it('is 503 without the database', async () => {
    const db = Object.create(world.services.db, { execute: { value: away } }) as object
    await withPart({ db }, async () => {
      const answer = await world.app.request(`${panelUrl}/health`)
      const body = (await answer.json()) as any
      expect([answer.status, body.status]).toEqual([503, 'down'])
      expect(body.parts).toMatchObject({ database: 'failed', migrations: 'unknown', queue: 'ok' })
    })
  })

  it('counts the migrations that the database lacks', async () => {
    const { db } = world.database
    const shown = async () => {
      world.clock.advance(11)
      const { status, body } = await health()
      return [status, body.parts.database, body.parts.migrations, body.pending_migrations]
    }
    const newest = sql`(select max(created_at) from migrations)`
    await db.execute(sql`update migrations set created_at = -created_at where created_at = ${newest}`)
    try {
      expect(await shown()).toEqual([200, 'ok', 'failed', 1])
    } finally {
      await db.execute(sql`update migrations set created_at = -created_at where created_at < 0`)
    }
    expect(await shown()).toEqual([200, 'ok', 'ok', 0])
  })

  it('checks the services once in ten seconds, for all callers', async () => {
    let pings = 0
    const ping = async () => void (pings += 1)
    await withPart({ queue: { ...world.services.queue, ping } }, async () => {
      await Promise.all(Array.from({ length: 20 }, health))
      await health()
      expect(pings).toBe(1)
      world.clock.advance(11)
      await health()
      expect(pings).toBe(2)
    })
  })
})

/** Returns the value of one line. */
const sumOf = (lines: string[], series: string) =>
  Number(lines.find((line) => line.startsWith(`${series} `))?.slice(series.length))

describe('GET /metrics', () => {
  it('is not there without a token of its own', async () => {
    await withPart({ config: { ...world.services.config, metricsToken: null } }, async () => {
      for (const token of [metricsToken, await makeApplicationToken(world), 'null', 'undefined']) {
        expect((await world.request('GET', '/metrics', { token })).status).toBe(404)
      }
      expect((await world.request('GET', '/metrics')).status).toBe(404)
    })
  })

  it('counts requests by surface, route and class of status, and how they took', async () => {
    const token = await makeClientToken(world, await makeUser(world))
    for (let count = 0; count < 3; count += 1) await world.request('GET', '/api/client/account', { token })
    await world.request('GET', '/api/client/account')
    const lines = (await metrics()).split('\n')
    const labels = 'surface="client",route="/api/client/account"'
    expect(lines).toContain('# TYPE roost_requests_total counter')
    expect(lines).toContain(`roost_requests_total{${labels},status="2xx"} 3`)
    expect(lines).toContain(`roost_requests_total{${labels},status="4xx"} 1`)
    expect(lines).toContain(`roost_request_duration_seconds_bucket{${labels},le="+Inf"} 4`)
    expect(lines).toContain(`roost_request_duration_seconds_count{${labels}} 4`)
    expect(lines).toContain('roost_request_statements_bucket{surface="client",le="0"} 1')
    expect(lines).toContain('roost_request_statements_bucket{surface="client",le="1"} 4')
    expect(lines).toContain('roost_request_statement_seconds_count{surface="client"} 4')
    expect(sumOf(lines, 'roost_request_statement_seconds_sum{surface="client"}')).toBeGreaterThan(0)
  })

  it('grows by no path, method or word of a caller', async () => {
    await metrics()
    const before = (await metrics()).split('\n').length
    for (let count = 0; count < 20; count += 1) {
      await world.request('GET', `/${crypto.randomUUID()}/x`)
      await world.app.request(`http://panel.test/x${count}`, { method: `M${count}` })
    }
    const once = (await metrics()).split('\n').length
    for (let count = 0; count < 20; count += 1) await world.request('GET', `/${crypto.randomUUID()}`)
    expect((await metrics()).split('\n').length).toBe(once)
    expect(once - before).toBeLessThan(40)
  })

  it('counts what became of jobs and ticks', async () => {
    const failing = { ...jobHandlers, prune: () => away() }
    await enqueueJob(world.panel, 'prune', {}, { lifetimeSeconds: 60 })
    const [job] = await world.database.db.select().from(jobs)
    await runJob(system(), job?.id ?? '', failing)
    world.clock.advance(120)
    await runJob(system(), job?.id ?? '', failing)
    await runTick(system())
    world.clock.advance(75)
    await runTick(system())
    const lines = (await metrics()).split('\n')
    expect(lines).toContain('roost_jobs_total{job="prune",outcome="postponed"} 1')
    expect(lines).toContain('roost_jobs_total{job="prune",outcome="dead"} 1')
    expect(sumOf(lines, 'roost_job_duration_seconds_count{job="prune"}')).toBeGreaterThan(0)
    expect(lines).toContain('roost_ticks_total{outcome="done"} 2')
    expect(lines).toContain('roost_tick_duration_seconds_count 2')
    expect(lines).toContain('roost_tick_lateness_seconds_sum 15')
  })

  it('counts what became of calls to daemons, and what failed by that', async () => {
    const user = await makeUser(world)
    const node = await makeNode(world, { daemonListen: daemon.port })
    const absent = await makeNode(world, { daemonListen: 1 })
    const token = await makeClientToken(world, user)
    const startOn = async (nodeId: number) => {
      const { uuid } = await makeServer(world, { ownerId: user.id, nodeId })
      await world.request('POST', `/api/client/servers/${uuid}/power`, { token, body: { signal: 'start' } })
    }
    await startOn(node.id)
    daemon.respond({ status: 500, json: { error: 'no' } })
    await startOn(node.id)
    await startOn(absent.id)
    const lines = (await metrics()).split('\n')
    for (const outcome of ['answered', 'refused', 'unanswered']) {
      expect(lines).toContain(`roost_daemon_calls_total{outcome="${outcome}"} 1`)
    }
    expect(lines).toContain('roost_daemon_call_duration_seconds_count 3')
    expect(lines).toContain('roost_failures_total{error="DaemonConnectionException"} 2')
    expect(lines).toContain('roost_events_total{event="server:power.start"} 1')
  })

  it('tells by which key the queue signs', async () => {
    const body = JSON.stringify({ job: crypto.randomUUID() })
    for (const key of [signingKeys.next, signingKeys.current, signingKeys.next]) {
      const signature = signMessage({ key, url: `${panelUrl}/jobs/run`, body, now: world.clock.now })
      await world.request('POST', '/jobs/run', { raw: body, headers: { 'upstash-signature': signature } })
    }
    const lines = (await metrics()).split('\n')
    expect(lines).toContain('roost_queue_messages_total{key="current"} 1')
    expect(lines).toContain('roost_queue_messages_total{key="next"} 2')
  })

  it('counts messages that are signed by other keys than ours, and logs them', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    const body = JSON.stringify({ job: crypto.randomUUID() })
    const url = `${panelUrl}/jobs/run`
    const signature = signMessage({ key: 'sig_of_another_panel', url, body, now: world.clock.now })
    const headers = { 'upstash-signature': signature }
    expect((await world.request('POST', '/jobs/run', { raw: body, headers })).status).toBe(401)
    expect((await world.request('POST', '/jobs/run', { raw: body })).status).toBe(401)
    const logged = warn.mock.calls
      .flat()
      .filter((line) => String(line).includes('matches neither signing key'))
    warn.mockRestore()
    expect(logged).toHaveLength(1)
    expect((await metrics()).split('\n')).toContain('roost_queue_messages_total{key="none"} 2')
  })
})

describe('metrics', () => {
  it('hold a thousand series each, and escape what labels say', () => {
    const counted = createMetrics()
    counted.count('roost_events_total', { event: 'a "b"\\\n' })
    for (let n = 0; n < 1200; n += 1) counted.count('roost_events_total', { event: `event-${n}` })
    const lines = metricsText(counted).split('\n')
    expect(lines).toContain('roost_events_total{event="a \\"b\\"\\\\\\n"} 1')
    expect(lines).toContain('roost_events_total{event="other"} 201')
    expect(lines.filter((line) => line.startsWith('roost_events_total{'))).toHaveLength(1001)
  })
})
