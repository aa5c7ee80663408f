import { describe, expect, it } from 'vitest'
import { activity, databaseHosts, jobs, servers } from '../../src/db/schema.ts'
import { fullAcl, makeApplicationToken, makeServer } from '../support/factories.ts'
import { asMysqlAdmin, asMysqlUser, hasMysql, hostedNames, makeDatabaseHost } from '../support/mysql.ts'
import { useWorld } from '../support/world.ts'
import { codes, useDatabaseFixtures } from './database-fixtures.ts'

const world = useWorld()
const fixtures = useDatabaseFixtures(world)
const { send, add, passwordOf, rows, waiting } = fixtures

describe.skipIf(!hasMysql)('databases of a server', () => {
  it('are made, and open with the password that is included when asked for', async () => {
    const added = await add('My-Web')
    expect(added.status).toBe(201)
    const { id, ...attributes } = added.body.attributes
    expect(added.body.meta.resource).toBe(
      `http://panel.test/api/application/servers/${fixtures.server.id}/databases/${id}`,
    )
    expect(attributes).toEqual({
      server: fixtures.server.id,
      host: fixtures.host.id,
      database: `s${fixtures.server.id}_My-Web`,
      username: expect.stringMatching(new RegExp(`^u${fixtures.server.id}_[A-Za-z0-9]{10}$`)),
      remote: '%',
      max_connections: 0,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    const password = await passwordOf(id)
    expect(password).toMatch(/^[A-Za-z0-9!@=.+^]{24}$/)
    expect(password).toMatch(/[!@=.+^]/)
    await asMysqlUser(attributes.username, password, 'create table t (a int)', attributes.database)
    expect(await world.events()).toEqual(['server:database.create'])
    expect(await waiting()).toEqual([])
    expect((await send('DELETE', `/${id}`)).status).toBe(204)
  })

  it('are listed and shown with their relations in two statements, as far as the key may read them', async () => {
    await add('one')
    await add('two')
    let answer: any
    const statements = await world.countStatements(
      async () => (answer = await send('GET', '?include=host,password')),
    )
    expect(statements).toBe(2)
    expect(answer.body).not.toHaveProperty('meta')
    expect(answer.body.data.map((item: any) => item.attributes.database)).toEqual([
      `s${fixtures.server.id}_one`,
      `s${fixtures.server.id}_two`,
    ])
    const { relationships } = answer.body.data[0].attributes
    expect(relationships.host).toMatchObject({
      object: 'database_host',
      attributes: { id: fixtures.host.id },
    })
    expect(relationships.password).toMatchObject({ object: 'database_password' })
    fixtures.token = await makeApplicationToken(world, { server_databases: 3 })
    const poor = await send('GET', `/${answer.body.data[0].attributes.id}?include=host,password`)
    expect(poor.body.attributes.relationships).toEqual({
      host: { object: 'null_resource', attributes: null },
      password: relationships.password,
    })
    fixtures.token = await makeApplicationToken(world)
    for (const { id } of await rows()) await send('DELETE', `/${id}`)
  })

  it('get a new password, after which the old one is refused', async () => {
    const { id, username } = (await add()).body.attributes
    const old = await passwordOf(id)
    expect(await send('POST', `/${id}/reset-password`)).toMatchObject({ status: 204, text: '' })
    const current = await passwordOf(id)
    expect(current).not.toBe(old)
    await expect(asMysqlUser(username, old, 'select 1')).rejects.toThrow(/denied/)
    await asMysqlUser(username, current, 'select 1')
    expect(await waiting()).toEqual([])
    expect(await world.events()).toEqual(['server:database.create', 'server:database.rotate-password'])
  })

  it('agree with the panel on the password, however many change it at once', async () => {
    const { id, username } = (await add()).body.attributes
    const answers = await Promise.all(Array.from({ length: 6 }, () => send('POST', `/${id}/reset-password`)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses).toContain(204)
    // A request that is overtaken repeatedly stops and leaves the rest to a job.
    expect(statuses.filter((status) => status !== 204 && status !== 409)).toEqual([])
    await world.runJobs()
    await asMysqlUser(username, await passwordOf(id), 'select 1')
  })

  it('are dropped with their users', async () => {
    const { id } = (await add()).body.attributes
    expect(await hostedNames(fixtures.server.id)).toHaveLength(2)
    const outcomes = await Promise.all([send('DELETE', `/${id}`), send('DELETE', `/${id}`)])
    expect(outcomes.map(({ status }) => status).toSorted((one, another) => one - another)).toEqual([204, 404])
    expect(await hostedNames(fixtures.server.id)).toEqual([])
    expect([await rows(), await waiting()]).toEqual([[], []])
    expect(await world.events()).toEqual(['server:database.create', 'server:database.delete'])
  })

  it('are never more than the server may have, however many are asked for at once', async () => {
    await world.database.db.update(servers).set({ databaseLimit: 3 })
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => add(`n${at}`)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3)
    const refused = answers.filter(({ status }) => status !== 201)
    expect(new Set(refused.flatMap(codes))).toEqual(new Set(['TooManyDatabasesException']))
    expect(await hostedNames(fixtures.server.id)).toHaveLength(6)
    await world.database.db.update(servers).set({ databaseLimit: 0 })
    expect((await add('other')).status).toBe(400)
  })

  it('are never more than the host may hold', async () => {
    await world.database.db.update(databaseHosts).set({ maxDatabases: 1 })
    const answers = await Promise.all([add('one'), add('two')])
    expect(answers.map(({ status }) => status).toSorted((one, another) => one - another)).toEqual([201, 400])
    expect(answers.filter(({ status }) => status === 400).flatMap(codes)).toEqual([
      'NoSuitableDatabaseHostException',
    ])
  })

  it('have each a name of their own on the server, also when two ask for it at once', async () => {
    const other = await makeDatabaseHost(world)
    const answers = await Promise.all([add('same'), add('same', { host: other.id })])
    expect(answers.map(({ status }) => status).toSorted((one, another) => one - another)).toEqual([201, 422])
    const refused = await add('same')
    expect(refused.body.errors[0].meta).toMatchObject({ source_field: 'database', rule: 'unique' })
    const long = 'x'.repeat(48)
    expect((await add(long)).body.attributes.database).toHaveLength(48)
    expect((await add(`${long.slice(0, -1)}y`)).status).toBe(422)
  })

  it('do not touch an existing foreign database of the same name', async () => {
    const name = `s${fixtures.server.id}_taken`
    await asMysqlAdmin(`create database ${name}`)
    try {
      const refused = await add('taken')
      expect([refused.status, ...codes(refused)]).toEqual([400, 'DuplicateDatabaseNameException'])
      expect(await hostedNames(fixtures.server.id)).toEqual([name])
      expect([await rows(), await waiting()]).toEqual([[], []])
    } finally {
      await asMysqlAdmin(`drop database ${name}`)
    }
  })

  it('of other servers are not found', async () => {
    const { id } = (await add()).body.attributes
    fixtures.server = await makeServer(world)
    for (const [method, at] of [
      ['GET', `/${id}`],
      ['DELETE', `/${id}`],
      ['POST', `/${id}/reset-password`],
    ] as const) {
      expect([method, (await send(method, at)).status]).toEqual([method, 404])
    }
    expect(
      (await world.request('GET', '/api/application/servers/1/databases', { token: fixtures.token })).status,
    ).toBe(404)
  })

  it('tell their passwords in no answer but the one that is asked for it', async () => {
    const added = await add()
    const { id } = added.body.attributes
    const password = await passwordOf(id)
    const answers = [
      added,
      await send('GET', ''),
      await send('GET', `/${id}?include=host`),
      await world.request(
        'GET',
        `/api/application/servers/${fixtures.server.id}?include=databases.password`,
        {
          token: fixtures.token,
        },
      ),
      await world.request(
        'GET',
        `/api/application/database-hosts/${fixtures.host.id}?include=databases.password,databases.host`,
        { token: fixtures.token },
      ),
      await send('POST', `/${id}/reset-password`),
    ]
    expect(answers.every(({ status }) => status < 300)).toBe(true)
    const stored = JSON.stringify([await rows(), await world.database.db.select().from(jobs)])
    const log = JSON.stringify(await world.database.db.select().from(activity))
    const exposed = answers.map(({ text }) => text).join() + stored + log
    expect(exposed).not.toContain(password)
    expect(exposed).not.toContain(await passwordOf(id))
  })

  it('need names and addresses that fit, and a host that exists', async () => {
    const { body } = await add('no spaces', { remote: 'localhost', host: 'x' })
    expect(body.errors.map((error: any) => error.meta)).toMatchObject([
      { source_field: 'database', rule: 'alpha_dash' },
      { source_field: 'remote', rule: 'regex' },
      { source_field: 'host', rule: 'integer' },
    ])
    const missing = await add('web', { host: 99 })
    expect(missing.body.errors[0].meta).toMatchObject({ source_field: 'host', rule: 'exists' })
    fixtures.token = await makeApplicationToken(world, { ...fullAcl, server_databases: 1 })
    expect((await add()).status).toBe(403)
  })
})
