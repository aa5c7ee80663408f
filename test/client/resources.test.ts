import { beforeEach, describe, expect, it } from 'vitest'
import { servers } from '../../src/db/schema.ts'
import { makeClientToken, makeNode, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let node: Awaited<ReturnType<typeof makeNode>>
let server: Awaited<ReturnType<typeof makeServer>>
let token: string

beforeEach(async () => {
  const owner = await makeUser(world)
  node = await makeNode(world, { daemonListen: daemon.port })
  server = await makeServer(world, { owner, node })
  token = await makeClientToken(world, owner)
})

const ask = (as = token) =>
  world.request('GET', `/api/client/servers/${server.uuid}/resources`, { token: as })

const usage = {
  state: 'running',
  is_suspended: false,
  utilization: {
    memory_bytes: 2_411_724_800,
    memory_limit_bytes: 6_442_450_944,
    cpu_absolute: 37.215,
    disk_bytes: 8_123_514_880,
    network: { rx_bytes: 90_112, tx_bytes: 412_004 },
    uptime: 5_421_000,
    state: 'running',
  },
}

const nothing = {
  memory_bytes: 0,
  cpu_absolute: 0,
  disk_bytes: 0,
  network_rx_bytes: 0,
  network_tx_bytes: 0,
  uptime: 0,
}

describe('resource use', () => {
  it('is what the daemon says, asked for with the secret of the node', async () => {
    daemon.respond({ json: usage })
    const { body } = await ask()
    expect(body).toEqual({
      object: 'stats',
      attributes: {
        current_state: 'running',
        is_suspended: false,
        resources: {
          memory_bytes: 2_411_724_800,
          cpu_absolute: 37.215,
          disk_bytes: 8_123_514_880,
          network_rx_bytes: 90_112,
          network_tx_bytes: 412_004,
          uptime: 5_421_000,
        },
      },
    })
    expect(daemon.calls).toMatchObject([
      {
        method: 'GET',
        path: `/api/servers/${server.uuid}`,
        headers: { authorization: `Bearer ${node.secret}` },
      },
    ])
  })

  it('is nothing where the daemon leaves it out or talks nonsense', async () => {
    daemon.respond({ json: {} })
    expect((await ask()).body.attributes).toEqual({
      current_state: 'stopped',
      is_suspended: false,
      resources: nothing,
    })
    world.clock.advance(21)
    daemon.respond({ json: { state: 7, utilization: { memory_bytes: 'much', network: [] } } })
    expect((await ask()).body.attributes).toMatchObject({ current_state: 'stopped', resources: nothing })
    world.clock.advance(21)
    daemon.respond({ json: null })
    expect((await ask()).body.attributes).toMatchObject({ current_state: 'stopped', resources: nothing })
  })

  it('is fetched once in twenty seconds, for all callers', async () => {
    const friend = await makeUser(world)
    await makeSubuser(world, server, friend, [])
    const other = await makeClientToken(world, friend)
    await ask()
    world.clock.advance(19)
    expect((await ask(other)).status).toBe(200)
    expect(daemon.calls).toHaveLength(1)
    world.clock.advance(2)
    await ask()
    expect(daemon.calls).toHaveLength(2)
  })

  it('is asked for once however many ask at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask()))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
    expect(daemon.calls).toHaveLength(1)
  })

  it('of a suspended server is 409 with its state, as soon as it is suspended, for every caller', async () => {
    await ask()
    await world.database.db.update(servers).set({ status: 'suspended' })
    const admin = await makeClientToken(world, await makeUser(world, { rootAdmin: true }))
    for (const caller of [token, admin]) {
      const { status, body } = await ask(caller)
      expect([status, body.errors[0].code, body.errors[0].detail]).toEqual([
        409,
        'ServerStateConflictException',
        'The server is suspended.',
      ])
    }
    expect(daemon.calls).toHaveLength(1)
  })

  it('is a 504 whatever the daemon refuses with, and is asked for again', async () => {
    for (const status of [301, 401, 404, 500, 502]) {
      daemon.respond({ status, json: { error: 'no' } })
      const { status: answered, body } = await ask()
      expect([answered, body.errors[0].code]).toEqual([504, 'DaemonConnectionException'])
    }
    daemon.respond({ text: '<html>' })
    expect((await ask()).status).toBe(504)
    daemon.respond(null)
    expect((await ask()).status).toBe(200)
    expect(daemon.calls).toHaveLength(7)
  })

  it('is had without the cache too', async () => {
    const away = async (): Promise<never> => {
      throw new Error('The cache is away.')
    }
    const cache = { get: away, set: away, add: away, remove: away, hit: away, ping: away }
    Object.assign(world.services, { cache })
    expect((await ask()).status).toBe(200)
    expect((await ask()).status).toBe(200)
    expect(daemon.calls).toHaveLength(2)
  })
})
