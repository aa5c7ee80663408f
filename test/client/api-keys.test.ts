import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, activitySubjects, apiKeys, users } from '../../src/db/schema.ts'
import { makeClientToken, makeKey, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const path = '/api/client/account/api-keys'
let user: Awaited<ReturnType<typeof makeUser>>
let token: string

beforeEach(async () => {
  user = await makeUser(world)
  token = await makeClientToken(world, user)
})

const add = (body: unknown, as = token) => world.request('POST', path, { token: as, body })
const list = (as = token) => world.request('GET', path, { token: as })
const remove = (identifier: string, as = token) =>
  world.request('DELETE', `${path}/${identifier}`, { token: as })

const rules = ({ status, body }: { status: number; body: any }) => [
  status,
  ...body.errors.map(({ meta }: any) => `${meta.source_field}: ${meta.rule}`),
]
const countOf = async () =>
  (await world.database.db.select().from(users).where(eq(users.id, user.id)))[0]?.apiKeyCount

describe('a new API key', () => {
  it('AU-11: is shown with its secret once, and works at once', async () => {
    const { status, body } = await add({ description: ' deploy bot ', allowed_ips: ['203.0.113.0/28'] })
    expect(status).toBe(200)
    expect(body).toEqual({
      object: 'api_key',
      attributes: {
        identifier: expect.stringMatching(/^ptlc_[A-Za-z0-9]{11}$/),
        description: 'deploy bot',
        allowed_ips: ['203.0.113.0/28'],
        last_used_at: null,
        created_at: expect.stringMatching(/\+00:00$/),
      },
      meta: { secret_token: expect.stringMatching(/^[A-Za-z0-9]{32}$/) },
    })
    const { identifier } = body.attributes
    const made = `${identifier}${body.meta.secret_token}`
    const listed = await world.request('GET', path, { token: made, ip: '203.0.113.7' })
    expect(listed.status).toBe(200)
    expect(listed.body.data).toHaveLength(2)
    expect(listed.text).not.toContain(body.meta.secret_token)
    expect(listed.text).not.toMatch(/secret|hash/)
    const [row] = await world.database.db.select().from(apiKeys).where(eq(apiKeys.identifier, identifier))
    expect(JSON.stringify(row)).not.toContain(body.meta.secret_token)
  })

  it('is recorded on the account', async () => {
    const { body } = await add({ description: null })
    const { identifier } = body.attributes
    const [key] = await world.database.db.select().from(apiKeys).where(eq(apiKeys.identifier, identifier))
    expect(await world.database.db.select().from(activity)).toEqual([
      expect.objectContaining({
        event: 'user:api-key.create',
        userId: user.id,
        actorId: user.id,
        source: 'api',
        properties: { identifier },
      }),
    ])
    expect(await world.database.db.select().from(activitySubjects)).toEqual([
      expect.objectContaining({ subjectType: 'api_key', subjectId: key?.id }),
    ])
  })

  it('needs a description, which may be null', async () => {
    for (const description of [null, '', '  ']) {
      expect((await add({ description })).body.attributes.description).toBe('')
    }
    expect(rules(await add({}))).toEqual([422, 'description: required'])
    expect(rules(await add({ description: 7 }))).toEqual([422, 'description: string'])
    expect(rules(await add({ description: 'x'.repeat(501) }))).toEqual([422, 'description: max'])
    expect(
      (await add({ description: 'x'.repeat(500), allowed_ips: null })).body.attributes.allowed_ips,
    ).toEqual([])
    expect(await countOf()).toBe(4)
  })

  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['203.0.113.9/32', '203.0.113.9/32'],
    ['203.0.113.9/24', '203.0.113.9/24'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8::0:7', '2001:db8::7'],
    ['2001:db8::7/128', '2001:db8::7/128'],
    ['2001:db8::/32', '2001:db8::/32'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.0/120', '203.0.113.0/24'],
  ])('may work from %s alone', async (range, stored) => {
    const { status, body } = await add({ description: 'x', allowed_ips: [range] })
    expect(status).toBe(200)
    expect(body.attributes.allowed_ips).toEqual([stored])
  })

  it.each([
    '203.0.113.1-203.0.113.9',
    '203.0.113.*',
    '203.0.113.0/33',
    '2001:db8::/129',
    '1.2.3',
    'x',
    '1.2.3.4/',
  ])('works from no range like %s', async (range) => {
    const answer = await add({ description: 'x', allowed_ips: ['203.0.113.9', range] })
    expect(rules(answer)).toEqual([422, 'allowed_ips.1: '])
    expect(await countOf()).toBe(0)
  })

  it('has at most 50 ranges, each of them text', async () => {
    const many = Array.from({ length: 51 }, (_, at) => `203.0.113.${at}`)
    expect(rules(await add({ description: 'x', allowed_ips: many }))).toEqual([422, 'allowed_ips: max'])
    expect((await add({ description: 'x', allowed_ips: many.slice(1) })).status).toBe(200)
    expect(rules(await add({ description: 'x', allowed_ips: '203.0.113.9' }))).toEqual([
      422,
      'allowed_ips: array',
    ])
    expect(rules(await add({ description: 'x', allowed_ips: [7] }))).toEqual([422, 'allowed_ips.0: string'])
  })
})

describe('the 25 keys of an account', () => {
  const many = (count: number) => Promise.all(Array.from({ length: count }, () => add({ description: null })))

  it('are not exceeded by many who ask at once', async () => {
    const answers = await many(40)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(answers.length - refused.length).toBe(25)
    for (const { status, body } of refused) {
      expect([status, body.errors[0].code]).toEqual([400, 'DisplayException'])
    }
    expect(await countOf()).toBe(25)
    expect((await list()).body.data).toHaveLength(26)
    expect((await world.events()).length).toBe(25)
  })

  it('make room for another when one is taken away, once however many take it', async () => {
    const [first] = (await many(25)).map(({ body }) => body.attributes)
    const { identifier } = first
    const removals = await Promise.all(Array.from({ length: 10 }, () => remove(identifier)))
    expect(removals.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      204,
      ...Array(9).fill(404),
    ])
    expect(await countOf()).toBe(24)
    expect((await many(3)).map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200, 400, 400,
    ])
  })
})

describe('keys beyond the limit, which may have moved here', () => {
  it('are taken away as others are', async () => {
    const { row } = await makeKey(world, user, { type: 'account' })
    expect(await countOf()).toBe(0)
    expect((await remove(row.identifier)).status).toBe(204)
    expect(await countOf()).toBe(0)
  })
})

describe('a key that is taken away', () => {
  it('works no more, and is recorded', async () => {
    const { body } = await add({ description: 'x' })
    const { identifier } = body.attributes
    const made = `${identifier}${body.meta.secret_token}`
    expect((await remove(identifier, made)).status).toBe(204)
    expect((await list(made)).status).toBe(401)
    expect(await world.events()).toEqual(['user:api-key.create', 'user:api-key.delete'])
    const [, entry] = await world.database.db.select().from(activity).orderBy(activity.id)
    expect(entry).toMatchObject({ userId: user.id, actorId: user.id, properties: { identifier } })
    expect((await list()).body.data).toHaveLength(1)
  })

  it('is an account key of the caller', async () => {
    const admin = await makeUser(world, { rootAdmin: true, apiKeyCount: 1 })
    const adminToken = await makeClientToken(world, admin)
    const application = await makeKey(world, admin, { type: 'application' })
    const foreign = await makeKey(world, user, { type: 'account' })
    for (const identifier of [application.row.identifier, foreign.row.identifier, 'ptlc_unknown0000', 'x']) {
      const answer = await remove(identifier, adminToken)
      expect([answer.status, answer.body.errors[0].code]).toEqual([404, 'NotFoundHttpException'])
    }
    expect(await world.events()).toEqual([])
    expect((await list(adminToken)).body.data).toHaveLength(1)
    expect((await list()).body.data).toHaveLength(2)
  })
})

describe('the list', () => {
  it('has the account keys of the caller, oldest first, in two statements', async () => {
    await makeKey(world, user, { type: 'application' })
    await makeKey(world, await makeUser(world), { type: 'account' })
    await add({ description: 'one' })
    await add({ description: 'two' })
    let answer = await list()
    const statements = await world.countStatements(async () => {
      answer = await list()
    })
    expect(statements).toBe(2)
    expect(answer.body.object).toBe('list')
    expect(answer.body.meta).toBeUndefined()
    expect(answer.body.data.map(({ attributes }: any) => attributes.description)).toEqual(['', 'one', 'two'])
    expect(answer.body.data[0].attributes.last_used_at).toMatch(/\+00:00$/)
  })
})

describe('allowed addresses', () => {
  it.each([
    ['2001:db8::/64', ['2001:db8::1', '2001:db8:0:0:ffff::9'], ['2001:db8:0:1::1', '192.0.2.1']],
    ['::ffff:203.0.113.9', ['203.0.113.9', '::ffff:203.0.113.9', '::ffff:cb00:7109'], ['203.0.113.8', '::1']],
    ['203.0.113.9', ['203.0.113.9', '::ffff:203.0.113.9'], ['::ffff:203.0.113.8', '2001:db8::1']],
    ['203.0.113.77/24', ['203.0.113.1'], ['203.0.114.1']],
    ['2001:db8::7/128', ['2001:DB8::7', '2001:db8::7%eth0'], ['2001:db8::8']],
    ['::/0', ['2001:db8::7'], ['203.0.113.9']],
  ])('of %s are compared as numbers', async (range, inside, outside) => {
    const { body } = await add({ description: null, allowed_ips: [range] })
    const made = `${body.attributes.identifier}${body.meta.secret_token}`
    const from = async (ip: string) => (await world.request('GET', path, { token: made, ip })).status
    for (const ip of inside) expect(await from(ip), ip).toBe(200)
    for (const ip of outside) expect(await from(ip), ip).toBe(403)
  })
})
