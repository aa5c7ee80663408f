import { describe, expect, it } from 'vitest'
import { allocations } from '../../src/db/schema.ts'
import { makeAllocation, makeClientToken, makeNode, makeServer, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { refusal, useNetworkFixtures } from './network-fixtures.ts'

const world = useWorld()
const fixtures = useNetworkFixtures(world)
const { add, allocation, listAllocations, lastEvent, allow, configure, range } = fixtures

/** Makes a server of the same owner, on the same node. */
const anotherServer = () =>
  makeServer(world, { owner: fixtures.owner, node: fixtures.node, allocationLimit: 2 })

/** Rate limits count nothing while the cache is away. */
const liftThrottles = () => {
  const hit = async () => {
    throw new Error('The cache is away.')
  }
  Object.assign(world.services, { cache: { ...world.services.cache, hit } })
}

describe('adding an allocation', () => {
  it('takes a free one of the same address, within the range or not', async () => {
    await range(30_000, 30_001)
    await makeAllocation(world, fixtures.node, { ip: '203.0.113.1' })
    await makeAllocation(world, await makeNode(world))
    const free = await makeAllocation(world, fixtures.node, { port: 4000, notes: 'of a previous owner' })
    const answer = await add()
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        object: 'allocation',
        attributes: {
          id: free.id,
          ip: '198.51.100.7',
          ip_alias: null,
          port: 4000,
          notes: null,
          is_default: false,
        },
      },
    ])
    expect(await allocation(free.id)).toMatchObject({ serverId: fixtures.server.id, notes: null })
    expect(await lastEvent()).toEqual({
      event: 'server:allocation.create',
      properties: { allocation: '198.51.100.7:4000' },
      serverId: fixtures.server.id,
      actorId: fixtures.owner.id,
      subjects: [{ type: 'allocation', id: free.id }],
    })
    expect(answer.headers.get('x-ratelimit-limit')).toBe('2')
  })

  it('makes one with a port of the range where none is free', async () => {
    await world.database.db.update(allocations).set({ ip: '2001:db8::7', ipAlias: 'six.example.test' })
    await makeAllocation(world, fixtures.node, {
      ip: '2001:db8::7',
      port: 30_000,
      serverId: fixtures.server.id,
    })
    await makeAllocation(world, fixtures.node, {
      ip: '203.0.113.1',
      port: 30_001,
      serverId: fixtures.server.id,
    })
    await allow(4)
    await range(30_000, 30_001)
    const { attributes } = (await add()).body
    expect(attributes).toMatchObject({ ip: '2001:db8::7', port: 30_001, ip_alias: 'six.example.test' })
    expect((await lastEvent()).properties).toEqual({ allocation: '[2001:db8::7]:30001' })
  })

  it('fails when no port is left, or none may be made', async () => {
    const full = [400, 'NoAutoAllocationSpaceAvailableException']
    expect(refusal(await add())).toEqual(full)
    await range(30_000, 30_000)
    expect((await add()).body.attributes.port).toBe(30_000)
    world.clock.advance(60)
    expect(refusal(await add())).toEqual(full)
    expect(await listAllocations()).toHaveLength(2)
    expect(await world.events()).toEqual(['server:allocation.create'])
  })

  it('fails while the feature is off', async () => {
    await makeAllocation(world, fixtures.node)
    await configure({ 'features.auto_allocation': false })
    expect(refusal(await add())).toEqual([400, 'AutoAllocationNotEnabledException'])
    expect(await listAllocations()).toHaveLength(1)
  })

  it('fails at the limit, which counts the primary one and is never endless', async () => {
    await makeAllocation(world, fixtures.node)
    for (const limit of [null, 0, 1]) {
      await allow(limit)
      world.clock.advance(60)
      expect(refusal(await add())).toEqual([400, 'DisplayException'])
    }
    expect(await listAllocations()).toHaveLength(1)
    expect(await world.events()).toEqual([])
  })

  it('is allowed twice a minute for each server, for all callers together', async () => {
    await allow(9)
    await range(30_000, 30_009)
    const as = await makeClientToken(world, await makeUser(world, { rootAdmin: true }))
    expect([(await add()).status, (await add({ as })).status]).toEqual([200, 200])
    const refused = await add()
    expect(refusal(refused)).toEqual([429, 'ThrottleRequestsException'])
    expect(refused.headers.get('retry-after')).toBe('60')
    const other = await anotherServer()
    expect((await add({ to: other.uuid })).status).toBe(200)
    world.clock.advance(60)
    expect((await add()).status).toBe(200)
  })

  it('holds the limit however many ask at once', async () => {
    liftThrottles()
    await allow(4)
    await makeAllocation(world, fixtures.node)
    await range(30_000, 30_099)
    const answers = await Promise.all(Array.from({ length: 20 }, () => add()))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    const refused = answers.filter(({ status }) => status !== 200).map(refusal)
    expect(refused).toEqual(Array.from({ length: 17 }, () => [400, 'DisplayException']))
    expect(await listAllocations()).toHaveLength(4)
    expect(await world.events()).toHaveLength(3)
  })

  it('gives each port to exactly one of many servers that ask at once', async () => {
    await range(30_000, 30_009)
    for (let at = 0; at < 6; at += 1) await makeAllocation(world, fixtures.node)
    const others = await Promise.all(Array.from({ length: 20 }, () => anotherServer()))
    const answers = await Promise.all(others.map(({ uuid }) => add({ to: uuid })))
    const ports = answers.filter(({ status }) => status === 200).map(({ body }) => body.attributes.port)
    expect(new Set(ports).size).toBe(16)
    expect(ports).toHaveLength(16)
    const refused = answers.filter(({ status }) => status !== 200).map(refusal)
    expect(refused).toEqual(Array.from({ length: 4 }, () => [400, 'NoAutoAllocationSpaceAvailableException']))
  })
})
