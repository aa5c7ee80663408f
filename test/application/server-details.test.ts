import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { jobs, servers, subusers } from '../../src/db/schema.ts'
import { makeApplicationToken, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string
let owner: Awaited<ReturnType<typeof makeUser>>
let server: Awaited<ReturnType<typeof makeServer>>

beforeEach(async () => {
  token = await makeApplicationToken(world)
  owner = await makeUser(world)
  server = await makeServer(world, { owner, externalId: 'bill-1', description: 'Old', name: 'Old name' })
})

const pathOf = (id: number) => `/api/application/servers/${id}/details`
const change = (changes: object = {}, query = '', id = server.id) =>
  world.request('PATCH', `${pathOf(id)}${query}`, {
    token,
    body: { name: 'Skyblock', user: owner.id, ...changes },
  })
const rule = (answer: { body: any }) =>
  answer.body.errors.map((error: any) => [error.meta?.source_field, error.meta?.rule])
const rowOf = async (id = server.id) =>
  (await world.database.db.select().from(servers).where(eq(servers.id, id)))[0]
const revocations = async () => {
  const rows = await world.database.db.select().from(jobs)
  return rows.filter(({ name }) => name === 'revoke-daemon-access').map(({ payload }) => payload)
}

describe('changing the details of a server', () => {
  it('answers with the server as it is then, relations included', async () => {
    const { status, body } = await change(
      { external_id: 'bill-2', description: ' New ' },
      '?include[]=user&include[]=node',
    )
    expect(status).toBe(200)
    expect(body).toMatchObject({
      object: 'server',
      attributes: {
        id: server.id,
        external_id: 'bill-2',
        name: 'Skyblock',
        description: 'New',
        user: owner.id,
        relationships: { user: { attributes: { id: owner.id } }, node: { object: 'node' } },
      },
    })
    expect(body).not.toHaveProperty('meta')
  })

  it('empties external id and description when they are left out', async () => {
    expect((await change()).body.attributes).toMatchObject({ external_id: null, description: '' })
    await change({ external_id: 'again', description: 'again' })
    const { body } = await change({ external_id: '', description: null })
    expect(body.attributes).toMatchObject({ external_id: null, description: '' })
  })

  it('leaves limits, state and place alone, whatever else is sent', async () => {
    const before = await rowOf()
    world.clock.advance(10)
    await change({ node_id: 7, status: 'suspended', memory: 1, owner_id: 9, uuid: 'x', backup_limit: 99 })
    expect(await rowOf()).toEqual({
      ...before,
      name: 'Skyblock',
      externalId: null,
      description: '',
      updatedAt: world.clock.now,
    })
  })

  it('needs a name and an owner', async () => {
    const before = await rowOf()
    expect(rule(await change({ name: null, user: null }))).toEqual([
      ['name', 'required'],
      ['user', 'required'],
    ])
    expect(rule(await change({ name: 'x'.repeat(192), external_id: 'x'.repeat(192), user: 'me' }))).toEqual([
      ['external_id', 'between'],
      ['name', 'between'],
      ['user', 'integer'],
    ])
    expect(rule(await change({ user: 999_999 }))).toEqual([['user', 'exists']])
    expect(await rowOf()).toEqual(before)
    expect((await change({ user: String(owner.id) })).status).toBe(200)
  })

  it('refuses an unknown server', async () => {
    expect((await change({}, '', 999_999)).status).toBe(404)
  })

  it('refuses the external id of another server, and takes its own again', async () => {
    await makeServer(world, { externalId: 'bill-2' })
    expect(rule(await change({ external_id: 'bill-2' }))).toEqual([['external_id', 'unique']])
    expect((await change({ external_id: 'bill-1' })).status).toBe(200)
  })

  it('gives one of many racers an external id and refuses the others', async () => {
    const others = [server, await makeServer(world), await makeServer(world), await makeServer(world)]
    const answers = await Promise.all(others.map(({ id }) => change({ external_id: 'wanted' }, '', id)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422, 422, 422])
    for (const answer of answers.filter(({ status }) => status === 422)) {
      expect(rule(answer)).toEqual([['external_id', 'unique']])
    }
  })
})

describe('a new owner of a server', () => {
  it('is no subuser of it any more, though of other servers', async () => {
    const next = await makeUser(world)
    const third = await makeUser(world)
    const elsewhere = await makeServer(world)
    await makeSubuser(world, server, next, ['control.start'])
    await makeSubuser(world, server, third, ['control.start'])
    await makeSubuser(world, elsewhere, next, ['control.start'])
    expect((await change({ user: next.id })).body.attributes.user).toBe(next.id)
    const left = await world.database.db.select().from(subusers)
    expect(left.map(({ serverId, userId }) => [serverId, userId])).toEqual([
      [server.id, third.id],
      [elsewhere.id, next.id],
    ])
  })

  it('revokes the daemon credentials of the previous owner, for this server', async () => {
    const next = await makeUser(world)
    await makeServer(world, { owner, node: { id: server.nodeId } })
    await change({ user: next.id })
    expect(await revocations()).toEqual([
      {
        nodeId: server.nodeId,
        userUuid: owner.uuid,
        userId: owner.id,
        serverUuids: [server.uuid],
        actingUuids: [],
      },
    ])
  })

  it('that is the current owner revokes nothing', async () => {
    await makeSubuser(world, server, owner, ['control.start'])
    await change()
    expect(await revocations()).toEqual([])
    expect(await world.database.db.select().from(subusers)).toHaveLength(1)
  })

  it('that does not exist changes nothing', async () => {
    await makeSubuser(world, server, owner, ['control.start'])
    await change({ user: 999_999 })
    expect(await rowOf()).toMatchObject({ ownerId: owner.id, name: 'Old name' })
    expect(await revocations()).toEqual([])
  })

  it('is one account after a race, and each change has revoked the one before', async () => {
    const rivals = [await makeUser(world), await makeUser(world), await makeUser(world)]
    const answers = await Promise.all(rivals.map(({ id }) => change({ user: id })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const last = (await rowOf())?.ownerId
    const revoked = (await revocations()).map(({ userId }) => userId)
    const losers = rivals.map(({ id }) => id).filter((id) => id !== last)
    expect(revoked).toHaveLength(3)
    expect(new Set(revoked)).toEqual(new Set([owner.id, ...losers]))
  })
})
