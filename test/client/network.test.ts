import { expect, describe, it } from 'vitest'
import { only } from '../../src/db/database.ts'
import { servers } from '../../src/db/schema.ts'
import { makeAllocation, makeClientToken, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { conflictsOf } from './conflicts.ts'
import { refusal, useNetworkScene } from './network-scene.ts'

const world = useWorld()
const scene = useNetworkScene(world)
const { send, add, own, allocation, held, lastEvent, allow } = scene

const primaryId = async () => only(await world.database.db.select().from(servers)).allocationId

describe('the allocations of a server', () => {
  it('are listed by id, with notes and which one is the primary', async () => {
    const other = await own({ notes: 'voice', ipAlias: 'play.example.test' })
    await makeAllocation(world, scene.node)
    const primary = await allocation(scene.server.allocationId)
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
    const { id } = await own()
    const friend = await makeUser(world)
    const as = await makeClientToken(world, friend)
    const ways = [
      ['allocation.read', 'GET', ''],
      ['allocation.create', 'POST', ''],
      ['allocation.update', 'POST', id, { notes: null }],
      ['allocation.update', 'POST', `${id}/primary`],
      ['allocation.delete', 'DELETE', scene.server.allocationId],
    ] as const
    await makeSubuser(world, scene.server, friend, [])
    for (const [, method, at, body] of ways) {
      expect(refusal(await send(method, at, { as, body }))).toEqual([403, 'AccessDeniedHttpException'])
    }
    expect(await world.events()).toEqual([])
    for (const [permission, method, at, body] of ways) {
      const reader = await makeUser(world)
      await makeSubuser(world, scene.server, reader, [permission])
      const answer = await send(method, at, { as: await makeClientToken(world, reader), body })
      expect([permission, answer.status === 403]).toEqual([permission, false])
    }
  })

  it('of others, and free ones, are not found and stay as they are', async () => {
    const other = await makeServer(world, { node: scene.node })
    const free = await makeAllocation(world, scene.node)
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
    const { id } = await own()
    const routes = [
      ['GET', '/network/allocations'],
      ['POST', '/network/allocations'],
      ['POST', `/network/allocations/${id}`, { notes: null }],
      ['POST', `/network/allocations/${id}/primary`],
      ['DELETE', `/network/allocations/${id}`],
    ] as const
    const before = await held()
    for (const { refused } of await conflictsOf(world, scene.server, routes)) expect(refused).toHaveLength(5)
    expect(await held()).toEqual(before)
  })

  it('are refused too when the state changes while the request is on its way', async () => {
    const { id } = await own()
    const { transaction } = world.parts
    const suspendFirst: typeof transaction = async (work) => {
      await world.database.db.update(servers).set({ status: 'suspended' })
      return transaction(work)
    }
    Object.assign(world.parts, { transaction: suspendFirst })
    try {
      for (const [method, at] of [
        ['POST', ''],
        ['POST', `${id}/primary`],
        ['DELETE', id],
      ] as const) {
        await world.database.db.update(servers).set({ status: null })
        expect(refusal(await send(method, at))).toEqual([409, 'ServerStateConflictException'])
      }
    } finally {
      Object.assign(world.parts, { transaction })
    }
    expect([await held(), await world.events()]).toEqual([expect.objectContaining({ length: 2 }), []])
  })
})

describe('notes of an allocation', () => {
  it('are changed, and taken away, and recorded when they are others', async () => {
    const { id, port } = await own()
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
      (await send('POST', scene.server.allocationId, { body: { notes: 'x' } })).body.attributes,
    ).toMatchObject({ is_default: true, notes: 'x' })
  })

  it('must be sent, and are no longer than 256 characters', async () => {
    const { id } = await own({ notes: 'before' })
    for (const [body, rule] of [
      [{}, 'present'],
      [{ notes: 'x'.repeat(257) }, 'max'],
      [{ notes: ['x'] }, 'string'],
      [{ notes: 7 }, 'string'],
    ] as const) {
      const answer = await send('POST', id, { body })
      expect([answer.status, answer.body.errors[0].meta]).toEqual([422, { source_field: 'notes', rule }])
    }
    expect((await allocation(id)).notes).toBe('before')
    expect((await send('POST', id, { body: { notes: 'x'.repeat(256) } })).status).toBe(200)
  })
})

describe('the primary allocation', () => {
  it('becomes another one, recorded once', async () => {
    const { id, port } = await own()
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

  it('is always one of the server, whoever gives it back meanwhile', async () => {
    const { id } = await own()
    const [made, gone] = await Promise.all([send('POST', `${id}/primary`), send('DELETE', id)])
    expect([
      [200, 400],
      [404, 204],
    ]).toContainEqual([made.status, gone.status])
    expect((await allocation(await primaryId())).serverId).toBe(scene.server.id)
  })
})

describe('giving an allocation back', () => {
  it('frees it and forgets its notes', async () => {
    const { id, port } = await own({ notes: 'voice' })
    expect(await send('DELETE', id)).toMatchObject({ status: 204, text: '' })
    expect(await allocation(id)).toMatchObject({ serverId: null, notes: null })
    expect(await lastEvent()).toMatchObject({
      event: 'server:allocation.delete',
      properties: { allocation: `198.51.100.7:${port}` },
      serverId: scene.server.id,
      subjects: [{ type: 'allocation', id }],
    })
    expect((await send('DELETE', id)).status).toBe(404)
    expect((await add()).body.attributes.id).toBe(id)
  })

  it('is refused for the primary one, and without a limit', async () => {
    const { id } = await own()
    expect(refusal(await send('DELETE', scene.server.allocationId))).toEqual([400, 'DisplayException'])
    for (const limit of [null, 0]) {
      await allow(limit)
      expect(refusal(await send('DELETE', id))).toEqual([400, 'DisplayException'])
    }
    expect(await held()).toHaveLength(2)
    expect(await world.events()).toEqual([])
  })

  it('happens once, however many ask', async () => {
    const { id } = await own()
    const answers = await Promise.all(Array.from({ length: 10 }, () => send('DELETE', id)))
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 404)).toHaveLength(9)
    expect(await world.events()).toEqual(['server:allocation.delete'])
  })
})
