import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, activitySubjects, apiKeys, users } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { fullAcl, makeKey, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let admin: User
let token: string

beforeEach(async () => {
  admin = await makeUser(world, { rootAdmin: true })
  token = (await makeKey(world, admin, { type: 'application', acl: fullAcl, description: 'first' })).token
})

const path = '/api/application/keys'
const add = (body: unknown, as = token) => world.request('POST', path, { token: as, body })
const rules = (answer: { body: any }) =>
  answer.body.errors.map(({ meta }: any) => `${meta.source_field}: ${meta.rule}`)

describe('Application keys', () => {
  it('are added and work at once, from their addresses and with their levels', async () => {
    const { status, body } = await add({
      description: 'billing',
      allowed_ips: ['192.0.2.0/24', '2001:db8::1'],
      acl: { servers: 3, users: '1', nodes: 0 },
    })
    expect(status).toBe(201)
    expect(body).toEqual({
      object: 'api_key',
      attributes: {
        identifier: expect.stringMatching(/^ptla_\w{11}$/),
        description: 'billing',
        allowed_ips: ['192.0.2.0/24', '2001:db8::1'],
        acl: { servers: 3, users: 1 },
        user_id: admin.id,
        last_used_at: null,
        expires_at: null,
        created_at: expect.any(String),
      },
      meta: { secret_token: expect.stringMatching(/^\w{32}$/) },
    })
    const made = body.attributes.identifier + body.meta.secret_token
    expect((await world.request('GET', '/api/application/servers', { token: made })).status).toBe(200)
    expect((await world.request('GET', '/api/application/nodes', { token: made })).status).toBe(403)
    const elsewhere = { token: made, ip: '203.0.113.1' }
    expect((await world.request('GET', '/api/application/servers', elsewhere)).status).toBe(403)
  })

  it('are listed without secrets, those of all administrators and no account keys', async () => {
    const other = await makeUser(world, { rootAdmin: true })
    await makeKey(world, other, { type: 'account', description: 'mine' })
    const { meta } = (await add({ description: 'second 100%', acl: {}, user_id: other.id })).body
    let answer: any
    const list = async (query: string) => (answer = await world.request('GET', path + query, { token }))
    expect(await world.countStatements(() => list(''))).toBe(2)
    expect(
      answer.body.data.map(({ attributes }: any) => [attributes.description, attributes.user_id]),
    ).toEqual([
      ['first', admin.id],
      ['second 100%', other.id],
    ])
    expect(answer.body.data[0].attributes.acl).toEqual(fullAcl)
    const [row] = await world.database.db.select().from(apiKeys).where(eq(apiKeys.userId, admin.id))
    for (const secret of [meta.secret_token, row?.secretHash, token])
      expect(answer.text).not.toContain(secret)
    expect((await list('?filter[description]=0%25')).body.meta.pagination.total).toBe(1)
    expect((await list(`?filter[identifier]=${row?.identifier}`)).body.data.length).toBe(1)
    expect((await list('?filter[secret_hash]=a')).body.errors[0].code).toBe('InvalidFilterQuery')
  })

  it('are taken away and refused from then on', async () => {
    const { body } = await add({ acl: { servers: 1 } })
    const { identifier } = body.attributes
    expect((await world.request('DELETE', `${path}/${identifier}`, { token })).status).toBe(204)
    const gone = { token: identifier + body.meta.secret_token }
    expect((await world.request('GET', '/api/application/servers', gone)).status).toBe(401)
    expect((await world.request('DELETE', `${path}/${identifier}`, { token })).status).toBe(404)
  })

  it('are not what account keys are', async () => {
    const { row } = await makeKey(world, admin, { type: 'account' })
    expect((await world.request('DELETE', `${path}/${row.identifier}`, { token })).status).toBe(404)
    expect((await world.request('DELETE', `${path}/short`, { token })).status).toBe(404)
  })

  it('hand on no more than the key they were made with holds', async () => {
    const acl = { api_keys: 2, servers: 1, users: 3 } as const
    const poor = (await makeKey(world, admin, { type: 'application', acl })).token
    for (const wanted of [{ servers: 2 }, { servers: 3 }, { nodes: 1 }, { api_keys: 1 }]) {
      const answer = await add({ acl: wanted }, poor)
      expect([answer.status, answer.body.errors.length]).toEqual([403, 1])
    }
    expect((await add({ acl: { api_keys: 2, servers: 1, users: 2, nodes: 0 } }, poor)).status).toBe(201)
    expect((await world.request('GET', path, { token: poor })).status).toBe(403)
  })

  it('belong to administrators alone', async () => {
    const plain = await makeUser(world)
    expect(rules(await add({ acl: {}, user_id: plain.id }))).toEqual(['user_id: in'])
    expect(rules(await add({ acl: {}, user_id: 9999 }))).toEqual(['user_id: exists'])
    expect((await world.database.db.select().from(apiKeys)).length).toBe(1)
    const other = await makeUser(world, { rootAdmin: true })
    const { body } = await add({ acl: { servers: 1 }, user_id: other.id })
    const made = { token: body.attributes.identifier + body.meta.secret_token }
    await world.database.db.update(users).set({ rootAdmin: false }).where(eq(users.id, other.id))
    expect((await world.request('GET', '/api/application/servers', made)).status).toBe(403)
  })

  it('end when they say so', async () => {
    const soon = new Date(world.clock.now.getTime() + 60_000).toISOString()
    const { status, body } = await add({ acl: { servers: 1 }, expires_at: soon })
    expect([status, body.attributes.expires_at]).toEqual([201, `${soon.slice(0, 19)}+00:00`])
    const made = { token: body.attributes.identifier + body.meta.secret_token }
    expect((await world.request('GET', '/api/application/servers', made)).status).toBe(200)
    world.clock.advance(61)
    expect((await world.request('GET', '/api/application/servers', made)).status).toBe(401)
    expect(rules(await add({ acl: {}, expires_at: soon }))).toEqual(['expires_at: after'])
  })

  it('name each broken rule of each field', async () => {
    const answer = await add({
      description: 'x'.repeat(501),
      allowed_ips: ['192.0.2.1', '192.0.2.0/33', 'example.test'],
      acl: { servers: 4, plugins: 1 },
      user_id: 0,
      expires_at: 'tomorrow',
    })
    expect(rules(answer).toSorted()).toEqual([
      'acl.plugins: prohibited',
      'acl.servers: max',
      'allowed_ips.1: ',
      'allowed_ips.2: ',
      'description: max',
      'expires_at: date',
      'user_id: min',
    ])
    const many = Array.from({ length: 51 }, (_, n) => `192.0.2.${n}`)
    expect(rules(await add({ allowed_ips: many }))).toEqual(['allowed_ips: max', 'acl: required'])
  })

  it('are recorded for their owner by identifier, never by secret', async () => {
    const other = await makeUser(world, { rootAdmin: true })
    const { body } = await add({ acl: {}, user_id: other.id })
    const { identifier } = body.attributes
    await world.request('DELETE', `${path}/${identifier}`, { token })
    const entries = await world.database.db.select().from(activity).orderBy(activity.id)
    const entry = { userId: other.id, actorId: admin.id, source: 'api', properties: { identifier } }
    expect(entries).toMatchObject([
      { event: 'user:api-key.create', ...entry },
      { event: 'user:api-key.delete', ...entry },
    ])
    expect((await world.database.db.select().from(activitySubjects)).length).toBe(2)
    const stored = JSON.stringify([entries, await world.database.db.select().from(apiKeys)])
    expect(stored).not.toContain(body.meta.secret_token)
  })
})
