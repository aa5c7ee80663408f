import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { allocations, eggVariables, jobs, nodes, servers } from '../../src/db/schema.ts'
import {
  makeAllocation,
  makeApplicationToken,
  makeEgg,
  makeNode,
  makeServer,
  makeUser,
} from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let token: string
let node: Awaited<ReturnType<typeof makeNode>>
let egg: Awaited<ReturnType<typeof makeEgg>>
let owner: Awaited<ReturnType<typeof makeUser>>
let free: Awaited<ReturnType<typeof makeAllocation>>

beforeEach(async () => {
  token = await makeApplicationToken(world)
  node = await makeNode(world, { daemonListen: daemon.port })
  egg = await makeEgg(world)
  owner = await makeUser(world)
  free = await makeAllocation(world, node)
})

const path = '/api/application/servers'
const create = (changes: object = {}, query = '') =>
  world.request('POST', `${path}${query}`, { token, body: { ...input(), ...changes } })
const input = () => ({
  external_id: 'bill-1',
  name: 'Skyblock',
  user: owner.id,
  egg: egg.id,
  docker_image: 'node:24-alpine',
  startup: 'node server.mjs',
  environment: { MOTD: 'Hi' },
  limits: { memory: '512', swap: 0, disk: 1024, io: 500, cpu: 100 },
  feature_limits: { databases: null, backups: 2 },
  allocation: { default: free.id },
})
const rule = (answer: { body: any }) =>
  answer.body.errors.map((error: any) => [error.meta?.source_field, error.meta?.rule])
const nodeRow = async () => (await world.database.db.select().from(nodes).where(eq(nodes.id, node.id)))[0]

describe('creating a server', () => {
  it('answers with an installing server and has told the daemon', async () => {
    const { status, body } = await create({}, '?include=allocations,variables')
    expect(status).toBe(201)
    expect(body.meta).toBeUndefined()
    expect(body.attributes).toMatchObject({
      external_id: 'bill-1',
      description: '',
      status: 'installing',
      suspended: false,
      limits: { memory: 512, swap: 0, disk: 1024, io: 500, cpu: 100, threads: null, oom_disabled: true },
      feature_limits: { databases: 0, allocations: 0, backups: 2 },
      user: owner.id,
      node: node.id,
      allocation: free.id,
      nest: egg.nestId,
      egg: egg.id,
      container: { startup_command: 'node server.mjs', image: 'node:24-alpine', installed: 0 },
    })
    expect(body.attributes.container.environment).toMatchObject({
      MOTD: 'Hi',
      P_SERVER_UUID: body.attributes.uuid,
    })
    expect(body.attributes.relationships.allocations.data[0].attributes).toMatchObject({
      id: free.id,
      assigned: true,
    })
    expect(body.attributes.relationships.variables.data[0].attributes).toMatchObject({
      env_variable: 'MOTD',
      server_value: 'Hi',
    })
    expect(daemon.calls).toMatchObject([
      {
        method: 'POST',
        path: '/api/servers',
        headers: { authorization: `Bearer ${node.secret}` },
        body: { uuid: body.attributes.uuid, start_on_completion: false },
      },
    ])
    expect(await nodeRow()).toMatchObject({ usedMemory: 512, usedDisk: 1024 })
    world.clock.advance(600)
    expect(await world.runJobs()).toBe(0)
  })

  it('takes additional allocations of the same node only', async () => {
    const second = await makeAllocation(world, node)
    const elsewhere = await makeAllocation(world, await makeNode(world))
    const allocation = (additional: number[]) => ({ allocation: { default: free.id, additional } })
    expect(rule(await create(allocation([second.id, elsewhere.id])))).toEqual([
      ['allocation.additional.1', 'exists'],
    ])
    const { body } = await create(allocation([second.id]), '?include=allocations')
    expect(body.attributes.relationships.allocations.data.map((item: any) => item.attributes.id)).toEqual([
      free.id,
      second.id,
    ])
  })

  it('names every field that is wrong, and changes nothing', async () => {
    const { status, body } = await world.request('POST', path, {
      token,
      body: {
        name: 'x'.repeat(192),
        egg: [1],
        docker_image: 'bad$image',
        environment: { MOTD: { a: 1 } },
        limits: { memory: -1, swap: -2, disk: 1, io: 5, cpu: 1.5, threads: '0-3;' },
        feature_limits: { backups: null },
      },
    })
    expect(status).toBe(422)
    expect(rule({ body })).toEqual(
      expect.arrayContaining([
        ['name', 'between'],
        ['user', 'required'],
        ['egg', 'integer'],
        ['docker_image', 'regex'],
        ['startup', 'required'],
        ['environment.MOTD', 'string'],
        ['limits.memory', 'min'],
        ['limits.swap', 'min'],
        ['limits.io', 'between'],
        ['limits.cpu', 'integer'],
        ['limits.threads', 'regex'],
        ['feature_limits.databases', 'present'],
      ]),
    )
    expect(await world.database.db.select().from(servers)).toEqual([])
    expect(daemon.calls).toEqual([])
  })

  it('refuses ids that do not exist or are taken', async () => {
    await makeServer(world, { node, externalId: 'bill-1' })
    const taken = (
      await world.database.db.select().from(allocations).where(eq(allocations.nodeId, node.id))
    ).find((row) => row.serverId)
    expect(
      rule(await create({ external_id: 'other', user: 999, egg: 999, allocation: { default: taken?.id } })),
    ).toEqual([
      ['user', 'exists'],
      ['egg', 'exists'],
      ['allocation.default', 'exists'],
    ])
    expect(rule(await create())).toEqual([['external_id', 'unique']])
    expect(rule(await create({ allocation: {} }))).toEqual([['allocation.default', 'required']])
  })

  it('holds the environment to the rules of the egg and drops what the egg does not know', async () => {
    expect(rule(await create({ environment: {} }))).toEqual([['environment.MOTD', 'required']])
    expect(rule(await create({ environment: { MOTD: 'x'.repeat(65) } }))).toEqual([
      ['environment.MOTD', 'max'],
    ])
    const { body } = await create({ environment: { MOTD: 7, SERVER_PORT: '1' } })
    expect(body.attributes.container.environment).toMatchObject({ MOTD: '7' })
    expect(body.attributes.container.environment).not.toHaveProperty('SERVER_PORT')
  })

  it('takes an empty list for an empty environment', async () => {
    await world.database.db.delete(eggVariables)
    expect((await create({ environment: [] })).status).toBe(201)
  })

  it('gives one of two racers the allocation and refuses the other', async () => {
    const answers = await Promise.all([create(), create({ external_id: null })])
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 422])
    expect(await world.database.db.select().from(servers)).toHaveLength(1)
    expect(await nodeRow()).toMatchObject({ usedMemory: 512 })
  })

  it.each([
    ['refuses', { status: 500, json: { error: 'broken' } }, 500],
    ['does not know the panel', { status: 403 }, 502],
  ])('leaves nothing behind when the daemon %s', async (_name, answer, status) => {
    daemon.respond(answer)
    const refused = await create()
    expect(refused).toMatchObject({ status, body: { errors: [{ code: 'DaemonConnectionException' }] } })
    expect(await world.database.db.select().from(servers)).toEqual([])
    expect((await world.database.db.select().from(allocations))[0]?.serverId).toBeNull()
    expect(await nodeRow()).toMatchObject({ usedMemory: 0, usedDisk: 0 })
  })

  it('answers 504 at once when no connection can be made, and has the node forget the server later', async () => {
    await world.database.db.update(nodes).set({ daemonListen: 1 }).where(eq(nodes.id, node.id))
    expect((await create()).status).toBe(504)
    expect(await world.database.db.select().from(servers)).toEqual([])
    await world.database.db.update(nodes).set({ daemonListen: daemon.port }).where(eq(nodes.id, node.id))
    world.clock.advance(10)
    await world.runJobs()
    expect(daemon.calls.map(({ method }) => method)).toEqual(['DELETE'])
  })

  it('is finished by a job when the process dies before the daemon was told', async () => {
    const { body } = await create()
    daemon.calls.length = 0
    // The state a crash between commit and call leaves: the job still waits.
    await world.database.db.update(jobs).set({ state: 'waiting', finishedAt: null })
    expect(await world.runJobs()).toBe(0)
    world.clock.advance(61)
    daemon.respond(({ method }) => (method === 'GET' ? { status: 404, json: { error: 'unknown' } } : null))
    expect(await world.runJobs()).toBe(1)
    expect(daemon.calls.map(({ method, path }) => `${method} ${path}`)).toEqual([
      `GET /api/servers/${body.attributes.uuid}`,
      'POST /api/servers',
    ])
  })
})

describe('deploying a server', () => {
  const deploy = (changes: object = {}) => ({
    allocation: null,
    deploy: { locations: [node.locationId], dedicated_ip: false, port_range: [], ...changes },
  })

  it('finds a node with room and a free allocation', async () => {
    const { status, body } = await create(deploy())
    expect(status).toBe(201)
    expect(body.attributes).toMatchObject({ node: node.id, allocation: free.id })
  })

  it('keeps to ports that were asked for', async () => {
    const wanted = await makeAllocation(world, node, { port: 25_570 })
    expect((await create(deploy({ port_range: ['25565-25570'] }))).body.attributes.allocation).toBe(wanted.id)
    expect(
      (await create({ ...deploy({ port_range: ['30000'] }), external_id: null })).body.errors[0].code,
    ).toBe('NoViableAllocationException')
    expect(rule(await create({ ...deploy({ port_range: ['all'] }), external_id: null }))).toEqual([
      ['deploy.port_range.0', 'regex'],
    ])
    expect(
      (await create({ ...deploy({ port_range: ['1-5000'] }), external_id: null })).body.errors[0].code,
    ).toBe('TooManyPortsInRangeException')
  })

  it('refuses when no node has room', async () => {
    const full = { ...input().limits, memory: node.memory + 1 }
    const { status, body } = await create({ ...deploy(), limits: full })
    expect(status).toBe(400)
    expect(body.errors[0].code).toBe('NoViableNodeException')
    await world.database.db.update(nodes).set({ memoryOverallocate: -1 }).where(eq(nodes.id, node.id))
    expect((await create({ ...deploy(), limits: full })).status).toBe(201)
  })

  it('passes over nodes that are private, in maintenance, or elsewhere', async () => {
    for (const change of [{ public: false }, { public: true, maintenanceMode: true }]) {
      await world.database.db.update(nodes).set(change).where(eq(nodes.id, node.id))
      expect((await create(deploy())).body.errors[0].code).toBe('NoViableNodeException')
    }
    await world.database.db.update(nodes).set({ maintenanceMode: false })
    expect((await create(deploy({ locations: [9999] }))).body.errors[0].code).toBe('NoViableNodeException')
  })

  it('gives an address to one server alone when it is to be dedicated, also under a race', async () => {
    await makeAllocation(world, node)
    const answers = await Promise.all(
      [1, 2].map((n) => create({ ...deploy({ dedicated_ip: true }), external_id: `d${n}` })),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400])
  })

  it('never gives away more than the node has, however many ask at once', async () => {
    await world.database.db.update(nodes).set({ memory: 1024 }).where(eq(nodes.id, node.id))
    for (let n = 0; n < 5; n += 1) await makeAllocation(world, node)
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map((n) => create({ ...deploy(), external_id: `r${n}` })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2)
    expect(await nodeRow()).toMatchObject({ usedMemory: 1024 })
  })
})
