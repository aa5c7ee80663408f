import { beforeEach, describe, expect, it } from 'vitest'
import { gameQueries, jobs, servers, serverSamples } from '../../src/db/schema.ts'
import { jobHandlers } from '../../src/domain/jobs/handlers.ts'
import { makeClientToken, makeNode, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'
import { makeEntry } from './activity-fixtures.ts'

const world = useWorld()
const daemon = useStubDaemon()
let node: Awaited<ReturnType<typeof makeNode>>
let server: Awaited<ReturnType<typeof makeServer>>
let token: string

beforeEach(async () => {
  world.clock.now = new Date('2026-03-01T12:00:00Z')
  const owner = await makeUser(world)
  node = await makeNode(world, { daemonListen: daemon.port })
  server = await makeServer(world, { owner, node })
  token = await makeClientToken(world, owner)
})

const read = (query = '?period=1h', as = token) =>
  world.request('GET', `/api/client/servers/${server.uuid}/statistics${query}`, { token: as })

type Report = { state?: string; uptime?: number; memory?: number; rx?: number }

/** Lets the node be asked at a minute of the hour, when it reports this of the server. */
async function sample(minute: number, { state = 'running', uptime = 0, memory = 100, rx = 0 }: Report) {
  world.clock.now = new Date(Date.UTC(2026, 2, 1, 12, minute))
  const utilization = {
    memory_bytes: memory,
    cpu_absolute: memory / 10,
    disk_bytes: 7,
    network: { rx_bytes: rx, tx_bytes: 0 },
    uptime: uptime * 1000,
  }
  daemon.respond(({ path }) => ({
    json:
      path === '/api/system'
        ? { version: '1.12.0' }
        : [{ state, configuration: { uuid: server.uuid }, utilization }],
  }))
  await jobHandlers['check-nodes'](world.panel, { nodeIds: [node.id] }, { latenessSeconds: 0 } as never)
}

const changesIn = ({ body }: Awaited<ReturnType<typeof read>>) =>
  body.attributes.changes.map(({ at, change }: { at: string; change: string }) => [at.slice(11, 19), change])

describe('the usage of a server over time', () => {
  it('is that of its samples, and leaves out what is unknown', async () => {
    await sample(0, { uptime: 60, memory: 100, rx: 1000 })
    await sample(5, { uptime: 360, memory: 300, rx: 7000 })
    await sample(20, { uptime: 1260, memory: 200, rx: 7000 })
    const { status, body } = await read()
    expect(status).toBe(200)
    expect(body.object).toBe('server_statistics')
    expect(body.attributes).toMatchObject({ period: '1h', step_seconds: 60, changes: [] })
    expect(body.attributes.points).toHaveLength(3)
    expect(body.attributes.points[1]).toEqual({
      at: '2026-03-01T12:05:00+00:00',
      cpu_absolute: 30,
      max_cpu_absolute: 30,
      memory_bytes: 300,
      max_memory_bytes: 300,
      disk_bytes: 7,
      network_rx_bytes_per_second: 20,
      network_tx_bytes_per_second: 0,
      running: 1,
      players: null,
      max_players: null,
    })
    expect((await read('')).body.attributes).toMatchObject({ period: '24h', step_seconds: 300 })
  })

  it('has the players of a game that was asked since the sample before', async () => {
    const answered = (checkedAt: string, players: number) =>
      world.database.db
        .insert(gameQueries)
        .values({ serverId: server.id, status: 'online', players, checkedAt: new Date(checkedAt) })
        .onConflictDoUpdate({
          target: gameQueries.serverId,
          set: { players, checkedAt: new Date(checkedAt) },
        })
    await sample(0, {})
    await answered('2026-03-01T12:04:00Z', 12)
    await sample(5, {})
    await sample(10, {})
    // As the previous version of the panel leaves them.
    await world.database.db.update(serverSamples).set({ players: null })
    await answered('2026-03-01T12:14:30Z', 3)
    await sample(15, {})
    await sample(20, {})
    const { body } = await read()
    expect(body.attributes.points.map((point: any) => [point.players, point.max_players])).toEqual([
      [null, null],
      [null, null],
      [null, null],
      [3, 3],
      [null, null],
    ])
    expect((await read('?period=7d')).body.attributes.points).toMatchObject([{ players: 3, max_players: 3 }])
  })

  it('lets a game that has answered be asked again while its server runs', async () => {
    const asked = async () =>
      (await world.database.db.select().from(jobs)).filter(({ name }) => name === 'query-game')
    await world.database.db.insert(gameQueries).values({
      serverId: server.id,
      status: 'online',
      players: 1,
      checkedAt: new Date('2026-03-01T11:50:00Z'),
    })
    await sample(0, { state: 'offline' })
    await sample(1, {})
    expect(await asked()).toEqual([])
    await sample(5, {})
    await sample(10, {})
    expect(await asked()).toMatchObject([{ payload: { serverId: server.id }, state: 'waiting' }])
    await world.database.db.delete(jobs)
    await world.database.db.update(gameQueries).set({ status: 'offline' })
    await sample(15, {})
    expect(await asked()).toEqual([])
  })

  it('never has more points than a chart shows', async () => {
    const hours = Array.from({ length: 24 }, (_, hour) => ({
      serverId: server.id,
      hour: new Date(Date.UTC(2026, 2, 1, hour - 12)),
      minutes: Array.from({ length: 60 }, (_, minute) => minute),
      ...Object.fromEntries(
        ['cpu', 'memoryBytes', 'diskBytes', 'networkRxBytes', 'networkTxBytes', 'states', 'uptimes'].map(
          (name) => [name, Array.from({ length: 60 }, () => 2)],
        ),
      ),
    }))
    await world.database.db.insert(serverSamples).values(hours as never)
    expect((await read('?period=24h')).body.attributes.points.length).toBeLessThanOrEqual(300)
    expect((await read('?period=1h')).body.attributes.points.length).toBeLessThanOrEqual(300)
  })

  it('is refused for unknown periods, other servers, and states that allow no action', async () => {
    const refused = await read('?period=1y')
    expect([refused.status, refused.body.errors[0].meta.source_field]).toEqual([422, 'period'])
    const otherToken = await makeClientToken(world, await makeUser(world))
    expect((await read('', otherToken)).status).toBe(404)
    const friend = await makeUser(world)
    await makeSubuser(world, server, friend, [])
    expect((await read('', await makeClientToken(world, friend))).status).toBe(200)
    await world.database.db.update(servers).set({ status: 'suspended' })
    expect((await read()).status).toBe(409)
  })
})

describe('what happened to the process', () => {
  it('is a restart or a stop where a user asked for it', async () => {
    await sample(0, { state: 'offline' })
    await sample(5, { uptime: 90 })
    await makeEntry(world, { event: 'server:power.restart', serverId: server.id, ago: -120 })
    await sample(10, { uptime: 60 })
    await makeEntry(world, {
      event: 'server:console.command',
      serverId: server.id,
      properties: { command: '/stop' },
      ago: -60,
    })
    await sample(15, { state: 'offline' })
    expect(changesIn(await read())).toEqual([
      ['12:03:30', 'start'],
      ['12:09:00', 'restart'],
      ['12:15:00', 'stop'],
    ])
  })

  it('is a crash where no user did', async () => {
    await sample(0, { uptime: 600 })
    await makeEntry(world, {
      event: 'server:console.command',
      serverId: server.id,
      properties: { command: 'stopwatch' },
      ago: -60,
    })
    await sample(5, { uptime: 30 })
    await sample(10, { state: 'offline' })
    expect(changesIn(await read())).toEqual([
      ['12:04:30', 'crash'],
      ['12:10:00', 'crash'],
    ])
  })

  it('is no crash where the process was stopping, or where the gap is long', async () => {
    await sample(0, { uptime: 600 })
    await sample(5, { state: 'stopping', uptime: 900 })
    await sample(10, { state: 'offline' })
    await sample(15, { uptime: 10 })
    world.clock.now = new Date('2026-03-01T14:00:00Z')
    await sample(150, { uptime: 60 })
    expect(changesIn(await read('?period=24h'))).toEqual([
      ['12:10:00', 'stop'],
      ['12:14:50', 'start'],
      ['14:29:00', 'restart'],
    ])
  })
})
