import { eq } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { activity, allocations, jobs, nodes, servers } from '../../src/db/schema.ts'
import {
  makeAllocation,
  makeApplicationToken,
  makeClientToken,
  makeEgg,
  makeNode,
  makeServer,
  makeUser,
} from '../support/factories.ts'
import { startStubDaemon, type StubDaemon, useStubDaemon } from '../support/stub-daemon.ts'
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
const create = (changes: object = {}) =>
  world.request('POST', path, { token, body: { ...input(), ...changes } })
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
describe('creating a server on a node that takes the call and hangs', () => {
  beforeEach(() => {
    Object.assign(world.services, { config: { ...world.services.config, creationWaitMs: 100 } })
    daemon.respond({ hang: true })
  })
  const statusNow = async () => (await world.database.db.select().from(servers))[0]?.status
  const runLater = async (answer: Parameters<typeof daemon.respond>[0]) => {
    daemon.calls.length = 0
    daemon.respond(answer)
    world.clock.advance(61)
    await world.runJobs()
  }
  const unknown = { status: 404, json: { error: 'unknown' } }

  it('waits three seconds, which leaves one for the rest of the answer', async () => {
    Object.assign(world.services, { config: { ...world.services.config, creationWaitMs: undefined } })
    daemon.respond(null)
    const timeouts = vi.spyOn(AbortSignal, 'timeout')
    expect((await create()).status).toBe(201)
    // The database's driver may have a longer one.
    const [shortest = 0] = timeouts.mock.calls.flat().toSorted((a, b) => a - b)
    expect(shortest).toBeGreaterThan(0)
    expect(shortest).toBeLessThanOrEqual(3000)
    timeouts.mockRestore()
  })

  it('answers 201 with the server in `installing`, which keeps its allocation', async () => {
    const { status, body } = await create()
    expect([status, body.attributes.status]).toEqual([201, 'installing'])
    expect((await world.database.db.select().from(allocations))[0]?.serverId).toBe(body.attributes.id)
    expect(daemon.calls).toHaveLength(1)
  })

  it('has a job finish it, which the activity of the server tells', async () => {
    const { body } = await create()
    await runLater(({ method }) => (method === 'GET' ? unknown : null))
    expect(daemon.calls.map(({ method, path: called }) => `${method} ${called}`)).toEqual([
      `GET /api/servers/${body.attributes.uuid}`,
      'POST /api/servers',
    ])
    expect(await statusNow()).toBe('installing')
    expect(await world.events()).toEqual(['admin:server.create', 'server:installation.dispatch'])
    const report = { successful: true, reinstall: false }
    const install = `/api/remote/servers/${body.attributes.uuid}/install`
    await world.request('POST', install, { token: node.token, body: report })
    await world.runJobs()
    expect(await statusNow()).toBeNull()
    expect((await world.mails()).map(({ to }) => to)).toEqual([owner.email])
  })

  it('has a job find that the node took it after all, and not create it twice', async () => {
    await create()
    await runLater(null)
    expect(daemon.calls.map(({ method }) => method)).toEqual(['GET'])
    expect(await statusNow()).toBe('installing')
  })

  it('has a job end it when the node refuses for good: the owner and the activity are told why', async () => {
    await create()
    const refusal = { status: 422, json: { error: 'The disk is full.' } }
    await runLater(({ method }) => (method === 'GET' ? unknown : refusal))
    expect(await statusNow()).toBe('install_failed')
    const [, entry] = await world.database.db.select().from(activity).orderBy(activity.id)
    expect(entry).toMatchObject({
      event: 'server:installation.abandon',
      properties: { reason: 'The disk is full.' },
    })
    await world.runJobs()
    const [mail] = await world.mails()
    expect(mail).toMatchObject({ to: owner.email, subject: expect.stringContaining('failed') })
    expect(mail?.text).toContain('Skyblock')
    world.clock.advance(7 * 3600)
    daemon.calls.length = 0
    await world.runJobs()
    expect(daemon.calls).toEqual([])
    expect(await world.events()).toEqual(['admin:server.create', 'server:installation.abandon'])
  })

  it('has a job try again while the node gives no answer, and end it after six hours', async () => {
    await create()
    daemon.respond({ drop: true })
    for (let hours = 0; hours < 6; hours += 1) {
      expect(await statusNow()).toBe('installing')
      world.clock.advance(3600)
      await world.runJobs()
    }
    expect(await statusNow()).toBe('install_failed')
    expect(await world.events()).toEqual(['admin:server.create', 'server:installation.abandon'])
    const waiting = (await world.database.db.select().from(jobs)).filter(({ state }) => state === 'waiting')
    expect(waiting.map(({ name }) => name)).toEqual(['send-mail'])
    await world.runJobs()
    expect((await world.mails()).map(({ to }) => to)).toEqual([owner.email])
  })
})

const deploy = () => ({
  allocation: null,
  deploy: { locations: [node.locationId], dedicated_ip: false, port_range: [] },
})

describe('deploying a server with several nodes', () => {
  let other: Awaited<ReturnType<typeof makeNode>>
  let otherDaemon: StubDaemon
  beforeEach(async () => {
    otherDaemon = await startStubDaemon()
    other = await makeNode(world, { daemonListen: otherDaemon.port, locationId: node.locationId })
    for (let count = 0; count < 40; count += 1) {
      await makeAllocation(world, node)
      await makeAllocation(world, other)
    }
  })
  afterEach(() => otherDaemon.close())

  let deployed = 0
  const deployOne = () => create({ ...deploy(), external_id: `many-${(deployed += 1)}` })
  /** Deploys until the node in question was asked: nodes are tried in random order. */
  const deployUntil = async (isOver: () => boolean) => {
    const answers = []
    while (!isOver() && answers.length < 39) answers.push(await deployOne())
    expect(isOver()).toBe(true)
    return answers
  }
  const isSilent = () => world.services.circuitBreakers.get(other.uuid)?.silentAt !== null

  it('tries the next one when one refuses', async () => {
    otherDaemon.respond({ status: 500, json: { error: 'The disk is full.' } })
    const answers = await deployUntil(() => otherDaemon.calls.length > 0)
    for (const { status, body } of answers) expect([status, body.attributes.node]).toEqual([201, node.id])
    expect(await world.database.db.select().from(servers)).toHaveLength(answers.length)
    const [refusing] = await world.database.db.select().from(nodes).where(eq(nodes.id, other.id))
    expect(refusing).toMatchObject({ usedMemory: 0, usedDisk: 0 })
  })

  it('tries the next one when one cannot be connected to, and passes over that one afterwards', async () => {
    await world.database.db.update(nodes).set({ daemonListen: 1 }).where(eq(nodes.id, other.id))
    world.services.circuitBreakers.set(other.uuid, { ...closed })
    for (const { status, body } of await deployUntil(isSilent)) {
      expect([status, body.attributes.node]).toEqual([201, node.id])
    }
    await world.database.db
      .update(nodes)
      .set({ daemonListen: otherDaemon.port })
      .where(eq(nodes.id, other.id))
    for (let count = 0; count < 10; count += 1) expect((await deployOne()).body.attributes.node).toBe(node.id)
    expect(otherDaemon.calls).toEqual([])
  })

  const closed = { answeredAt: 0, openUntil: 0, cooldownMs: 0, silentAt: null as number | null }
  it.each([
    ['whose circuit is open', () => ({ openUntil: world.clock.now.getTime() + 20_000 })],
    ['that did not answer in the last minutes', () => ({ silentAt: world.clock.now.getTime() - 240_000 })],
  ])('passes over a node %s, until it is the only one', async (_what, state) => {
    world.services.circuitBreakers.set(other.uuid, { ...closed, ...state() })
    for (let count = 0; count < 12; count += 1) expect((await deployOne()).body.attributes.node).toBe(node.id)
    expect(otherDaemon.calls).toEqual([])
    await world.database.db.update(nodes).set({ public: false }).where(eq(nodes.id, node.id))
    const last = await deployOne()
    expect([201, 503]).toContain(last.status)
    world.clock.advance(301)
    expect((await deployOne()).body.attributes.node).toBe(other.id)
  })

  it('does not pass over it any more once it has answered', async () => {
    world.services.circuitBreakers.set(other.uuid, { ...closed, silentAt: world.clock.now.getTime() })
    const server = await makeServer(world, { owner, node: other })
    const owners = await makeClientToken(world, owner)
    await world.request('GET', `/api/client/servers/${server.uuid}/resources`, { token: owners })
    otherDaemon.calls.length = 0
    await deployUntil(() => otherDaemon.calls.length > 0)
  })

  it('keeps the server on the one that hangs', async () => {
    Object.assign(world.services, { config: { ...world.services.config, creationWaitMs: 100 } })
    otherDaemon.respond({ hang: true })
    const answers = await deployUntil(() => otherDaemon.calls.length > 0)
    const last = answers.at(-1)
    expect([last?.status, last?.body.attributes.node, last?.body.attributes.status]).toEqual([
      201,
      other.id,
      'installing',
    ])
    // From then on others are chosen.
    for (let count = 0; count < 6; count += 1) expect((await deployOne()).body.attributes.node).toBe(node.id)
  })

  it('refuses with the failure of a node when all refuse', async () => {
    const refusal = { status: 500, json: { error: 'no' } }
    daemon.respond(refusal)
    otherDaemon.respond(refusal)
    const { status, body } = await deployOne()
    expect([status, body.errors[0].code]).toEqual([500, 'DaemonConnectionException'])
    expect([daemon.calls.length, otherDaemon.calls.length]).toEqual([1, 1])
    expect(await world.database.db.select().from(servers)).toEqual([])
  })
})
