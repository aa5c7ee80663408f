import { beforeEach, describe, expect, it } from 'vitest'
import { activity, subusers, throttles } from '../../src/db/schema.ts'
import { maxEntriesPerDay } from '../../src/domain/activity/daemon-reports.ts'
import { makeNode, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { type RequestOptions, useWorld } from '../support/world.ts'

const world = useWorld()
let node: Awaited<ReturnType<typeof makeNode>>
let owner: Awaited<ReturnType<typeof makeUser>>
let server: Awaited<ReturnType<typeof makeServer>>

beforeEach(async () => {
  node = await makeNode(world)
  owner = await makeUser(world)
  server = await makeServer(world, { node, owner })
})

const entry = (values: Record<string, unknown> = {}) => ({
  user: owner.uuid,
  server: server.uuid,
  event: 'server:console.command',
  metadata: { command: 'say hi' },
  ip: '203.0.113.9',
  timestamp: '2031-03-02T10:11:12.123456789Z',
  ...values,
})

const send = (options: RequestOptions) =>
  world.request('POST', '/api/remote/activity', { token: node.token, ...options })
const report = (...data: unknown[]) => send({ body: { data } })
const rows = () => world.database.db.select().from(activity).orderBy(activity.id)

/** Reports one entry with these values; returns its row, or undefined when it was dropped. */
const stored = async (values: Record<string, unknown>) => {
  await world.database.db.delete(activity)
  expect((await report(entry(values))).status).toBe(200)
  return (await rows())[0]
}

describe('a batch of activity', () => {
  it('is stored with its server, actor, address, node and time', async () => {
    const answer = await report(entry())
    expect(answer).toMatchObject({ status: 200, body: {} })
    expect(await rows()).toMatchObject([
      {
        event: 'server:console.command',
        serverId: server.id,
        actorId: owner.id,
        userId: null,
        apiKeyId: null,
        nodeId: node.id,
        ip: '203.0.113.9',
        source: 'system',
        timestamp: new Date('2031-03-02T10:11:12.123Z'),
        properties: { command: 'say hi' },
      },
    ])
  })

  it('of 100 entries takes one statement, the first of a node two, and keeps their order', async () => {
    const data = Array.from({ length: 100 }, (_, at) => entry({ metadata: { command: `say ${at}` } }))
    const halves = [data.slice(0, 50), data.slice(50)]
    const statements = []
    for (const half of halves) statements.push(await world.countStatements(() => report(...half)))
    expect(statements).toEqual([2, 1])
    expect((await rows()).map(({ properties }) => properties.command)).toEqual(
      data.map(({ metadata }) => metadata.command),
    )
  })

  it('adds nothing when it comes again, not even entries without a readable time', async () => {
    const data = [
      entry(),
      entry({ timestamp: 'now' }),
      entry({ event: 'server:power.start', metadata: null }),
    ]
    await report(...data)
    world.clock.advance(60)
    expect((await report(...data, entry({ event: 'server:power.stop' }))).status).toBe(200)
    expect(await world.events()).toEqual([
      'server:console.command',
      'server:console.command',
      'server:power.start',
      'server:power.stop',
    ])
  })

  it('adds each entry once when it comes several times at once', async () => {
    const data = Array.from({ length: 20 }, (_, at) => entry({ metadata: { command: String(at) } }))
    const answers = await Promise.all(Array.from({ length: 5 }, () => report(...data, ...data)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(await rows()).toHaveLength(20)
  })

  it('is considered up to 1,000 entries', async () => {
    await report(...Array.from({ length: 1002 }, (_, at) => entry({ metadata: { at } })))
    expect(await rows()).toHaveLength(1000)
  })

  it('is counted by what it adds, and dropped once the node has added enough for a day', async () => {
    const key = `activity:${node.id}`
    const hits = async () => (await world.database.db.select().from(throttles))[0]?.hits
    await report(entry(), entry({ event: 'server:power.start' }))
    await report(entry(), entry({ event: 'server:power.stop' }))
    expect(await hits()).toBe(3)
    await world.database.db.update(throttles).set({ hits: maxEntriesPerDay - 1 })
    const fresh = (n: number) => entry({ metadata: { n } })
    expect((await report(fresh(1), fresh(2))).status).toBe(200)
    expect((await report(fresh(3))).status).toBe(200)
    expect(await rows()).toHaveLength(5)
    const other = await makeNode(world)
    const server = await makeServer(world, { node: other })
    const body = { data: [entry({ server: server.uuid })] }
    await world.request('POST', '/api/remote/activity', { token: other.token, body })
    expect(await rows()).toHaveLength(6)
    world.clock.advance(86_401)
    await report(fresh(4))
    expect(await rows()).toHaveLength(7)
    const counters = await world.database.db.select().from(throttles)
    expect(counters.find((row) => row.key === key)?.hits).toBe(1)
  })

  it('may be empty', async () => {
    expect((await report()).status).toBe(200)
  })

  it('needs a list', async () => {
    for (const [raw, rule] of [
      ['{}', 'required'],
      ['null', 'required'],
      ['[]', 'required'],
      ['', 'required'],
      ['{"data":null}', 'required'],
      ['{"data":{}}', 'array'],
      ['{"data":"x"}', 'array'],
    ] as const) {
      const { status, body } = await send({ raw })
      expect(status, raw).toBe(422)
      expect(body.errors[0].meta).toMatchObject({ source_field: 'data', rule })
    }
    expect((await send({ raw: '{"data":[' })).status).toBe(400)
    expect((await send({ raw: '"text"' })).status).toBe(400)
  })

  it('is refused above 5 MiB and taken below', async () => {
    const batch = (bytes: number) => JSON.stringify({ data: [entry()], padding: 'x'.repeat(bytes) })
    expect((await send({ raw: batch(5 * 1024 * 1024) })).status).toBe(413)
    expect(await rows()).toEqual([])
    expect((await send({ raw: batch(5 * 1024 * 1024 - 1000) })).status).toBe(200)
    expect(await rows()).toHaveLength(1)
  })
})

describe('an entry', () => {
  it('is dropped when its event or server is not the daemon’s to report', async () => {
    const foreign = await makeServer(world)
    for (const values of [
      { event: 'auth:fail' },
      { event: 'user:account.email-changed' },
      { event: 'SERVER:power.start' },
      { event: ' server:power.start' },
      { event: `server:${'x'.repeat(185)}` },
      { server: foreign.uuid },
      { server: crypto.randomUUID() },
    ]) {
      expect(await stored(values), JSON.stringify(values)).toBeUndefined()
    }
    expect(await stored({ event: `server:${'x'.repeat(184)}` })).toBeDefined()
  })

  it('of SFTP has that source', async () => {
    const row = await stored({
      event: 'server:sftp.rename',
      metadata: { files: [{ from: '/a', to: '/b ' }] },
    })
    expect(row).toMatchObject({ source: 'sftp', properties: { files: [{ from: '/a', to: '/b ' }] } })
  })

  it('has the loopback address when it names none, and never a port', async () => {
    for (const [ip, expected] of [
      [undefined, '127.0.0.1'],
      [null, '127.0.0.1'],
      ['', '127.0.0.1'],
      ['203.0.113.9:51234', '203.0.113.9'],
      ['[2001:db8::1]:51234', '2001:db8::1'],
      ['2001:DB8:0::1', '2001:db8::1'],
      ['::ffff:203.0.113.9', '203.0.113.9'],
    ] as const) {
      expect((await stored({ ip }))?.ip, String(ip)).toBe(expected)
    }
  })

  it('has its own time to the millisecond, in any offset', async () => {
    for (const [timestamp, expected] of [
      ['2031-03-02T10:11:12Z', '2031-03-02T10:11:12.000Z'],
      ['2031-03-02T10:11:12.9999999Z', '2031-03-02T10:11:12.999Z'],
      ['2031-03-02T10:11:12.5+02:00', '2031-03-02T08:11:12.500Z'],
      ['2031-03-02t10:11:12z', '2031-03-02T10:11:12.000Z'],
    ] as const) {
      const row = await stored({ timestamp })
      expect(row?.timestamp.toISOString(), timestamp).toBe(expected)
      expect(row?.properties).toEqual({ command: 'say hi' })
    }
  })

  it('has the present time when its own cannot be read, and keeps what was written', async () => {
    for (const timestamp of [
      'yesterday',
      '',
      '2031-13-02T10:11:12Z',
      '2031-03-02',
      '0000-01-01T00:00:00Z',
      '9999-12-31T23:59:59-12:00',
    ]) {
      expect(await stored({ timestamp }), timestamp).toMatchObject({
        timestamp: world.clock.now,
        properties: { command: 'say hi', original_timestamp: timestamp },
      })
    }
    const long = await stored({ timestamp: `${'x'.repeat(190)}😀`, metadata: null })
    expect(long?.properties).toEqual({ original_timestamp: `${'x'.repeat(190)}\ufffd` })
  })

  it('without metadata has no properties, and with too many bytes of it a mark', async () => {
    expect((await stored({ metadata: null }))?.properties).toEqual({})
    expect((await stored({ metadata: [] }))?.properties).toEqual({})
    const command = 'ä'.repeat(4089)
    expect((await stored({ metadata: { command } }))?.properties).toEqual({ command })
    const large = await stored({ metadata: { command: `${command}ä` }, timestamp: 'late' })
    expect(large?.properties).toEqual({ truncated: true, bytes: 8194, original_timestamp: 'late' })
  })

  it('has its actor while they have access to the server, and for two days after their last action there', async () => {
    const subuser = await makeUser(world)
    const admin = await makeUser(world, { rootAdmin: true })
    const otherUser = await makeUser(world)
    const user = subuser.uuid
    await makeSubuser(world, server, subuser, ['websocket.connect'])
    const actorOf = async (values: Record<string, unknown>) => (await stored(values))?.actorId
    expect(await actorOf({ user: owner.uuid.toUpperCase() })).toBe(owner.id)
    expect(await actorOf({ user: admin.uuid })).toBe(admin.id)
    expect(await actorOf({ user })).toBe(subuser.id)
    for (const unknownUser of [otherUser.uuid, crypto.randomUUID(), null, '', undefined]) {
      expect(await actorOf({ user: unknownUser }), String(unknownUser)).toBeNull()
    }
    await world.database.db.delete(subusers)
    expect(await actorOf({ user })).toBeNull()
    await world.database.db.insert(activity).values({
      event: 'server:power.start',
      source: 'system',
      actorId: subuser.id,
      serverId: server.id,
      timestamp: world.clock.now,
    })
    await report(entry({ user, event: 'server:power.stop' }))
    expect((await rows()).at(-1)?.actorId).toBe(subuser.id)
  })

  it('that cannot be stored is dropped and does not hold back the others', async () => {
    const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) })
    const poisoned: unknown[] = [
      null,
      7,
      'text',
      [],
      {},
      entry({ metadata: { command: 'say \0' } }),
      entry({ metadata: { command: 'say \ud800' } }),
      entry({ metadata: { 'a\0': 1 } }),
      entry({ event: 'server:\0' }),
      entry({ timestamp: '\ud800' }),
      entry({ unknown: '\0' }),
      entry({ metadata: nested(40) }),
      entry({ metadata: JSON.parse('{"__proto__":{"a":1}}') }),
      entry({ metadata: 'text' }),
      entry({ metadata: 7 }),
      entry({ metadata: undefined }),
      entry({ server: 'x' }),
      entry({ server: null }),
      entry({ server: { uuid: 1 } }),
      entry({ user: 'unknown' }),
      entry({ user: 7 }),
      entry({ event: null }),
      entry({ event: ['server:power.start'] }),
      entry({ ip: 'localhost' }),
      entry({ ip: '1.2.3' }),
      entry({ ip: 7 }),
      entry({ timestamp: null }),
      entry({ timestamp: 1_700_000_000 }),
    ]
    const last = entry({ event: 'server:power.start' })
    expect((await report(entry(), ...poisoned, last)).status).toBe(200)
    expect(await world.events()).toEqual(['server:console.command', 'server:power.start'])
  })

  it('nested without end does not bring the panel down', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`
    const raw = `{"data":[${deep},${JSON.stringify(entry({ metadata: null })).replace('null', deep)},${JSON.stringify(entry())}]}`
    expect((await send({ raw })).status).toBe(200)
    expect(await rows()).toHaveLength(1)
  })

  it('takes the largest numbers there are', async () => {
    const raw = JSON.stringify({ data: [entry({ metadata: { n: 'N' } })] }).replace('"N"', '1e400')
    expect((await send({ raw })).status).toBe(200)
    expect((await rows())[0]?.properties).toEqual({ n: null })
  })
})
