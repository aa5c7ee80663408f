import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { nodes, servers, transfers } from '../../src/db/schema.ts'
import type { Server } from '../../src/db/tables/servers.ts'
import { makeClientToken, makeNode, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { startStubDaemon, type StubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let daemon: StubDaemon
let other: StubDaemon
let owner: Awaited<ReturnType<typeof makeUser>>
let node: Awaited<ReturnType<typeof makeNode>>
let own: Server[]
let token: string

beforeAll(async () => {
  daemon = await startStubDaemon()
  other = await startStubDaemon()
})
afterAll(async () => {
  await daemon.close()
  await other.close()
})

beforeEach(async () => {
  owner = await makeUser(world)
  node = await makeNode(world, { daemonListen: daemon.port })
  own = [await makeServer(world, { owner, node }), await makeServer(world, { owner, node })]
  token = await makeClientToken(world, owner)
  for (const each of [daemon, other]) {
    each.calls.length = 0
    each.respond({ json: [] })
  }
  daemon.respond({ json: own.map(listed) })
})

const listed = ({ uuid }: Pick<Server, 'uuid'>, at = 0) => ({
  state: 'running',
  is_suspended: false,
  utilization: { memory_bytes: 1000 + at, cpu_absolute: 1.5, network: { rx_bytes: 7 } },
  configuration: { uuid, meta: { name: 'x' } },
})
const path = '/api/client/servers/resources'
const ask = (wanted: string[], as = token) =>
  world.request('GET', `${path}?servers=${wanted.join(',')}`, { token: as })
const uuidsOf = ({ body }: { body: any }) => body.data.map(({ attributes }: any) => attributes.server)
const one = (server: Server) =>
  world.request('GET', `/api/client/servers/${server.uuid}/resources`, { token })
const callsOf = ({ calls }: StubDaemon) => calls.map((call) => `${call.method} ${call.path}`)

describe('the resource use of several servers', () => {
  it('is what the daemon says of each, by one call', async () => {
    const [first, second] = own as [Server, Server]
    const { status, body } = await ask([second.uuid, first.uuidShort])
    expect(status).toBe(200)
    expect(body).toEqual({
      object: 'list',
      data: [first, second].map(({ uuid }, at) => ({
        object: 'stats',
        attributes: {
          server: uuid,
          current_state: 'running',
          is_suspended: false,
          resources: {
            memory_bytes: 1000 + at,
            cpu_absolute: 1.5,
            disk_bytes: 0,
            network_rx_bytes: 7,
            network_tx_bytes: 0,
            uptime: 0,
          },
        },
      })),
      meta: { unavailable: [] },
    })
    expect(callsOf(daemon)).toEqual(['GET /api/servers'])
  })

  it('is that of the servers that the caller has access to', async () => {
    const far = await makeServer(world, { node: await makeNode(world, { daemonListen: other.port }) })
    other.respond({ json: [listed(far)] })
    const names = [...own.map(({ uuid }) => uuid), far.uuidShort, crypto.randomUUID(), 'resources', 'x', '']
    expect(uuidsOf(await ask(names))).toEqual(own.map(({ uuid }) => uuid))
    expect(other.calls).toEqual([])
    const friend = await makeUser(world)
    await makeSubuser(world, far, friend, [])
    expect(uuidsOf(await ask(names, await makeClientToken(world, friend)))).toEqual([far.uuid])
    const admin = await makeClientToken(world, await makeUser(world, { rootAdmin: true }))
    expect(uuidsOf(await ask(names, admin))).toEqual([...own, far].map(({ uuid }) => uuid))
    const otherUser = await makeClientToken(world, await makeUser(world))
    expect((await ask(names, otherUser)).body).toMatchObject({ data: [], meta: { unavailable: [] } })
  })

  it('is asked for once in twenty seconds, together with that of single servers', async () => {
    const [first, second] = own as [Server, Server]
    daemon.respond(({ path: requested }) =>
      requested === '/api/servers' ? { json: own.map(listed) } : { json: listed(first) },
    )
    await one(first)
    expect(uuidsOf(await ask([first.uuid]))).toEqual([first.uuid])
    expect(callsOf(daemon)).toEqual([`GET /api/servers/${first.uuid}`])
    await ask(own.map(({ uuid }) => uuid))
    await one(second)
    world.clock.advance(15)
    await ask(own.map(({ uuid }) => uuid))
    expect(callsOf(daemon)).toHaveLength(2)
    world.clock.advance(21)
    await ask(own.map(({ uuid }) => uuid))
    expect(callsOf(daemon)).toHaveLength(3)
  })

  it('is asked for once however many ask at the same time', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask([own[0]?.uuid ?? ''])))
    expect(answers.map(uuidsOf)).toEqual(Array(10).fill([own[0]?.uuid]))
    expect(daemon.calls).toHaveLength(1)
  })

  it('is kept for a second while a server is on its way', async () => {
    daemon.respond({ json: own.map((server) => ({ ...listed(server), state: 'starting' })) })
    await ask([own[0]?.uuid ?? ''])
    world.clock.advance(2)
    await ask([own[0]?.uuid ?? ''])
    expect(daemon.calls).toHaveLength(2)
  })

  it('is partial while a node is away, and says so', async () => {
    const far = await makeServer(world, {
      owner,
      node: await makeNode(world, { daemonListen: other.port }),
    })
    const names = [...own, far].map(({ uuid }) => uuid)
    for (const answer of [
      { status: 500, json: { error: 'broken' } },
      { text: '<html>' },
      { json: { servers: [] } },
      { json: [null, 7, 'x', {}, { configuration: null }, { configuration: { uuid: 7 } }] },
      { json: null },
    ]) {
      other.respond(answer)
      const { status, body } = await ask(names)
      expect(status).toBe(200)
      expect(uuidsOf({ body })).toEqual(own.map(({ uuid }) => uuid))
      expect(body.meta).toEqual({ unavailable: [far.uuid] })
    }
    other.respond({ json: [listed(far)] })
    expect(uuidsOf(await ask(names))).toEqual(names)
  })

  it('is shown of suspended servers, and of none whose state is in the way', async () => {
    const [first, second] = own as [Server, Server]
    const set = (status: Server['status']) =>
      world.database.db.update(servers).set({ status }).where(eq(servers.id, first.id))
    await set('suspended')
    expect((await ask([first.uuid])).body.data[0].attributes).toMatchObject({ is_suspended: true })
    const admin = await makeClientToken(world, await makeUser(world, { rootAdmin: true }))
    for (const status of ['installing', 'install_failed', 'restoring_backup'] as const) {
      await set(status)
      for (const as of [token, admin]) {
        const { body } = await ask([first.uuid, second.uuid], as)
        expect([uuidsOf({ body }), body.meta.unavailable]).toEqual([[second.uuid], [first.uuid]])
      }
    }
    await set(null)
    await world.database.db.insert(transfers).values({
      serverId: first.id,
      oldNodeId: node.id,
      newNodeId: node.id,
      oldAllocationId: 1,
      newAllocationId: 2,
    })
    expect((await ask([first.uuid])).body.meta.unavailable).toEqual([first.uuid])
    await world.database.db.update(nodes).set({ maintenanceMode: true })
    expect((await ask([second.uuid])).body.meta.unavailable).toEqual([second.uuid])
  })

  it('costs one statement beside that of the credential, and one for the players of what runs', async () => {
    const show = () => world.countStatements(() => ask(own.map(({ uuid }) => uuid)))
    expect(await show()).toBe(3)
    daemon.respond({ json: own.map((server) => ({ ...listed(server), state: 'offline' })) })
    world.clock.advance(21)
    expect(await show()).toBe(2)
  })

  it('is had without the cache too', async () => {
    const away = async (): Promise<never> => {
      throw new Error('The cache is away.')
    }
    const cache = { get: away, set: away, add: away, remove: away, hit: away, ping: away }
    Object.assign(world.services, { cache })
    expect(uuidsOf(await ask([own[0]?.uuid ?? '']))).toEqual([own[0]?.uuid])
  })

  it('is asked for by one to a hundred names', async () => {
    for (const [query, field, rule] of [
      ['', 'servers', 'required'],
      ['?servers=', 'servers', 'required'],
      ['?servers[a]=b', 'servers', 'array'],
      [`?servers=${Array.from({ length: 101 }, () => 'x').join()}`, 'servers', 'max'],
      [`?servers=${'x'.repeat(37)}`, 'servers.0', 'max'],
    ]) {
      const { status, body } = await world.request('GET', `${path}${query}`, { token })
      expect([status, body.errors[0].meta]).toMatchObject([422, { source_field: field, rule }])
    }
    const many = `?servers[]=${own[0]?.uuidShort}&servers[]=${own[1]?.uuid}`
    expect(uuidsOf(await world.request('GET', `${path}${many}`, { token }))).toHaveLength(2)
    const full = [...Array.from({ length: 99 }, () => crypto.randomUUID()), own[0]?.uuid ?? '']
    expect(uuidsOf(await ask(full))).toEqual([own[0]?.uuid])
    expect((await world.request('GET', `${path}?servers=x`)).status).toBe(401)
  })
})
