import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { activity } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { eventsIn, makeEntry, refusalIn } from '../client/activity-fixtures.ts'
import { fullAcl, makeApplicationToken, makeKey, makeServer, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const path = '/api/application/activity'
let admin: User
let token: string
let key: { id: number; identifier: string }

beforeEach(async () => {
  admin = await makeUser(world, { rootAdmin: true, username: 'ada' })
  const made = await makeKey(world, admin, { type: 'application', acl: fullAcl })
  token = made.token
  key = made.row
})

const get = (query = '', headers: Record<string, string> = {}) =>
  world.request('GET', path + query, { token, headers })
const createLocation = (short: string) =>
  world.request('POST', '/api/application/locations', { token, body: { short } })
const lines = (text: string) => text.split('\n').filter(Boolean)
const ids = (text: string) => objects(text).map(({ id }) => id)
const objects = (text: string) => lines(text).map((line) => JSON.parse(line))
/** Sets the limit of the platform for one answer. */
const limitAnswers = (maxResponseBytes: number) =>
  Object.assign(world.services, { config: { ...world.services.config, maxResponseBytes } })

describe('the activity of the panel', () => {
  it('shows each entry with its key, the owner of the key, and what it is about', async () => {
    await createLocation('fra')
    let answer: any
    expect(await world.countStatements(async () => (answer = await get()))).toBe(1)
    expect(answer.body).toMatchObject({
      object: 'list',
      meta: { available_events: ['admin:location.create'], pagination: { total: 1, per_page: 50 } },
    })
    expect(answer.body.data).toEqual([
      {
        object: 'activity_log',
        attributes: {
          id: expect.any(Number),
          event: 'admin:location.create',
          source: 'api',
          ip: '192.0.2.1',
          acted_for: null,
          acted_for_id: null,
          actor_id: admin.id,
          actor: 'ada',
          api_key_id: key.id,
          api_key: key.identifier,
          server_id: null,
          user_id: null,
          node_id: null,
          subjects: [{ type: 'location', id: expect.any(Number) }],
          description: null,
          properties: { short: 'fra' },
          timestamp: expect.any(String),
        },
      },
    ])
  })

  it('has the entries of all accounts and servers, and outlives key and account', async () => {
    const server = await makeServer(world)
    const gone = await makeUser(world)
    await makeEntry(world, { serverId: server.id, actorId: gone.id, ago: 3 })
    await makeEntry(world, { event: 'auth:fail', userId: gone.id, apiKeyId: 999, ago: 2 })
    await world.request('DELETE', `/api/application/users/${gone.id}`, { token })
    const { body } = await get()
    expect(eventsIn({ body } as never)).toEqual(['admin:user.delete', 'auth:fail', 'server:power.start'])
    expect(body.data[1].attributes).toMatchObject({ user_id: gone.id, api_key_id: 999, api_key: null })
    expect(body.data[2].attributes).toMatchObject({ server_id: server.id, actor_id: gone.id, actor: null })
  })

  it('takes the filters, the sort and the pages of the other feeds', async () => {
    const day = 86_400
    await makeEntry(world, { event: 'auth:fail', source: 'web', ip: '203.0.113.1', ago: 40 * day })
    await makeEntry(world, { event: 'auth:success', source: 'web', ip: '203.0.113.2', ago: 2 * day })
    await makeEntry(world, { event: 'admin:job.retry', source: 'system', ip: null, ago: 60 })
    const events = async (query: string) => eventsIn(await get(query))
    expect(await events('?filter[event]=AUTH:')).toEqual(['auth:success', 'auth:fail'])
    expect(await events('?filter[event_exact]=auth:fail,admin:job.retry')).toEqual([
      'admin:job.retry',
      'auth:fail',
    ])
    expect(await events('?filter[ip]=203.0.113.1')).toEqual(['auth:fail'])
    expect(await events('?filter[period]=7d')).toEqual(['admin:job.retry', 'auth:success'])
    expect(await events('?filter[source]=system')).toEqual(['admin:job.retry'])
    const date = new Date(world.clock.now.getTime() - 40 * day * 1000).toISOString().slice(0, 10)
    expect(await events(`?filter[date]=${date}`)).toEqual(['auth:fail'])
    expect(await events('?sort=timestamp&per_page=1&page=2')).toEqual(['auth:success'])
    expect(refusalIn(await get('?filter[actor]=1'))).toEqual([400, 'InvalidFilterQuery'])
    expect(refusalIn(await get('?format=xml'))).toEqual([422, 'format: in'])
    expect(refusalIn(await get('?format=csv&cursor=1'))).toEqual([422, 'cursor: regex'])
    expect(refusalIn(await get('?format=csv&filter[source]=x'))).toEqual([422, 'filter.source: in'])
  })

  it('finds what a user did, and what is about a server, also as a subject', async () => {
    const server = await makeServer(world)
    const [one, other] = [await makeUser(world), await makeUser(world)]
    await makeEntry(world, { serverId: server.id, actorId: one.id, ago: 4 })
    await makeEntry(world, { event: 'server:file.write', actorId: one.id, ago: 3 })
    await makeEntry(world, { event: 'auth:success', actorId: other.id, ago: 2 })
    await world.request('POST', `/api/application/servers/${server.id}/suspend`, { token })
    const events = async (query: string) => eventsIn(await get(query))
    expect(await events(`?filter[actor_id]=${one.id}`)).toEqual(['server:file.write', 'server:power.start'])
    expect(await events(`?filter[server_id]=${server.id}`)).toEqual([
      'admin:server.suspend',
      'server:power.start',
    ])
    expect(await events(`?filter[server_id]=${server.id}&filter[actor_id]=${one.id}`)).toEqual([
      'server:power.start',
    ])
    const ofServer = `?filter[server_id]=${server.id}`
    expect(await events(`${ofServer}&filter[event]=admin`)).toEqual(['admin:server.suspend'])
    expect(await events(`${ofServer}&filter[event]=server&sort=timestamp`)).toEqual([
      'server:power.start',
      'admin:server.suspend',
    ])
    expect(await events(`${ofServer}&per_page=1&page=2`)).toEqual(['server:power.start'])
    const csv = await get(`?format=csv&filter[server_id]=${server.id}&filter[event]=admin`)
    expect(csv.text.trim().split('\r\n')).toEqual([
      expect.stringMatching(/^id,/),
      expect.stringContaining('admin:server.suspend'),
    ])
    expect(refusalIn(await get('?filter[server_id]=x'))).toEqual([422, 'filter.server_id: integer'])
  })

  it('needs the level to read activity, whatever else a key can do', async () => {
    await makeEntry(world)
    const without = await makeApplicationToken(world, { ...fullAcl, activity: 2 })
    for (const query of ['', '?format=csv', '?format=ndjson'])
      expect((await world.request('GET', path + query, { token: without })).status).toBe(403)
    const only = await makeApplicationToken(world, { activity: 1 })
    expect((await world.request('GET', path, { token: only })).body.data).toHaveLength(1)
  })
})

describe('an export of the activity', () => {
  const makeEntries = (count: number, values = sql`'auth:success'`) =>
    world.database.db.execute(sql`insert into activity (event, source, ip, timestamp, properties)
      select ${values}, 'web', '203.0.113.9', ${world.clock.now.toISOString()}::timestamptz - (n / 3) * interval '1 second',
        jsonb_build_object('n', n) from generate_series(1, ${count}) n`)

  it('has every entry once, in the order of the feed, by format or by Accept', async () => {
    await makeEntries(451)
    const expected = Array.from({ length: 451 }, (_, at) => at + 1)
    const numbers = (text: string) => objects(text).map(({ properties }) => properties.n)
    const exported = await get('?format=ndjson')
    expect(exported.headers.get('content-type')).toBe('application/x-ndjson')
    expect(exported.headers.get('content-disposition')).toBe('attachment; filename="activity.ndjson"')
    expect(numbers(exported.text).toSorted((a, b) => a - b)).toEqual(expected)
    const times = objects(exported.text).map(({ timestamp, id }) => [timestamp, id])
    expect(times).toEqual(
      times.toSorted(([one, a], [other, b]) => (one === other ? b - a : one < other ? 1 : -1)),
    )
    const accepted = await get('', { accept: 'application/x-ndjson' })
    expect(accepted.text === exported.text).toBe(true)
    const oldest = await get('?sort=timestamp&format=ndjson')
    expect(ids(oldest.text)).toEqual(ids(exported.text).toReversed())
    expect((await get('?format=json', { accept: 'text/csv' })).body.data).toHaveLength(50)
    expect((await get('', { accept: 'application/json, text/csv;q=0.5' })).body.data).toHaveLength(50)
  })

  it('takes the filters, also where whole parts of the log do not match', async () => {
    await makeEntry(world, { event: 'auth:fail', ago: 9000 })
    await makeEntries(800)
    for (const query of [
      'filter[event]=fail',
      'filter[event_exact]=auth:fail',
      'filter[event]=fail&filter[source]=web',
    ])
      expect(objects((await get(`?format=ndjson&${query}`)).text).map(({ event }) => event)).toEqual([
        'auth:fail',
      ])
    expect((await get('?format=ndjson&filter[source]=sftp')).text).toBe('')
    const csv = await get('?format=csv&filter[source]=sftp')
    expect(csv.text.split('\r\n')).toEqual([expect.stringMatching(/^id,timestamp,event,/), ''])
  })

  it('as CSV quotes what has to be quoted, and leaves spreadsheets no formula', async () => {
    await createLocation('a "b", c')
    await makeEntry(world, { event: 'auth:fail', description: '=1+1,\n"x"', ip: null, ago: 5 })
    const { text, headers } = await get('', { accept: 'text/csv' })
    expect(headers.get('content-type')).toMatch(/^text\/csv; charset=UTF-8/)
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    const [header = '', first = '', ...rest] = text.split('\r\n')
    expect(header.split(',').slice(0, 9)).toEqual([
      'id',
      'timestamp',
      'event',
      'source',
      'ip',
      'actor_id',
      'actor',
      'api_key_id',
      'api_key',
    ])
    expect(first).toMatch(/,admin:location\.create,api,192\.0\.2\.1,\d+,ada,\d+,ptla_\w+,,,,"\[\{""type""/)
    expect(first).toContain(String.raw`"{""short"":""a \""b\"", c""}"`)
    expect(rest.join('\r\n')).toContain(`,"'=1+1,\n""x""",`)
  })

  it('streams: a part is read when the caller takes it, and none after the caller hung up', async () => {
    await makeEntries(2000)
    world.database.statements.length = 0
    const headers = { authorization: `Bearer ${token}` }
    const answer = await world.app.request(`http://panel.test${path}?format=ndjson`, { headers })
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    const reads = () => world.database.statements.filter((text) => text.includes('scanned')).length
    await vi.waitFor(() => expect(reads()).toBeGreaterThan(1))
    const early = reads()
    expect(early).toBeLessThan(5)
    await reader.cancel()
    expect(reads()).toBeLessThan(6)
    let count = 0
    const whole = await world.app.request(`http://panel.test${path}?format=ndjson`, { headers })
    for await (const chunk of whole.body as unknown as AsyncIterable<Uint8Array>)
      count += lines(Buffer.from(chunk).toString()).length
    expect(count).toBe(2000)
  })

  it('leaves out what is recorded meanwhile, and ends', async () => {
    await makeEntries(500)
    const headers = { authorization: `Bearer ${token}` }
    const answer = await world.app.request(`http://panel.test${path}?format=ndjson&sort=timestamp`, {
      headers,
    })
    await world.database.db
      .insert(activity)
      .values({ event: 'auth:fail', source: 'web', timestamp: new Date(world.clock.now.getTime() + 1000) })
    expect(objects(await answer.text())).toHaveLength(500)
  })

  it('in whole answers, as Lambda sends them, names the rest in Link, and has every entry once', async () => {
    await makeEntries(700)
    const { text: whole } = await get('?format=csv')
    limitAnswers(20_000)
    let text = ''
    let next: string | null = `${path}?format=csv&filter[source]=web`
    let answers = 0
    while (next) {
      const answer = await world.request('GET', next, { token })
      expect(Buffer.byteLength(answer.text)).toBeLessThan(21_000)
      text += answer.text
      answers += 1
      const [, link] = /^<(.*)>; rel="next"$/.exec(answer.headers.get('link') ?? '') ?? []
      next = link ? link.replace('http://panel.test', '') : null
    }
    expect(answers).toBeGreaterThan(2)
    expect(text === whole).toBe(true)
    limitAnswers(1)
    const one = await get('?format=ndjson')
    expect(lines(one.text)).toHaveLength(1)
    expect(one.headers.get('link')).toContain('cursor=')
  })

  it('continues behind entries that moved in, whose ids are below zero', async () => {
    const timestamp = new Date(world.clock.now.getTime() - 86_400_000)
    const moved = [1, 2, 3].map((id) => ({
      id: id - 1e14,
      event: 'auth:fail',
      source: 'web' as const,
      timestamp,
    }))
    await world.database.db.insert(activity).values(moved)
    limitAnswers(1)
    const found: number[] = []
    let next: string | null = `${path}?format=ndjson`
    while (next) {
      const answer = await world.request('GET', next, { token })
      expect(answer.status).toBe(200)
      found.push(...ids(answer.text))
      const [, link] = /^<(.*)>; rel="next"$/.exec(answer.headers.get('link') ?? '') ?? []
      next = link ? link.replace('http://panel.test', '') : null
    }
    expect(found).toEqual([3 - 1e14, 2 - 1e14, 1 - 1e14])
  })

  it('that fails before its first entry is an ordinary refusal', async () => {
    await makeEntries(1)
    const authenticated = world.services.db
    const refuse = () => {
      throw Object.assign(new Error('gone'), { code: '08006' })
    }
    const db = Object.assign(Object.create(authenticated) as typeof authenticated, { select: refuse })
    Object.assign(world.services, { db })
    const errors = vi.spyOn(console, 'error').mockReturnValue(undefined)
    const answer = await get('?format=csv')
    errors.mockRestore()
    expect(answer.status).toBe(503)
  })
})
