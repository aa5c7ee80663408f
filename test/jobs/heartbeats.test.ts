import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  jobs,
  nodeHeartbeats,
  nodeSamples,
  serverSamples,
  serverStates,
  settings,
} from '../../src/db/schema.ts'
import { jobHandlers } from '../../src/domain/jobs/handlers.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import { prune } from '../../src/domain/jobs/prune.ts'
import { makeNode, makeServer } from '../support/factories.ts'
import { type DaemonAnswer, useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()

beforeEach(() => {
  world.clock.now = new Date('2026-03-01T12:10:00Z')
})

/** Shortens what a hanging node is waited for. */
const limitWait = () => Object.assign(world.services.config, { daemonTimeoutMs: 400 })

const db = () => world.database.db
const heartbeatOf = async (id: number) =>
  (await db().select().from(nodeHeartbeats).where(eq(nodeHeartbeats.id, id)))[0]
const check = (nodeIds: number[], latenessSeconds = 0) =>
  jobHandlers['check-nodes'](world.panel, { nodeIds }, { latenessSeconds } as never)

/** Describes a server as Wings lists it. */
const listed = (uuid: string, usage: object = {}, state = 'running') => ({
  state,
  is_suspended: false,
  configuration: { uuid },
  utilization: {
    memory_bytes: 1000,
    cpu_absolute: 12.5,
    disk_bytes: 2000,
    uptime: 90_000,
    network: { rx_bytes: 10, tx_bytes: 20 },
    ...usage,
  },
})

const answering = (list: unknown[]) =>
  daemon.respond(({ path }) => {
    if (path === '/api/system') return { json: { version: '1.12.0' } }
    return path === '/api/servers' ? { json: list } : null
  })

const upNode = () => makeNode(world, { daemonListen: daemon.port })

describe('a heartbeat', () => {
  it('stores the state, version, usage and clock of a node, and the states of its servers', async () => {
    const node = await upNode()
    const [one, other] = [await makeServer(world, { node }), await makeServer(world, { node })]
    answering([listed(one.uuid), listed(other.uuid, {}, 'offline')])
    await check([node.id])
    expect(daemon.calls.map(({ path }) => path)).toEqual(['/api/system', '/api/servers'])
    const realOffset = Math.round((Date.now() - world.clock.now.getTime()) / 1000)
    const beat = await heartbeatOf(node.id)
    expect(beat).toMatchObject({
      isUp: true,
      since: world.clock.now,
      lastUpAt: world.clock.now,
      version: '1.12.0',
      cause: null,
      cpu: 25,
      memoryBytes: 2000,
      diskBytes: 4000,
      servers: 2,
      runningServers: 1,
    })
    expect(Math.abs((beat?.clockOffset ?? 0) - realOffset)).toBeLessThanOrEqual(5)
    const states = await db().select().from(serverStates).orderBy(serverStates.id)
    expect(states.map(({ state }) => state)).toEqual(['running', 'offline'])
  })

  it('keeps since when a node is up, and records its ends', async () => {
    const node = await upNode()
    answering([])
    await check([node.id])
    const since = world.clock.now
    world.clock.advance(60)
    await check([node.id])
    expect(await heartbeatOf(node.id)).toMatchObject({ since, checkedAt: world.clock.now })
    daemon.respond({ status: 403, json: { error: 'You are not authorized to access this endpoint.' } })
    world.clock.advance(60)
    await check([node.id])
    expect(await heartbeatOf(node.id)).toMatchObject({
      isUp: false,
      since: world.clock.now,
      cause: 'credential',
      status: 403,
      version: '1.12.0',
      servers: null,
    })
    world.clock.advance(60)
    await check([node.id])
    expect(await world.events()).toEqual(['admin:node.up', 'admin:node.down'])
  })

  it.each<[string, DaemonAnswer, string]>([
    ['breaks off', { drop: true }, 'reset'],
    ['fails', { status: 500, json: { error: 'docker' } }, 'failed'],
    ['answers no JSON', { text: '<html>' }, 'answer'],
    ['hangs', { hang: true }, 'timeout'],
  ])('says why a node is down that %s', async (_how, answer, cause) => {
    if ('hang' in answer) limitWait()
    const node = await upNode()
    daemon.respond(answer)
    await check([node.id])
    expect(await heartbeatOf(node.id)).toMatchObject({ isUp: false, cause, lastUpAt: null })
    // A node that never answered has not gone down.
    expect(await world.events()).toEqual([])
  })

  it('says why nothing answers', async () => {
    const closed = await makeNode(world, { daemonListen: 1 })
    const nowhere = await makeNode(world, { fqdn: 'nowhere.invalid' })
    await check([closed.id, nowhere.id])
    expect(await heartbeatOf(closed.id)).toMatchObject({ cause: 'refused' })
    expect(await heartbeatOf(nowhere.id)).toMatchObject({ cause: 'dns' })
  })

  it('asks the others while a node hangs', async () => {
    limitWait()
    const hanging = await upNode()
    const up = await upNode()
    daemon.respond(({ path, headers }) =>
      headers.authorization === `Bearer ${hanging.secret}`
        ? { hang: true }
        : { json: path === '/api/system' ? { version: '1' } : [] },
    )
    await check([hanging.id, up.id])
    expect(await heartbeatOf(hanging.id)).toMatchObject({ isUp: false, cause: 'timeout' })
    expect(await heartbeatOf(up.id)).toMatchObject({ isUp: true })
  })

  it('RM-2: takes the states of the node’s own servers only, each once', async () => {
    const node = await upNode()
    const own = await makeServer(world, { node })
    const foreign = await makeServer(world)
    answering([
      listed(own.uuid, {}, 'offline'),
      listed(own.uuid, { memory_bytes: 5 }),
      listed(foreign.uuid),
      listed('not a uuid'),
      null,
      listed(own.uuid.toUpperCase(), {
        cpu_absolute: -3,
        memory_bytes: 1e300,
        disk_bytes: 'much',
        uptime: 1e300,
      }),
    ])
    await check([node.id])
    expect(await db().select().from(serverStates)).toMatchObject([{ id: own.id, state: 'running' }])
    expect(await db().select().from(serverSamples)).toMatchObject([
      { serverId: own.id, cpu: [0], diskBytes: [0] },
    ])
  })

  it('RM-6: keeps a short version without control characters', async () => {
    const node = await upNode()
    daemon.respond(({ path }) => ({
      json: path === '/api/system' ? { version: `1\0\n${'x'.repeat(99)}` } : [],
    }))
    await check([node.id])
    expect((await heartbeatOf(node.id))?.version).toBe(`1${'x'.repeat(63)}`)
  })

  it('is up with unknown servers when it lists more than the panel reads', async () => {
    const node = await upNode()
    daemon.respond(({ path }) =>
      path === '/api/system' ? { json: { version: '1' } } : { text: `["${'x'.repeat(9_000_000)}"]` },
    )
    await check([node.id])
    expect(await heartbeatOf(node.id)).toMatchObject({ isUp: true, servers: null, memoryBytes: null })
  })

  it('that comes late is left to the next one', async () => {
    const node = await upNode()
    await check([node.id], 91)
    expect(await heartbeatOf(node.id)).toBeUndefined()
    expect(daemon.calls).toEqual([])
  })

  it('of a deleted node is nothing', async () => {
    await check([4711])
    expect(await db().select().from(nodeHeartbeats)).toEqual([])
  })

  it('that is older than the stored one changes nothing', async () => {
    const node = await upNode()
    answering([])
    await check([node.id])
    const checkedAt = world.clock.now
    daemon.respond({ status: 500 })
    world.clock.advance(-30)
    await check([node.id])
    expect(await heartbeatOf(node.id)).toMatchObject({ isUp: true, checkedAt })
  })
})

describe('samples', () => {
  it('are one row an hour with a value each minute for nodes, each five minutes for servers', async () => {
    const node = await upNode()
    const server = await makeServer(world, { node })
    for (let minute = 10; minute <= 16; minute += 1) {
      answering([listed(server.uuid, { memory_bytes: minute })])
      await check([node.id])
      world.clock.advance(60)
    }
    expect(await db().select().from(nodeSamples)).toMatchObject([
      {
        nodeId: node.id,
        hour: new Date('2026-03-01T12:00:00Z'),
        minutes: [10, 11, 12, 13, 14, 15, 16],
        memoryBytes: [10, 11, 12, 13, 14, 15, 16],
        runningServers: [1, 1, 1, 1, 1, 1, 1],
      },
    ])
    expect(await db().select().from(serverSamples)).toMatchObject([
      { serverId: server.id, minutes: [10, 15], memoryBytes: [10, 15], states: [2, 2], uptimes: [90, 90] },
    ])
    world.clock.now = new Date('2026-03-01T13:00:10Z')
    await check([node.id])
    expect(await db().select().from(serverSamples)).toHaveLength(2)
  })

  it('of one minute are taken once, whatever runs twice', async () => {
    const node = await upNode()
    const server = await makeServer(world, { node })
    answering([listed(server.uuid)])
    await check([node.id])
    world.clock.advance(5)
    await check([node.id])
    expect(await db().select().from(nodeSamples)).toMatchObject([{ minutes: [10], cpu: [12.5] }])
    expect(await db().select().from(serverSamples)).toMatchObject([{ minutes: [10] }])
  })

  it('are not stored while metrics.history is off', async () => {
    const node = await upNode()
    const server = await makeServer(world, { node })
    await db().insert(settings).values({ key: 'metrics.history', value: false })
    answering([listed(server.uuid)])
    await check([node.id])
    expect(await db().select().from(nodeSamples)).toEqual([])
    expect(await db().select().from(serverSamples)).toEqual([])
    expect(await db().select().from(serverStates)).toHaveLength(1)
    expect(await heartbeatOf(node.id)).toMatchObject({ isUp: true })
  })

  it('are pruned after metrics.retention_days', async () => {
    const node = await upNode()
    const server = await makeServer(world, { node })
    await db().insert(settings).values({ key: 'metrics.retention_days', value: 2 })
    answering([listed(server.uuid)])
    await check([node.id])
    world.clock.advance(86_400)
    await prune(world.panel)
    expect(await db().select().from(serverSamples)).toHaveLength(1)
    world.clock.advance(2 * 86_400)
    await prune(world.panel)
    expect(await db().select().from(serverSamples)).toEqual([])
    expect(await db().select().from(nodeSamples)).toEqual([])
  })
})

describe('each minute', () => {
  it('a job asks a hundred nodes', async () => {
    for (let at = 0; at < 101; at += 1) await makeNode(world)
    await runTick(world.panel)
    const found = await db().select().from(jobs).where(eq(jobs.name, 'check-nodes')).orderBy(jobs.key)
    expect(found.map(({ payload }) => (payload.nodeIds as number[]).length)).toEqual([100, 1])
    // They were found by this tick, and the next one enqueues them again.
    expect(found.map(({ state }) => state)).toEqual(['done', 'done'])
    expect(await db().select().from(nodeHeartbeats)).toHaveLength(101)
    world.clock.advance(60)
    const report = await runTick(world.panel)
    expect(report.find(({ part }) => part === 'heartbeats')).toMatchObject({ count: 2 })
  })

  it('a hundred nodes with a thousand servers cost as many statements as one node', async () => {
    const node = await upNode()
    answering([])
    const cost = (ids: number[]) => world.countStatements(() => check(ids))
    // The nodes, and their heartbeats with samples, and two for the event.
    expect(await cost([node.id])).toBe(4)
    world.clock.advance(60)
    expect(await cost([node.id])).toBe(2)
    const ids = [node.id]
    const uuids: string[] = []
    for (let at = 1; at < 100; at += 1) ids.push((await upNode()).id)
    const template = await makeServer(world, { node })
    for (let at = 0; at < 30; at += 1)
      uuids.push((await makeServer(world, { node, eggId: template.eggId, ownerId: template.ownerId })).uuid)
    answering(Array.from({ length: 10 }, (_, at) => listed(uuids[at] ?? '')))
    world.clock.advance(60)
    expect(await cost(ids)).toBe(5)
    world.clock.advance(60)
    expect(await cost(ids)).toBe(3)
  })
})
