import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, users } from '../../src/db/schema.ts'
import { makeClientToken, makeKey, makeServer, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { eventsIn, makeEntry, refusalIn } from './activity-fixtures.ts'

const world = useWorld()
const path = '/api/client/account/activity'
let user: Awaited<ReturnType<typeof makeUser>>
let token: string

beforeEach(async () => {
  user = await makeUser(world)
  token = await makeClientToken(world, user)
})

const read = (query = '', as = token) => world.request('GET', `${path}${query}`, { token: as })
/** Inserts an entry about the account, with its user as the actor. */
const make = (event: string, values: Parameters<typeof makeEntry>[1] = {}) =>
  makeEntry(world, { event, userId: user.id, actorId: user.id, ...values })

describe('an entry', () => {
  it('is shown as the ecosystem shows it', async () => {
    const { row } = await makeKey(world, user, { type: 'account' })
    const entry = await make('user:api-key.create', {
      apiKeyId: row.id,
      source: 'api',
      properties: { identifier: 'ptlc_Zq3VtR8mWk1' },
      timestamp: new Date('2031-06-07T01:02:03.999Z'),
    })
    const answer = await read()
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      object: 'list',
      data: [
        {
          object: 'activity_log',
          attributes: {
            id: createHash('sha1').update(String(entry.id)).digest('hex'),
            batch: null,
            event: 'user:api-key.create',
            is_api: true,
            ip: '203.0.113.9',
            description: null,
            properties: { identifier: 'ptlc_Zq3VtR8mWk1' },
            has_additional_metadata: false,
            timestamp: '2031-06-07T01:02:03+00:00',
          },
        },
      ],
      meta: {
        pagination: { total: 1, count: 1, per_page: 25, current_page: 1, total_pages: 1, links: {} },
        available_events: ['user:api-key.create'],
      },
    })
  })

  it('has the lengths of its lists beside them, and folders with one slash around', async () => {
    await make('server:file.delete', { properties: { directory: 'logs//', files: ['a', 'b'] }, ago: 1 })
    await make('server:subuser.update', { properties: { old: ['a'], new: ['a', 'b', 'c'] }, ago: 2 })
    await make('server:file.delete', { properties: { directory: '/', files: [] }, ago: 3 })
    await make('x', { properties: { directory: 7, nested: { a: 1 } }, ago: 4 })
    const { body } = await read()
    expect(body.data.map(({ attributes }: any) => attributes.properties)).toEqual([
      { directory: '/logs/', files: ['a', 'b'], count: 2 },
      { old: ['a'], new: ['a', 'b', 'c'], old_count: 1, new_count: 3 },
      { directory: '/', files: [], count: 0 },
      { directory: 7, nested: { a: 1 } },
    ])
  })

  it('says whether there is more to it than a text tells', async () => {
    const cases = [
      ['server:file.delete', { directory: '/', files: ['a'] }, false],
      ['server:power.start', {}, false],
      ['server:file.write', { file: '/a', ip: '::1', useragent: 'x', using_sftp: true }, false],
      ['server:file.write', { file: '/a', extra: 1 }, true],
      ['server:subuser.create', { email: 'a@example.test', permissions: ['file.read'] }, true],
      ['server:unknown', { file: '/a' }, true],
      ['constructor', { name: 1 }, true],
    ] as const
    for (const [at, [event, properties]] of cases.entries()) await make(event, { properties, ago: at })
    const { body } = await read()
    expect(body.data.map(({ attributes }: any) => attributes.has_additional_metadata)).toEqual(
      cases.map(([, , more]) => more),
    )
  })

  it('shows addresses to the user who acted, and to administrators', async () => {
    const properties = { ip: '198.51.100.7' }
    const otherUser = await makeUser(world)
    await make('auth:fail', { actorId: otherUser.id, properties, ago: 1 })
    await make('auth:fail', { actorId: null, properties, ago: 2 })
    await make('auth:success', { properties, ago: 3 })
    const shown = async () =>
      (await read()).body.data.map(({ attributes }: any) => [attributes.ip, attributes.properties.ip])
    expect(await shown()).toEqual([
      [null, '[hidden]'],
      [null, '[hidden]'],
      ['203.0.113.9', '198.51.100.7'],
    ])
    await world.database.db.update(users).set({ rootAdmin: true })
    expect(await shown()).toEqual([
      ['203.0.113.9', '[hidden]'],
      ['203.0.113.9', '[hidden]'],
      ['203.0.113.9', '198.51.100.7'],
    ])
  })

  it('has its actor where that is asked for', async () => {
    const gone = await makeUser(world)
    await make('auth:success', { ago: 1 })
    await make('auth:fail', { actorId: null, ago: 2 })
    await make('auth:fail', { actorId: gone.id + 1, ago: 3 })
    const noActor = { object: 'null_resource', attributes: null }
    const actors = async (query: string) =>
      (await read(query)).body.data.map(({ attributes }: any) => attributes.relationships)
    expect(await actors('')).toEqual([undefined, undefined, undefined])
    expect(await actors('?include=nothing,actor')).toEqual([
      {
        actor: {
          object: 'user',
          attributes: {
            uuid: user.uuid,
            username: user.username,
            email: user.email,
            image: expect.stringMatching(/^https:\/\/gravatar\.com\/avatar\/[0-9a-f]{32}$/),
            '2fa_enabled': false,
            created_at: expect.stringMatching(/\+00:00$/),
          },
        },
      },
      { actor: noActor },
      { actor: noActor },
    ])
    expect((await actors('?include[]=actor'))[1]).toEqual({ actor: noActor })
  })
})

describe('the feed of an account', () => {
  it('has the events of the account, by any actor, and nothing else', async () => {
    const other = await makeUser(world, { rootAdmin: true })
    const server = await makeServer(world, { owner: user })
    await make('user:account.password-changed', { actorId: other.id })
    await makeEntry(world, { event: 'auth:success', userId: other.id, actorId: user.id })
    await makeEntry(world, { event: 'server:power.kill', serverId: server.id, actorId: user.id })
    const answer = await read()
    expect(eventsIn(answer)).toEqual(['user:account.password-changed'])
    expect(answer.body.meta.available_events).toEqual(['user:account.password-changed'])
  })

  it('has what the account routes record', async () => {
    const { body } = await world.request('POST', '/api/client/account/api-keys', {
      token,
      body: { description: 'x' },
    })
    const { identifier } = body.attributes
    await world.request('DELETE', `/api/client/account/api-keys/${identifier}`, { token })
    expect(eventsIn(await read())).toEqual(['user:api-key.delete', 'user:api-key.create'])
  })

  it('comes newest first, of equal instants the later one, or the other way round', async () => {
    for (const [event, ago] of [
      ['b', 5],
      ['a', 9],
      ['c', 5],
      ['d', 1],
    ] as const)
      await make(event, { ago })
    expect(eventsIn(await read())).toEqual(['d', 'c', 'b', 'a'])
    expect(eventsIn(await read('?sort=-timestamp'))).toEqual(['d', 'c', 'b', 'a'])
    expect(eventsIn(await read('?sort=timestamp'))).toEqual(['a', 'b', 'c', 'd'])
    expect(refusalIn(await read('?sort=event'))).toEqual([400, 'InvalidSortQuery'])
  })

  it('comes in pages that link to each other', async () => {
    for (let at = 0; at < 7; at += 1) await make(`event-${at}`, { ago: at })
    const seen: string[] = []
    for (const page of [1, 2, 3, 4]) {
      const answer = await read(`?per_page=2&filter[event]=event&page=${page}`)
      const { pagination } = answer.body.meta
      expect(pagination).toMatchObject({ total: 7, per_page: 2, current_page: page, total_pages: 4 })
      expect(Object.keys(pagination.links)).toEqual(
        page === 1 ? ['next'] : page === 4 ? ['previous'] : ['previous', 'next'],
      )
      if (pagination.links.next) expect(pagination.links.next).toContain(`page=${page + 1}`)
      seen.push(...eventsIn(answer))
    }
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6].map((at) => `event-${at}`))
    const beyond = await read('?per_page=2&page=9')
    expect([beyond.status, eventsIn(beyond), beyond.body.meta.available_events.length]).toEqual([200, [], 7])
    expect((await read('?page=10000000&per_page=100')).body.data).toEqual([])
  })

  it('is empty without entries', async () => {
    const { body } = await read()
    expect(body.data).toEqual([])
    expect(body.meta.available_events).toEqual([])
    expect(body.meta.pagination).toMatchObject({ total: 0, total_pages: 1 })
  })

  it.each([
    ['page=0', 'page: min'],
    ['page=-1', 'page: min'],
    ['page=x', 'page: integer'],
    ['page=1.5', 'page: integer'],
    ['page=99999999999', 'page: max'],
    ['per_page=0', 'per_page: min'],
    ['per_page=101', 'per_page: max'],
    ['per_page=many', 'per_page: integer'],
    ['filter[ip]=203.0.113', 'filter.ip: ip'],
    ['filter[ip]=203.0.113.9,203.0.113.8', 'filter.ip: ip'],
    ['filter[period]=1h', 'filter.period: in'],
    ['filter[period]=24h,7d', 'filter.period: in'],
    ['filter[date]=2026-02-30', 'filter.date: date_format'],
    ['filter[date]=07.06.2031', 'filter.date: date_format'],
    ['filter[date]=0000-01-01', 'filter.date: date_format'],
    ['filter[date]=9999-12-31', 'filter.date: date_format'],
    ['filter[source]=daemon', 'filter.source: in'],
    ['filter[source]=constructor', 'filter.source: in'],
    [`filter[event]=${'x'.repeat(256)}`, 'filter.event: max'],
    [`filter[event_exact]=${'x'.repeat(256)}`, 'filter.event_exact: max'],
    ['filter=x', 'filter: array'],
  ])('refuses %s', async (query, refusal) => {
    expect(refusalIn(await read(`?${query}`))).toEqual([422, refusal])
  })

  it('refuses filters that it does not know', async () => {
    expect(refusalIn(await read('?filter[user]=1&page=0'))).toEqual([400, 'InvalidFilterQuery'])
    expect(refusalIn(await read('?filter[event][]=1'))).toEqual([400, 'BadRequestHttpException'])
    expect((await read('?filter[event]=&page=&per_page=&sort=')).status).toBe(200)
  })
})

describe('filters', () => {
  const matching = async (query: string) => eventsIn(await read(`?${query}`)).toSorted()

  it('by event find parts of names in any case, or names', async () => {
    for (const event of ['user:api-key.create', 'user:ssh-key.create', 'auth:success', 'odd%_\\name']) {
      await make(event)
      await make(event)
    }
    const keys = ['user:api-key.create', 'user:api-key.create', 'user:ssh-key.create', 'user:ssh-key.create']
    expect(await matching('filter[event]=KEY.')).toEqual(keys)
    expect(await matching('filter[event]=api,ssh')).toEqual(keys)
    expect(await matching('filter[event]=nothing')).toEqual([])
    expect(await matching('filter[event]=%25_%5C')).toEqual(['odd%_\\name', 'odd%_\\name'])
    expect(await matching('filter[event]=a%25e')).toEqual([])
    expect(await matching('filter[event_exact]=auth')).toEqual([])
    expect(await matching('filter[event_exact]=auth:success')).toEqual(['auth:success', 'auth:success'])
    expect(await matching('filter[event_exact]=auth:success&filter[event]=user')).toEqual([])
    const { body } = await read('?filter[event]=ssh')
    expect(body.meta.pagination.total).toBe(2)
    expect(body.meta.available_events).toHaveLength(4)
  })

  it('by period and date look at the instant', async () => {
    const { now } = world.clock
    const day = 86_400
    for (const [event, days] of [
      ['day', 1],
      ['week', 7],
      ['month', 30],
      ['quarter', 90],
    ] as const) {
      await make(event, { ago: days * day })
      await make(`${event}-over`, { ago: days * day + 1 })
    }
    expect(await matching('filter[period]=24h')).toEqual(['day'])
    expect(await matching('filter[period]=7d')).toEqual(['day', 'day-over', 'week'])
    expect(await matching('filter[period]=30d')).toHaveLength(5)
    expect(await matching('filter[period]=90d')).toHaveLength(7)
    await world.database.db.delete(activity)
    await make('last', { timestamp: new Date('2031-06-06T23:59:59.999Z') })
    await make('first', { timestamp: new Date('2031-06-07T00:00:00Z') })
    await make('late', { timestamp: new Date('2031-06-07T23:59:59.999Z') })
    await make('next', { timestamp: new Date('2031-06-08T00:00:00Z') })
    expect(await matching('filter[date]=2031-06-07')).toEqual(['first', 'late'])
    expect(await matching('filter[date]=2031-06-07&filter[event]=late')).toEqual(['late'])
    expect(now).toBe(world.clock.now)
  })

  it('by source find the source of the event', async () => {
    for (const source of ['web', 'api', 'sftp', 'system'] as const) await make(`by-${source}`, { source })
    for (const source of ['web', 'api', 'sftp', 'system']) {
      expect(await matching(`filter[source]=${source}`)).toEqual([`by-${source}`])
    }
  })

  it('by address find own entries alone, unless for administrators', async () => {
    await make('own', { ip: '2001:db8::7' })
    await make('own-elsewhere', { ip: '2001:db8::8' })
    await make('foreign', { ip: '2001:db8::7', actorId: null })
    expect(await matching('filter[ip]=2001:DB8:0::7')).toEqual(['own'])
    expect((await read('?filter[ip]=2001:db8::7')).body.meta.pagination.total).toBe(1)
    await world.database.db.update(users).set({ rootAdmin: true })
    expect(await matching('filter[ip]=2001:db8::7')).toEqual(['foreign', 'own'])
  })
})
