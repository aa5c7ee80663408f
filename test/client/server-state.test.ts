import { beforeEach, describe, expect, it } from 'vitest'
import { nodeHeartbeats, nodes, servers, transfers } from '../../src/db/schema.ts'
import type { Server } from '../../src/db/tables/servers.ts'
import {
  makeApplicationToken,
  makeClientToken,
  makeNode,
  makeServer,
  makeSubuser,
  makeUser,
} from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let server: Awaited<ReturnType<typeof makeServer>>
let ownerToken: string
let adminToken: string

beforeEach(async () => {
  const owner = await makeUser(world)
  const node = await makeNode(world, { daemonListen: daemon.port })
  server = await makeServer(world, { owner, node })
  ownerToken = await makeClientToken(world, owner)
  adminToken = await makeClientToken(world, await makeUser(world, { rootAdmin: true }))
})

const routes = {
  show: ['GET', ''],
  websocket: ['GET', '/websocket'],
  resources: ['GET', '/resources'],
  power: ['POST', '/power', { signal: 'start' }],
  command: ['POST', '/command', { command: 'list' }],
} as const

/** Lists the routes that answer 409 to the caller. */
async function refusedTo(token: string): Promise<string[]> {
  const refused: string[] = []
  for (const [name, [method, path, body]] of Object.entries(routes)) {
    const at = `/api/client/servers/${server.uuid}${path}`
    const answer = await world.request(method, at, { token, ...(body ? { body } : {}) })
    if (answer.status !== 409) continue
    expect(answer.body.errors[0].code).toBe('ServerStateConflictException')
    refused.push(name)
  }
  return refused
}

const set = (status: Server['status']) => world.database.db.update(servers).set({ status })

const transferring = async () =>
  world.database.db.insert(transfers).values({
    serverId: server.id,
    oldNodeId: server.nodeId,
    newNodeId: server.nodeId,
    oldAllocationId: 1,
    newAllocationId: 1,
  })

describe('a server', () => {
  it('can be acted on while nothing is the matter, or only its reinstallation failed', async () => {
    expect(await refusedTo(ownerToken)).toEqual([])
    await set('reinstall_failed')
    expect(await refusedTo(ownerToken)).toEqual([])
  })

  it('cannot be acted on while it is suspended, and shows no resources', async () => {
    await set('suspended')
    const all = ['websocket', 'resources', 'power', 'command']
    expect(await refusedTo(ownerToken)).toEqual(all)
    expect(await refusedTo(adminToken)).toEqual(all)
  })

  it('cannot be acted on while its node is under maintenance', async () => {
    await world.database.db.update(nodes).set({ maintenanceMode: true })
    const all = ['websocket', 'resources', 'power', 'command']
    expect(await refusedTo(ownerToken)).toEqual(all)
    expect(await refusedTo(adminToken)).toEqual(all)
    await set('suspended')
    expect(await refusedTo(ownerToken)).toEqual(all)
  })

  it('can only be watched, and only by administrators, while it is installed, restored or moved', async () => {
    for (const status of ['installing', 'install_failed', 'restoring_backup'] as const) {
      await set(status)
      expect(await refusedTo(ownerToken)).toEqual(['websocket', 'resources', 'power', 'command'])
      expect(await refusedTo(adminToken)).toEqual(['resources', 'power', 'command'])
    }
    await set(null)
    await transferring()
    expect(await refusedTo(ownerToken)).toEqual(['websocket', 'resources', 'power', 'command'])
    expect(await refusedTo(adminToken)).toEqual(['resources', 'power', 'command'])
    expect(daemon.calls).toEqual([])
    await world.database.db.update(transfers).set({ successful: true })
    expect(await refusedTo(ownerToken)).toEqual([])
  })

  it('names the gravest of its conflicts', async () => {
    const reason = async () => {
      const path = `/api/client/servers/${server.uuid}/power`
      return (await world.request('POST', path, { token: ownerToken })).body.errors[0].detail
    }
    await transferring()
    expect(await reason()).toMatch(/transferred/)
    await set('restoring_backup')
    expect(await reason()).toMatch(/restored/)
    await set('install_failed')
    expect(await reason()).toMatch(/installed/)
    await world.database.db.update(nodes).set({ maintenanceMode: true })
    expect(await reason()).toMatch(/maintenance/)
    await set('suspended')
    expect(await reason()).toMatch(/suspended/)
  })

  it('says what blocks it, and since when, to everyone with access', async () => {
    const admin = await makeApplicationToken(world)
    const order = (verb: string) =>
      world.request('POST', `/api/application/servers/${server.id}/${verb}`, { token: admin })
    const show = async (token = ownerToken) =>
      (await world.request('GET', `/api/client/servers/${server.uuid}/conflict`, { token })).body.attributes
    const now = () => `${world.clock.now.toISOString().slice(0, 19)}+00:00`
    expect(await show()).toEqual({ conflict: null, since: null, node_down_since: null })

    await order('suspend')
    await order('unsuspend')
    world.clock.advance(60)
    const suspended = { conflict: 'suspended', since: now(), node_down_since: null }
    expect((await order('suspend')).status).toBe(204)
    world.clock.advance(60)
    expect(await show()).toEqual(suspended)
    const friend = await makeUser(world)
    await makeSubuser(world, server, friend, ['file.read'])
    expect(await show(await makeClientToken(world, friend))).toEqual(suspended)

    await order('unsuspend')
    const reinstalled = { conflict: 'installing', since: now() }
    expect((await order('reinstall')).status).toBe(204)
    world.clock.advance(60)
    expect(await show()).toMatchObject(reinstalled)

    await set(null)
    await transferring()
    expect(await show()).toMatchObject({ conflict: 'transferring', since: expect.any(String) })
    await world.database.db.update(transfers).set({ successful: true })
    await world.database.db.update(nodes).set({ maintenanceMode: true })
    await world.database.db
      .insert(nodeHeartbeats)
      .values({ id: server.nodeId, isUp: false, since: world.clock.now, checkedAt: world.clock.now })
    expect(await show()).toEqual({ conflict: 'maintenance', since: null, node_down_since: now() })
  })

  it('hides its state from users without access, and shows it before a missing permission', async () => {
    await set('suspended')
    const ask = async (token: string) =>
      (
        await world.request('POST', `/api/client/servers/${server.uuid}/command`, {
          token,
          body: { command: 7 },
        })
      ).status
    const friend = await makeUser(world)
    const token = await makeClientToken(world, friend)
    expect(await ask(token)).toBe(404)
    await makeSubuser(world, server, friend, ['websocket.connect'])
    expect(await ask(token)).toBe(409)
    await set(null)
    expect(await ask(token)).toBe(403)
    expect(await ask(ownerToken)).toBe(422)
  })
})
