import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, databaseHosts, servers, settings } from '../../src/db/schema.ts'
import type { Server } from '../../src/db/tables/servers.ts'
import { codes, useDatabaseFixtures } from '../application/database-fixtures.ts'
import { makeClientToken, makeNode, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import { asMysqlUser, hasMysql, hostedNames, makeDatabaseHost, mysqlAdmin } from '../support/mysql.ts'
import { useWorld } from '../support/world.ts'
import { conflictsOf } from './conflicts.ts'

const world = useWorld()
const fixtures = useDatabaseFixtures(world)
const { rows, waiting, unplug, repair, loseAnswersTo } = fixtures
let server: Server
let token: string

beforeEach(async () => {
  const owner = await makeUser(world)
  server = await makeServer(world, { owner, databaseLimit: null })
  fixtures.server = server
  token = await makeClientToken(world, owner)
})

const send = (method: string, at = '', options: { body?: unknown; as?: string; to?: Server } = {}) =>
  world.request(method, `/api/client/servers/${(options.to ?? server).uuid}/databases${at}`, {
    token: options.as ?? token,
    ...(options.body === undefined ? {} : { body: options.body }),
  })
/** Advances the clock by a minute before each test, so that the rate limit does not apply. */
const add = (database: unknown = 'web', more: { remote?: unknown; as?: string } = {}) => {
  world.clock.advance(60)
  const { remote = '%', as = token } = more
  return send('POST', '', { body: { database, remote }, as })
}
const passwordIn = (item: any): string => item.attributes.relationships.password.attributes.password
const refusal = (answer: { status: number; body: any }) => [answer.status, answer.body.errors[0].code]
const metas = ({ body }: { body: any }) =>
  body.errors.map(({ meta: { source_field, rule } }: any) => ({ source_field, rule }))
const subuserToken = async (permissions: string[]) => {
  const friend = await makeUser(world)
  await makeSubuser(world, server, friend, permissions)
  return makeClientToken(world, friend)
}
const nothing = { object: 'null_resource', attributes: null }
const limit = (databaseLimit: number | null) => world.database.db.update(servers).set({ databaseLimit })
const changeHost = (values: Partial<typeof databaseHosts.$inferInsert>, id = fixtures.host.id) =>
  world.database.db.update(databaseHosts).set(values).where(eq(databaseHosts.id, id))

describe.skipIf(!hasMysql)('databases of a server', () => {
  it('are made on MariaDB, and told with their password', async () => {
    const answer = await add('My-Web')
    const [row] = await rows()
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        object: 'server_database',
        attributes: {
          id: String(row?.id),
          host: { address: mysqlAdmin.host, port: mysqlAdmin.port },
          name: `s${server.id}_My-Web`,
          username: row?.username,
          connections_from: '%',
          max_connections: 0,
          relationships: {
            password: { object: 'database_password', attributes: { password: expect.any(String) } },
          },
        },
      },
    ])
    const { username, name } = answer.body.attributes
    await asMysqlUser(username, passwordIn(answer.body), 'create table t (a int)', name)
    expect(await waiting()).toEqual([])
    expect(await world.database.db.select().from(activity)).toMatchObject([
      { event: 'server:database.create', serverId: server.id, properties: { name }, source: 'api' },
    ])
  })

  it('are listed by id, in two statements, with passwords for those who ask and may see them', async () => {
    const first = await add('one')
    const second = await add('two')
    const { relationships: _told, ...attributes } = first.body.attributes
    const plain = await send('GET')
    expect(plain.body).toEqual({
      object: 'list',
      data: [
        { object: 'server_database', attributes },
        { object: 'server_database', attributes: expect.objectContaining({ name: `s${server.id}_two` }) },
      ],
    })
    expect(plain.text).not.toContain('relationships')
    let open: any
    const statements = await world.countStatements(
      async () => (open = await send('GET', '?include[]=password')),
    )
    expect(statements).toBe(2)
    expect(open.body.data.map(passwordIn)).toEqual([passwordIn(first.body), passwordIn(second.body)])
    const as = await subuserToken(['database.read'])
    const denied = await send('GET', '?include=password', { as })
    expect(denied.body.data.map((item: any) => item.attributes.relationships)).toEqual([
      { password: nothing },
      { password: nothing },
    ])
    const trusted = await subuserToken(['database.read', 'database.view_password'])
    expect(passwordIn((await send('GET', '?include=password', { as: trusted })).body.data[0])).toBe(
      passwordIn(first.body),
    )
  })

  it('get a new password, after which the old one is refused', async () => {
    const made = (await add()).body
    const { id, username } = made.attributes
    const rotated = await send('POST', `/${id}/rotate-password`)
    expect(rotated.status).toBe(200)
    const { relationships: _before, ...attributes } = made.attributes
    expect(rotated.body.attributes).toMatchObject(attributes)
    await expect(asMysqlUser(username, passwordIn(made), 'select 1')).rejects.toThrow(/denied/)
    await asMysqlUser(username, passwordIn(rotated.body), 'select 1')
    expect(await world.events()).toEqual(['server:database.create', 'server:database.rotate-password'])
  })

  it('are dropped with their users, once', async () => {
    const { id } = (await add()).body.attributes
    const answers = await Promise.all(Array.from({ length: 4 }, () => send('DELETE', `/${id}`)))
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      204, 404, 404, 404,
    ])
    expect([await hostedNames(server.id), await rows(), await waiting()]).toEqual([[], [], []])
    expect(await world.events()).toEqual(['server:database.create', 'server:database.delete'])
  })

  it('each need the permission for what is done with them, and tell no password without its own', async () => {
    const { id } = (await add()).body.attributes
    const reader = await subuserToken(['database.read'])
    expect((await send('GET', '', { as: reader })).status).toBe(200)
    expect((await add('x', { as: reader })).status).toBe(403)
    expect((await send('POST', `/${id}/rotate-password`, { as: reader })).status).toBe(403)
    expect((await send('DELETE', `/${id}`, { as: reader })).status).toBe(403)
    const writer = await subuserToken(['database.create', 'database.update', 'database.delete'])
    expect((await send('GET', '', { as: writer })).status).toBe(403)
    const made = await add('other', { as: writer })
    expect(made.body.attributes.relationships).toEqual({ password: nothing })
    const rotated = await send('POST', `/${id}/rotate-password`, { as: writer })
    expect(rotated.body.attributes.relationships).toEqual({ password: nothing })
    expect((await send('DELETE', `/${id}`, { as: writer })).status).toBe(204)
  })

  it('of other servers are not found', async () => {
    const { id } = (await add()).body.attributes
    const to = await makeServer(world, { ownerId: server.ownerId })
    expect((await send('GET', '', { to })).body.data).toEqual([])
    expect((await send('POST', `/${id}/rotate-password`, { to })).status).toBe(404)
    expect((await send('DELETE', `/${id}`, { to })).status).toBe(404)
    expect(await hostedNames(server.id)).toHaveLength(2)
  })

  it('are never more than the server may have, however many are asked for at once', async () => {
    await limit(3)
    const { cache } = world.services
    const hit = async () => {
      throw new Error('The cache is away.')
    }
    Object.assign(world.services, { cache: { ...cache, hit } })
    const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => add(`n${at}x`)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(refusal)).toEqual(Array.from({ length: 9 }, () => [400, 'TooManyDatabasesException']))
    expect(await hostedNames(server.id)).toHaveLength(6)
    await limit(0)
    expect(refusal(await add('other'))).toEqual([400, 'TooManyDatabasesException'])
  })

  it('are made at most twice a minute for each server, by all callers together', async () => {
    const body = (database: string) => ({ body: { database, remote: '%' } })
    const as = await makeClientToken(world, await makeUser(world, { rootAdmin: true }))
    expect((await send('POST', '', body('one'))).status).toBe(200)
    expect((await send('POST', '', { ...body('two'), as })).status).toBe(200)
    expect(refusal(await send('POST', '', body('three')))).toEqual([429, 'ThrottleRequestsException'])
    expect(await rows()).toHaveLength(2)
    expect((await add('three')).status).toBe(200)
  })

  it('have each a name of their own on the server', async () => {
    expect((await add('same')).status).toBe(200)
    const refused = await add('same')
    expect([refused.status, metas(refused)]).toEqual([422, [{ source_field: 'database', rule: 'unique' }]])
    expect(await rows()).toHaveLength(1)
  })

  it('stand on a host of the node if one has room, else on any', async () => {
    const node = await makeNode(world)
    await changeHost({ nodeId: node.id })
    const own = await makeDatabaseHost(world, { nodeId: server.nodeId, maxDatabases: 1 })
    expect((await add('one')).status).toBe(200)
    expect((await add('two')).status).toBe(200)
    expect((await rows()).map(({ databaseHostId }) => databaseHostId)).toEqual([own.id, fixtures.host.id])
    await changeHost({ maxDatabases: 0 })
    expect(refusal(await add('three'))).toEqual([400, 'NoSuitableDatabaseHostException'])
    expect(await rows()).toHaveLength(2)
  })

  it('take no host from the caller', async () => {
    await makeDatabaseHost(world, { nodeId: server.nodeId, port: 1 })
    const body = { database: 'web', remote: '%', host: fixtures.host.id, max_connections: 9 }
    const answer = await send('POST', '', { body })
    expect([answer.status, ...codes(answer)]).toEqual([504, 'DatabaseHostException'])
    expect(await rows()).toEqual([])
  })

  it('are spread over the hosts of the node', async () => {
    await changeHost({ nodeId: server.nodeId })
    const other = await makeDatabaseHost(world, { nodeId: server.nodeId })
    for (let at = 0; at < 12; at += 1) await add(`n${at}x`)
    const used = new Set((await rows()).map(({ databaseHostId }) => databaseHostId))
    expect(used).toEqual(new Set([fixtures.host.id, other.id]))
  })

  it('stay as they are when the host is away', async () => {
    const made = (await add()).body
    const { id, username } = made.attributes
    await unplug()
    for (const answer of [
      await add('other'),
      await send('POST', `/${id}/rotate-password`),
      await send('DELETE', `/${id}`),
    ]) {
      expect([answer.status, ...codes(answer)]).toEqual([504, 'DatabaseHostException'])
    }
    expect(await world.events()).toEqual(['server:database.create'])
    await repair()
    expect((await send('GET', '?include=password')).body.data.map(passwordIn)).toEqual([passwordIn(made)])
    await asMysqlUser(username, passwordIn(made), 'select 1')
  })

  it('of which the host lost its answer are not shown, and dropped later', async () => {
    await loseAnswersTo('GRANT')
    expect((await add()).status).toBe(504)
    expect((await send('GET')).body.data).toEqual([])
    await repair()
    world.clock.advance(61)
    await world.runJobs()
    expect([await rows(), await waiting(), await hostedNames(server.id)]).toEqual([[], [], []])
  })
})

describe('databases of a server', () => {
  it('cannot be made while the feature is off, or without any host', async () => {
    await world.database.db.delete(databaseHosts)
    expect(refusal(await add())).toEqual([400, 'NoSuitableDatabaseHostException'])
    await world.database.db.insert(settings).values({ key: 'databases.client_enabled', value: false })
    expect(refusal(await add())).toEqual([403, 'DatabaseClientFeatureNotEnabledException'])
    expect([await rows(), await world.events()]).toEqual([[], []])
  })

  it('need names and addresses that fit', async () => {
    for (const [database, remote, ...expected] of [
      [undefined, undefined, ['database', 'required'], ['remote', 'required']],
      ['ab', '%', ['database', 'min']],
      ['x'.repeat(49), '%', ['database', 'max']],
      ['no spaces', '%', ['database', 'alpha_dash']],
      ['`;drop', '%', ['database', 'alpha_dash']],
      [7, '%', ['database', 'string']],
      ['web', "%'", ['remote', 'regex']],
      ['web', '%\n%', ['remote', 'regex']],
      ['web', 'a b', ['remote', 'regex']],
      ['web', '1'.repeat(61), ['remote', 'max']],
      ['web', 7, ['remote', 'string']],
    ] as const) {
      world.clock.advance(60)
      const answer = await send('POST', '', { body: { database, remote } })
      expect([answer.status, metas(answer)]).toEqual([
        422,
        expected.map(([source_field, rule]) => ({ source_field, rule })),
      ])
    }
    expect(await rows()).toEqual([])
  })

  it('are out of reach while the state of the server forbids it', async () => {
    const routes = [
      ['GET', '/databases'],
      ['POST', '/databases', { database: 'web', remote: '%' }],
      ['POST', '/databases/1/rotate-password'],
      ['DELETE', '/databases/1'],
    ] as const
    for (const { refused } of await conflictsOf(world, server, routes)) expect(refused).toHaveLength(4)
  })
})
