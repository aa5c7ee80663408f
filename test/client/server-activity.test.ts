import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, settings } from '../../src/db/schema.ts'
import { makeClientToken, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { eventsIn, makeEntry, refusalIn } from './activity-fixtures.ts'
import { conflictsOf } from './conflicts.ts'

const world = useWorld()
let owner: Awaited<ReturnType<typeof makeUser>>
let server: Awaited<ReturnType<typeof makeServer>>
let token: string

beforeEach(async () => {
  owner = await makeUser(world)
  server = await makeServer(world, { owner })
  token = await makeClientToken(world, owner)
})

const read = (query = '', as = token) =>
  world.request('GET', `/api/client/servers/${server.uuid}/activity${query}`, { token: as })
/** Inserts an entry about the server, with its owner as the actor. */
const make = (event: string, values: Parameters<typeof makeEntry>[1] = {}) =>
  makeEntry(world, { event, serverId: server.id, actorId: owner.id, ...values })

describe('the feed of a server', () => {
  it('has the events of the server, by any actor, and nothing else', async () => {
    const other = await makeServer(world, { owner })
    await make('server:power.start', { ago: 2 })
    await make('server:sftp.write', { actorId: null, ago: 1 })
    await makeEntry(world, { event: 'server:power.kill', serverId: other.id, actorId: owner.id })
    await makeEntry(world, { event: 'auth:success', userId: owner.id, actorId: owner.id })
    const answer = await read()
    expect(eventsIn(answer)).toEqual(['server:sftp.write', 'server:power.start'])
    expect(answer.body.meta.available_events).toEqual(['server:power.start', 'server:sftp.write'])
    expect(refusalIn(await read('?per_page=0'))).toEqual([422, 'per_page: min'])
    expect(refusalIn(await read('?filter[x]=1'))).toEqual([400, 'InvalidFilterQuery'])
  })

  it('never tells of uploads', async () => {
    for (let at = 0; at < 5; at += 1) await make('server:file.upload', { ago: at })
    await make('server:file.write', { ago: 9 })
    for (const query of [
      '',
      '?filter[event]=file',
      '?filter[event_exact]=server:file.upload,server:file.write',
    ]) {
      const answer = await read(query)
      expect(eventsIn(answer), query).toEqual(['server:file.write'])
      expect(answer.body.meta.pagination.total).toBe(1)
      expect(answer.body.meta.available_events).toEqual(['server:file.write'])
    }
  })

  it('is open to every user with access to the server, with the addresses of their own actions', async () => {
    const friend = await makeUser(world)
    await makeSubuser(world, server, friend, [])
    const admin = await makeUser(world, { rootAdmin: true })
    await make('server:power.start', { ago: 2 })
    await make('server:power.stop', { actorId: friend.id, ip: '2001:db8::7', ago: 1 })
    const addresses = async (as: string) =>
      (await read('', as)).body.data.map(({ attributes }: any) => attributes.ip)
    expect(await addresses(token)).toEqual([null, '203.0.113.9'])
    expect(await addresses(await makeClientToken(world, friend))).toEqual(['2001:db8::7', null])
    expect(await addresses(await makeClientToken(world, admin))).toEqual(['2001:db8::7', '203.0.113.9'])
    expect((await read('?filter[ip]=2001:db8::7')).body.data).toEqual([])
    const otherUser = await makeClientToken(world, await makeUser(world))
    expect((await read('', otherUser)).status).toBe(404)
  })

  it('is refused in every state that conflicts', async () => {
    for (const { state, caller, refused } of await conflictsOf(world, server, [['GET', '/activity']])) {
      expect(refused, `${state}, ${caller}`).toEqual(['GET /activity'])
    }
    expect((await read()).status).toBe(200)
  })

  it('leaves out administrators without a share in the server where the settings say so', async () => {
    const admin = await makeUser(world, { rootAdmin: true })
    const helper = await makeUser(world, { rootAdmin: true })
    await makeSubuser(world, server, helper, [])
    await make('by-owner')
    await make('by-system', { actorId: null })
    await make('by-admin', { actorId: admin.id })
    await make('by-helper', { actorId: helper.id })
    const all = ['by-admin', 'by-helper', 'by-owner', 'by-system']
    const without = ['by-helper', 'by-owner', 'by-system']
    const adminToken = await makeClientToken(world, admin)
    const seen = async (as: string, query = '') => {
      const answer = await read(query, as)
      expect(answer.body.meta.available_events).toHaveLength(answer.body.meta.pagination.total)
      return [eventsIn(answer).toSorted(), answer.body.meta.available_events]
    }
    expect(await seen(token)).toEqual([all, all])
    const key = 'activity.hide_admin_activity'
    await world.database.db.insert(settings).values({ key, value: true })
    for (const as of [token, adminToken]) {
      expect(await seen(as)).toEqual([without, without])
      expect(await seen(as, '?filter[event]=by')).toEqual([without, without])
    }
    await world.database.db.update(settings).set({ value: false })
    expect(await seen(token)).toEqual([all, all])
  })

  it('shows what a route below the server recorded', async () => {
    await world.request('POST', `/api/client/servers/${server.uuid}/settings/rename`, {
      token,
      body: { name: 'Another' },
    })
    const { body } = await read('?include=actor')
    expect(body.data[0].attributes).toMatchObject({
      event: 'server:settings.rename',
      is_api: true,
      properties: { new: 'Another' },
      relationships: { actor: { object: 'user', attributes: { uuid: owner.uuid } } },
    })
  })

  it('takes one statement, whatever is asked for', async () => {
    await make('server:power.start')
    await read()
    const queries = [
      '',
      '?page=3',
      '?include=actor',
      '?filter[event]=power&filter[period]=7d&filter[source]=web',
    ]
    for (const query of queries) expect(await world.countStatements(() => read(query)), query).toBe(1)
  })
})

describe('a feed of many entries', () => {
  const many = 10_150

  beforeEach(() =>
    world.database.db.execute(sql`
      insert into ${activity} (timestamp, event, source, server_id, actor_id)
      select now() - n * interval '1 second', case when n % 2 = 0 then 'even' else 'odd' end, 'api',
        ${server.id}, ${owner.id}
      from generate_series(1, ${many}) n`),
  )

  it('counts them exactly up to 10,000, and beyond that as far as its reader has come', async () => {
    const total = async (query: string) => (await read(query)).body.meta.pagination.total
    expect(await total('?filter[event_exact]=odd')).toBe(many / 2)
    expect(await total('?filter[event]=o')).toBe(many / 2)
    expect(await total('')).toBe(10_001)
    expect(await total('?filter[event]=d,e')).toBe(10_001)
    expect(await total('?per_page=100&page=101')).toBe(10_200)
    expect(await total('?per_page=100&page=102')).toBe(many)
  })

  it('shows each to a reader of all pages once', async () => {
    const seen = new Set<string>()
    let pages = 99
    for (let page = 1; page <= pages; page += 1) {
      const { body } = await read(`?per_page=100&page=${page}&filter[event]=e,o`)
      for (const { attributes } of body.data) seen.add(attributes.id)
      pages = body.meta.pagination.total_pages
    }
    expect(seen.size).toBe(many)
  }, 60_000)
})
