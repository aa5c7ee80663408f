import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { serve as listen, type ServerType } from '@hono/node-server'
import { eq } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findSigningKey } from '../../src/adapters/queue-signature.ts'
import { qstashQueue } from '../../src/adapters/queue.ts'
import { jobs, scheduleRuns } from '../../src/db/schema.ts'
import { enqueueJob } from '../../src/domain/jobs/enqueue.ts'
import { inTransaction } from '../../src/panel.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import type { Panel } from '../../src/panel.ts'
import { randomFaults } from '../../src/dev/qstash/faults.ts'
import { type Qstash, type QstashOptions, startQstash } from '../../src/dev/qstash/server.ts'
import { openPanel } from '../../src/platform/open-panel.ts'
import { serve } from '../../src/platform/serve.ts'
import { jobs as jobsSurface } from '../../src/surfaces/jobs.ts'
import { makeClientToken, makeNode, makeServer, makeUser } from '../support/factories.ts'
import { startStubDaemon, type StubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let qstash: Qstash
let listener: ServerType
let daemon: StubDaemon
let panel: Panel
let settled: Promise<unknown>[]

beforeEach(async () => {
  daemon = await startStubDaemon()
  settled = []
})
afterEach(async () => {
  await qstash.close()
  await new Promise((resolve) => listener.close(resolve))
  await daemon.close()
})

/** Starts the jobs surface on a port of its own, and a panel that announces its jobs with QStash's protocol. */
async function open(options: QstashOptions): Promise<void> {
  qstash = await startQstash({ speed: 1_000_000, now: () => world.clock.now, ...options })
  let origin = ''
  const queue = () =>
    qstashQueue({
      token: qstash.token,
      baseUrl: qstash.url,
      origin,
      signingKeys: { ...qstash.keys },
      verifySignature: findSigningKey,
    })
  const services = () => ({ ...world.services, queue: queue() })
  const settle = (work: Promise<unknown>[]) => void settled.push(...work)
  const app = serve(
    {
      services: async () => services(),
      clientAddress: () => '192.0.2.1',
      waitUntil: (_c, work) => settle(work),
    },
    jobsSurface,
  )
  listener = listen({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 })
  if (!listener.listening) await once(listener, 'listening')
  origin = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
  const facts = { ip: '127.0.0.1', requestId: 'test', defer: (work: Promise<unknown>) => settle([work]) }
  panel = { ...openPanel(services(), facts), actor: { kind: 'system' } }
}

const rows = () => world.database.db.select().from(jobs).where(eq(jobs.name, 'sync-server'))

/** The calls of the jobs, without those of heartbeats. */
const syncs = () => daemon.calls.filter(({ path }) => path.endsWith('/sync'))

describe('a queue that loses, doubles, reorders and delays', () => {
  it('has every job done once: what it loses the tick finds', { timeout: 120_000 }, async () => {
    await open({
      faults: randomFaults(2031, { dropped: 0.05, duplicated: 0.2, reordered: 0.1, dayLate: 0.02 }),
    })
    const server = await makeServer(world, { node: await makeNode(world, { daemonListen: daemon.port }) })
    const [total, batch] = [1000, 250]
    for (let at = 0; at < total; at += batch) {
      // Jobs of one transaction are announced together.
      await inTransaction(panel, async (tx) => {
        for (let n = 0; n < batch; n += 1) await enqueueJob(tx, 'sync-server', { serverId: server.id })
      })
    }
    await Promise.all(settled.splice(0))
    expect(qstash.messages).toHaveLength(total)
    await qstash.settled()
    const after = await rows()
    const lost = after.filter(({ state }) => state === 'waiting')
    expect(lost.length).toBeGreaterThan(total * 0.02)
    expect(lost.length).toBeLessThan(total * 0.1)
    expect(qstash.attempts()).toBeGreaterThan(total)
    expect(daemon.calls).toHaveLength(total - lost.length)
    await runTick(world.panel)
    expect((await rows()).every(({ state, attempts }) => state === 'done' && attempts === 1)).toBe(true)
    expect(syncs()).toHaveLength(total)
    expect(qstash.deadLetters).toEqual([])
  })
})

describe('a queue that is away', () => {
  it('fails no request, and the tick does the work', async () => {
    await open({})
    const owner = await makeUser(world)
    const server = await makeServer(world, {
      owner,
      node: await makeNode(world, { daemonListen: daemon.port }),
    })
    const token = await makeClientToken(world, owner)
    const at = `/api/client/servers/${server.uuid}/schedules`
    const cron = { minute: '0', hour: '4', day_of_month: '*', day_of_week: '*' }
    await qstash.close()
    const { queue } = world.services
    const away = qstashQueue({
      token: qstash.token,
      baseUrl: qstash.url,
      origin: 'http://panel.test',
      signingKeys: qstash.keys,
      verifySignature: findSigningKey,
    })
    Object.assign(world.services, { queue: away })
    const made = await world.request('POST', at, { token, body: { name: 'x', is_active: true, ...cron } })
    const { id } = made.body.attributes
    const task = { action: 'command', payload: 'say hi', time_offset: 0 }
    expect((await world.request('POST', `${at}/${id}/tasks`, { token, body: task })).status).toBe(200)
    expect((await world.request('POST', `${at}/${id}/execute`, { token })).status).toBe(202)
    Object.assign(world.services, { queue })
    expect(daemon.calls).toEqual([])
    world.clock.advance(60)
    await runTick(world.panel)
    expect(daemon.calls.filter(({ method }) => method === 'POST')).toMatchObject([
      { method: 'POST', body: { commands: ['say hi'] } },
    ])
    expect(await world.database.db.select().from(scheduleRuns)).toMatchObject([{ state: 'succeeded' }])
  })
})

describe('what is due in a long time', () => {
  it('is not announced: the queue would not keep it, and the tick finds it', async () => {
    await open({})
    const inDays = (days: number) => new Date(world.clock.now.getTime() + days * 86_400_000)
    for (const days of [8, 6])
      await enqueueJob(panel, 'sync-server', { serverId: 1 }, { runAt: inDays(days) })
    await Promise.all(settled.splice(0))
    expect(qstash.messages.map(({ delay }) => delay)).toEqual([6 * 86_400])
  })
})
