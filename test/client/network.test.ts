import { expect, describe, it } from 'vitest'
import { single } from '../../src/db/database.ts'
import { servers } from '../../src/db/schema.ts'
import { makeAllocation, makeClientToken, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { conflictsOf } from './conflicts.ts'
import { refusal, useNetworkFixtures } from './network-fixtures.ts'

const world = useWorld()
const fixtures = useNetworkFixtures(world)
const { send, add, addAllocation, allocation, listAllocations, lastEvent, allow } = fixtures

const primaryId = async () => single(await world.database.db.select().from(servers)).allocationId

describe('the allocations of a server', () => {
  it('are listed by id, with notes and which one is the primary', async () => {
    const other = await addAllocation({ notes: 'voice', ipAlias: 'play.example.test' })
    await makeAllocation(world, fixtures.node)
    const primary = await allocation(fixtures.server.allocationId)
    const answer = await send('GET')
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.body).toEqual({
      object: 'list',
      data: [
        {
          object: 'allocation',
          attributes: {
            id: primary.id,
            ip: '198.51.100.7',
            ip_alias: null,
            port: primary.port,
            notes: null,
            is_default: true,
          },
        },
        {
          object: 'allocation',
          attributes: {
            id: other.id,
            ip: '198.51.100.7',
            ip_alias: 'play.example.test',
            port: other.port,
            notes: 'voice',
            is_default: false,
          },
        },
      ],
    })
  })

  it('each need the permission for what is done with them', async () => {
    const { id } = await addAllocation()
    const friend = await makeUser(world)
    const as = await makeClientToken(world, friend)
    const ways = [
      ['allocation.read', 'GET', ''],
      ['allocation.create', 'POST', ''],
      ['allocation.update', 'POST', id, { notes: null }],
      ['allocation.update', 'POST', `${id}/primary`],
      ['allocation.delete', 'DELETE', fixtures.server.allocationId],
    ] as const
    await makeSubuser(world, fixtures.server, friend, [])
    for (const [, method, at, body] of ways) {
      expect(refusal(await send(method, at, { as, body }))).toEqual([403, 'AccessDeniedHttpException'])
    }
    expect(await world.events()).toEqual([])
    for (const [permission, method, at, body] of ways) {
      const reader = await makeUser(world)
      await makeSubuser(world, fixtures.server, reader, [permission])
      const answer = await send(method, at, { as: await makeClientToken(world, reader), body })
      expect([permission, answer.status === 403]).toEqual([permission, false])
    }
  })

  it('of others, and free ones, are not found and stay as they are', async () => {
    const other = await makeServer(world, { node: fixtures.node })
    const free = await makeAllocation(world, fixtures.node)
    for (const id of [other.allocationId, free.id, 99_999]) {
      for (const [method, at] of [
        ['POST', id],
        ['POST', `${id}/primary`],
        ['DELETE', id],
      ] as const) {
        expect((await send(method, at, { body: { notes: 'mine' } })).status).toBe(404)
      }
    }
    expect(await allocation(other.allocationId)).toMatchObject({ serverId: other.id, notes: null })
    expect(await allocation(free.id)).toEqual(free)
    expect(await world.events()).toEqual([])
  })

  it('are out of reach while the state of the server forbids it', async () => {
    const { id } = await addAllocation()
    const routes = [
      ['GET', '/network/allocations'],
      ['POST', '/network/allocations'],
      ['POST', `/network/allocations/${id}`, { notes: null }],
      ['POST', `/network/allocations/${id}/primary`],
      ['DELETE', `/network/allocations/${id}`],
    ] as const
    const before = await listAllocations()
    for (const { refused } of await conflictsOf(world, fixtures.server, routes))
      expect(refused).toHaveLength(5)
    expect(await listAllocations()).toEqual(before)
  })

  it('are refused too when the state changes while the request is on its way', async () => {
    const { id } = await addAllocation()
    const { transaction } = world.services
    const suspendFirst: typeof transaction = async (work) => {
      await world.database.db.update(servers).set({ status: 'suspended' })
      return transaction(work)
    }
    Object.assign(world.services, { transaction: suspendFirst })
    for (const [method, at] of [
      ['POST', ''],
      ['POST', `${id}/primary`],
      ['DELETE', id],
    ] as const) {
      await world.database.db.update(servers).set({ status: null })
      expect(refusal(await send(method, at))).toEqual([409, 'ServerStateConflictException'])
    }
    Object.assign(world.services, { transaction })
    expect([await listAllocations(), await world.events()]).toEqual([
      expect.objectContaining({ length: 2 }),
      [],
    ])
  })
})

describe('notes of an allocation', () => {
  it('are changed, and taken away, and recorded when they are others', async () => {
    const { id, port } = await addAllocation()
    const answer = await send('POST', id, { body: { notes: ' voice ' } })
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        object: 'allocation',
        attributes: { id, ip: '198.51.100.7', ip_alias: null, port, notes: 'voice', is_default: false },
      },
    ])
    expect(await lastEvent()).toMatchObject({
      event: 'server:allocation.notes',
      properties: { allocation: `198.51.100.7:${port}`, old: null, new: 'voice' },
      subjects: [{ type: 'allocation', id }],
    })
    await send('POST', id, { body: { notes: 'voice' } })
    expect((await send('POST', id, { body: { notes: '' } })).body.attributes.notes).toBeNull()
    await send('POST', id, { body: { notes: null } })
    expect(await world.events()).toEqual(['server:allocation.notes', 'server:allocation.notes'])
    expect(
      (await send('POST', fixtures.server.allocationId, { body: { notes: 'x' } })).body.attributes,
    ).toMatchObject({ is_default: true, notes: 'x' })
  })

  it('must be sent, and are no longer than 256 characters', async () => {
    const { id } = await addAllocation({ notes: 'before' })
    for (const [body, rule] of [
      [{}, 'present'],
      [{ notes: 'x'.repeat(257) }, 'max'],
      [{ notes: ['x'] }, 'string'],
      [{ notes: 7 }, 'string'],
    ] as const) {
      const answer = await send('POST', id, { body })
      expect([answer.status, answer.body.errors[0].meta]).toMatchObject([
        422,
        { source_field: 'notes', rule },
      ])
    }
    expect((await allocation(id)).notes).toBe('before')
    expect((await send('POST', id, { body: { notes: 'x'.repeat(256) } })).status).toBe(200)
  })
})

describe('the primary allocation', () => {
  it('becomes another one, recorded once', async () => {
    const { id, port } = await addAllocation()
    const answer = await send('POST', `${id}/primary`)
    expect([answer.status, answer.body.attributes]).toEqual([
      200,
      { id, ip: '198.51.100.7', ip_alias: null, port, notes: null, is_default: true },
    ])
    expect(await primaryId()).toBe(id)
    expect(await lastEvent()).toMatchObject({
      event: 'server:allocation.primary',
      properties: { allocation: `198.51.100.7:${port}` },
      subjects: [{ type: 'allocation', id }],
    })
    expect((await send('POST', `${id}/primary`)).status).toBe(200)
    expect(await world.events()).toEqual(['server:allocation.primary'])
  })

  it('always belongs to the server, even when it is removed at the same time', async () => {
    const { id } = await addAllocation()
    const [made, gone] = await Promise.all([send('POST', `${id}/primary`), send('DELETE', id)])
    expect([
      [200, 400],
      [404, 204],
    ]).toContainEqual([made.status, gone.status])
    expect((await allocation(await primaryId())).serverId).toBe(fixtures.server.id)
  })
})

describe('giving an allocation back', () => {
  it('frees it and forgets its notes', async () => {
    const { id, port } = await addAllocation({ notes: 'voice' })
    expect(await send('DELETE', id)).toMatchObject({ status: 204, text: '' })
    expect(await allocation(id)).toMatchObject({ serverId: null, notes: null })
    expect(await lastEvent()).toMatchObject({
      event: 'server:allocation.delete',
      properties: { allocation: `198.51.100.7:${port}` },
      serverId: fixtures.server.id,
      subjects: [{ type: 'allocation', id }],
    })
    expect((await send('DELETE', id)).status).toBe(404)
    expect((await add()).body.attributes.id).toBe(id)
  })

  it('is refused for the primary one, and without a limit', async () => {
    const { id } = await addAllocation()
    expect(refusal(await send('DELETE', fixtures.server.allocationId))).toEqual([400, 'DisplayException'])
    for (const limit of [null, 0]) {
      await allow(limit)
      expect(refusal(await send('DELETE', id))).toEqual([400, 'DisplayException'])
    }
    expect(await listAllocations()).toHaveLength(2)
    expect(await world.events()).toEqual([])
  })

  it('happens once, however many ask', async () => {
    const { id } = await addAllocation()
    const answers = await Promise.all(Array.from({ length: 10 }, () => send('DELETE', id)))
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(9)
    expect(await world.events()).toEqual(['server:allocation.delete'])
  })
})
