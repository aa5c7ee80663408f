import { beforeEach, describe, expect, it } from 'vitest'
import { nodes } from '../../src/db/schema.ts'
import { jobHandlers } from '../../src/domain/jobs/handlers.ts'
import {
  makeAllocation,
  makeApplicationToken,
  makeLocation,
  makeNode,
  makeServer,
} from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let token: string

beforeEach(async () => {
  world.clock.now = new Date('2026-03-01T12:00:00Z')
  token = await makeApplicationToken(world)
})

const get = (path: string) => world.request('GET', `/api/application${path}`, { token })
const upNode = (values = {}) => makeNode(world, { daemonListen: daemon.port, ...values })

/** Answers as a daemon with these servers, and lets the node be asked. */
async function beat(node: { id: number }, servers: { uuid: string; state?: string; utilization: object }[]) {
  daemon.respond(({ path }) => ({
    json:
      path === '/api/system'
        ? { version: '1.12.0' }
        : servers.map(({ uuid, ...server }) => ({ state: 'running', configuration: { uuid }, ...server })),
  }))
  await jobHandlers['check-nodes'](world.panel, { nodeIds: [node.id] }, { latenessSeconds: 0 } as never)
}

const usage = (memory: number, rx: number, uptime = 60_000) => ({
  memory_bytes: memory,
  cpu_absolute: memory / 10,
  disk_bytes: 7,
  network: { rx_bytes: rx, tx_bytes: 0 },
  uptime,
})

describe('the heartbeat of a node', () => {
  it('is unknown before the first one, and needs nothing of the node', async () => {
    const node = await makeNode(world)
    const { status, body } = await get(`/nodes/${node.id}/heartbeat`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'node_heartbeat',
      attributes: { node_id: node.id, state: 'unknown', since: null, usage: null },
    })
    expect((await get('/nodes/4711/heartbeat')).status).toBe(404)
  })

  it('is shown alone and with the nodes of a list', async () => {
    const node = await upNode()
    const other = await makeNode(world)
    const server = await makeServer(world, { node })
    await beat(node, [{ uuid: server.uuid, utilization: usage(100, 5) }])
    const { body } = await get(`/nodes/${node.id}/heartbeat`)
    expect(body.attributes).toMatchObject({
      state: 'up',
      since: '2026-03-01T12:00:00+00:00',
      version: '1.12.0',
      cause: null,
      usage: { cpu_absolute: 10, memory_bytes: 100, disk_bytes: 7, servers: 1, running_servers: 1 },
    })
    const list = await get('/nodes?include=heartbeat')
    const heartbeats = list.body.data.map((item: any) => item.attributes.relationships.heartbeat)
    expect(heartbeats).toEqual([body, { object: 'null_resource', attributes: null }])
    expect(list.body.data[1].attributes.id).toBe(other.id)
  })

  it('says why a node is down', async () => {
    const node = await makeNode(world, { daemonListen: 1 })
    await beat(node, [])
    const { body } = await get(`/nodes/${node.id}/heartbeat`)
    expect(body.attributes).toMatchObject({ state: 'down', cause: 'refused', last_up_at: null, usage: null })
  })
})

describe('statistics', () => {
  it('show the usage of a node and of a server over an hour', async () => {
    const node = await upNode()
    const server = await makeServer(world, { node })
    for (const [minute, memory, rx] of [
      [0, 100, 1000],
      [5, 300, 7000],
      [10, 200, 4000],
    ] as const) {
      world.clock.now = new Date(Date.UTC(2026, 2, 1, 12, minute))
      await beat(node, [{ uuid: server.uuid, utilization: usage(memory, rx, minute === 10 ? 1000 : 60_000) }])
    }
    const { body } = await get(`/nodes/${node.id}/statistics?period=1h`)
    expect(body.attributes).toMatchObject({ period: '1h', step_seconds: 60 })
    expect(body.attributes.points).toEqual(
      [
        { at: '2026-03-01T12:00:00+00:00', memory: 100, rate: null },
        { at: '2026-03-01T12:05:00+00:00', memory: 300, rate: 20 },
        // The process began again, and so did its counter.
        { at: '2026-03-01T12:10:00+00:00', memory: 200, rate: null },
      ].map(({ at, memory, rate }) => ({
        at,
        cpu_absolute: memory / 10,
        max_cpu_absolute: memory / 10,
        memory_bytes: memory,
        max_memory_bytes: memory,
        disk_bytes: 7,
        network_rx_bytes_per_second: rate,
        network_tx_bytes_per_second: rate === null && at.includes('12:00') ? null : 0,
        running_servers: 1,
      })),
    )
    const ofServer = await get(`/servers/${server.id}/statistics?period=1h`)
    expect(
      ofServer.body.attributes.points.map((point: any) => [point.memory_bytes, point.running, point.starts]),
    ).toEqual([
      [100, 1, 0],
      [300, 1, 0],
      [200, 1, 1],
    ])
  })

  it('of a longer period are means of its steps, and gaps are left out', async () => {
    const node = await upNode()
    for (const [hour, memory] of [
      [0, 100],
      [1, 300],
      [9, 500],
    ] as const) {
      world.clock.now = new Date(Date.UTC(2026, 2, 1, hour, 30))
      const server = { uuid: crypto.randomUUID(), utilization: usage(memory, 0) }
      await beat(node, [server])
    }
    const { body } = await get(`/nodes/${node.id}/statistics?period=30d`)
    expect(
      body.attributes.points.map((point: any) => [point.at, point.memory_bytes, point.max_memory_bytes]),
    ).toEqual([
      ['2026-03-01T00:00:00+00:00', 200, 300],
      ['2026-03-01T08:00:00+00:00', 500, 500],
    ])
    const day = await get(`/nodes/${node.id}/statistics`)
    expect(day.body.attributes).toMatchObject({ period: '24h', step_seconds: 300 })
    expect(day.body.attributes.points).toHaveLength(3)
  })

  it('refuse an unknown period, and are empty without samples', async () => {
    const server = await makeServer(world)
    expect((await get(`/servers/${server.id}/statistics?period=1y`)).status).toBe(422)
    expect((await get(`/servers/${server.id}/statistics`)).body.attributes.points).toEqual([])
    expect((await get('/servers/4711/statistics')).status).toBe(404)
    expect((await get('/nodes/4711/statistics')).status).toBe(404)
  })
})

describe('the capacity of locations', () => {
  it('is what is there, promised, used and free', async () => {
    const location = await makeLocation(world, { short: 'here' })
    const empty = await makeLocation(world, { short: 'empty' })
    const node = await upNode({ locationId: location.id, memory: 1000, memoryOverallocate: 50, disk: 2000 })
    const server = await makeServer(world, { node, memory: 400, disk: 500 })
    await makeAllocation(world, node)
    await beat(node, [{ uuid: server.uuid, utilization: usage(3 * 1_048_576, 0) }])
    const { body } = await get('/locations/capacity')
    expect(body.data.map(({ attributes }: any) => attributes)).toEqual([
      {
        location_id: location.id,
        short: 'here',
        long: null,
        nodes: { total: 1, up: 1 },
        servers: { total: 1, running: 1 },
        memory: { total: 1000, limit: 1500, promised: 400, used: 3, free: 1100 },
        disk: { total: 2000, limit: 2000, promised: 500, used: 0, free: 1500 },
        allocations: { total: 2, used: 1, free: 1 },
      },
      expect.objectContaining({
        location_id: empty.id,
        nodes: { total: 0, up: 0 },
        memory: { total: 0, limit: 0, promised: 0, used: 0, free: 0 },
      }),
    ])
    await world.database.db.update(nodes).set({ memoryOverallocate: -1 })
    const unlimited = (await get('/locations/capacity')).body.data[0].attributes
    expect(unlimited.memory).toMatchObject({ limit: null, free: null })
  })
})
