import { beforeEach, describe, expect, it } from 'vitest'
import { dispatchOperation } from '../../src/cli/operations.ts'
import { databaseHosts } from '../../src/db/schema.ts'
import { fullAcl, makeApplicationToken, makeNode, makeServer } from '../support/factories.ts'
import { drawServerIds, hasMysql, makeDatabaseHost, mysqlAdmin, startTcpStub } from '../support/mysql.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
  await drawServerIds(world)
})

const send = (method: string, at: string, body?: unknown) =>
  world.request(method, `/api/application/database-hosts${at}`, {
    token,
    ...(body === undefined ? {} : { body }),
  })
const rows = () => world.database.db.select().from(databaseHosts)
const secret = 'canary-of-the-host'
const unchecked = {
  name: 'Host',
  host: 'db.example.test',
  port: 3306,
  username: 'panel',
  password: secret,
  skip_check: true,
}

describe('database hosts', () => {
  it('are added, shown, changed and removed, and never tell their password', async () => {
    const node = await makeNode(world)
    const added = await send('POST', '', { ...unchecked, node_id: node.id, max_databases: 3 })
    expect(added).toMatchObject({
      status: 201,
      body: {
        object: 'database_host',
        attributes: { id: 1, name: 'Host', host: 'db.example.test', port: 3306, username: 'panel' },
        meta: { resource: 'http://panel.test/api/application/database-hosts/1' },
      },
    })
    expect(added.body.attributes).toMatchObject({ node: node.id, max_databases: 3 })
    const changed = await send('PATCH', '/1', { name: 'Other', node_id: null, max_databases: null })
    expect(changed.body.attributes).toMatchObject({ name: 'Other', node: null, max_databases: null })
    const answers = [added, changed, await send('GET', ''), await send('GET', '/1?include=databases')]
    expect(answers.map(({ text }) => text).join()).not.toContain(secret)
    expect(JSON.stringify(await rows())).not.toContain(secret)
    expect((await send('DELETE', '/1')).status).toBe(204)
    expect((await send('GET', '/1')).status).toBe(404)
  })

  it('are listed in pages, by name', async () => {
    for (const name of ['one', 'two']) await send('POST', '', { ...unchecked, name })
    const { body } = await send('GET', '?filter[name]=TW&sort=-id')
    expect(body.data.map((item: any) => item.attributes.name)).toEqual(['two'])
    expect(body.meta.pagination.total).toBe(1)
  })

  it('that do not answer are refused, and stay as they were', async () => {
    const closed = await startTcpStub()
    closed.close()
    const address = { host: '127.0.0.1', port: closed.port }
    const refused = await send('POST', '', { ...unchecked, ...address, skip_check: false })
    expect(refused).toMatchObject({
      status: 400,
      body: { errors: [{ code: 'DatabaseHostException', detail: expect.stringContaining('ECONNREFUSED') }] },
    })
    expect(await rows()).toEqual([])
    const host = await makeDatabaseHost(world)
    const moved = { ...address, password: secret }
    expect((await send('PATCH', `/${host.id}`, moved)).status).toBe(400)
    expect(await rows()).toEqual([host])
    expect((await send('PATCH', `/${host.id}`, { ...moved, skip_check: true })).status).toBe(200)
    expect((await send('POST', `/${host.id}/test`)).status).toBe(400)
  })

  it('refuse a node that does not exist, and names that are none', async () => {
    const missing = await send('POST', '', { ...unchecked, node_id: 99 })
    expect(missing.body.errors[0].meta).toMatchObject({ source_field: 'node_id', rule: 'exists' })
    const { body } = await send('POST', '', { ...unchecked, host: 'http://x', port: 0 })
    expect(body.errors.map((error: any) => error.meta)).toMatchObject([
      { source_field: 'host', rule: 'regex' },
      { source_field: 'port', rule: 'between' },
    ])
  })

  it('are for keys that hold the level alone', async () => {
    await makeDatabaseHost(world)
    token = await makeApplicationToken(world, { ...fullAcl, database_hosts: 1 })
    expect((await send('GET', '/1')).status).toBe(200)
    expect((await send('POST', '/1/test')).status).toBe(403)
    token = await makeApplicationToken(world, { ...fullAcl, database_hosts: 0 })
    expect((await send('GET', '')).status).toBe(403)
  })
})

describe.skipIf(!hasMysql)('database hosts on MariaDB', () => {
  const real = () => ({ ...unchecked, ...mysqlAdmin, skip_check: false })

  it('let the panel in before they are added, and when they are tested', async () => {
    expect((await send('POST', '', { ...real(), password: 'wrong' })).body.errors[0].detail).toContain(
      'ER_ACCESS_DENIED_ERROR',
    )
    expect((await send('POST', '', real())).status).toBe(201)
    expect(await send('POST', '/1/test')).toMatchObject({
      status: 200,
      body: { reachable: true, version: expect.stringMatching(/^\d+\./), tls: expect.any(Boolean) },
    })
    expect((await send('PATCH', '/1', { password: 'wrong' })).status).toBe(400)
    expect((await send('POST', '/1/test')).status).toBe(200)
    expect((await send('PATCH', '/1', { password: 'wrong', skip_check: true })).status).toBe(200)
    expect((await send('POST', '/1/test')).status).toBe(400)
  })

  it('cannot be removed while databases stand on them', async () => {
    const host = await makeDatabaseHost(world)
    const server = await makeServer(world)
    const path = `/api/application/servers/${server.id}/databases`
    const { body } = await world.request('POST', path, {
      token,
      body: { database: 'x', remote: '%', host: host.id },
    })
    const refused = await send('DELETE', `/${host.id}`)
    expect(refused).toMatchObject({
      status: 400,
      body: { errors: [{ code: 'HasActiveDatabasesException' }] },
    })
    await world.request('DELETE', `${path}/${body.attributes.id}`, { token })
    expect((await send('DELETE', `/${host.id}`)).status).toBe(204)
  })

  it('are added and tested on the command line too', async () => {
    const node = await makeNode(world)
    const { host, port, username, password } = mysqlAdmin
    const input = { host, port: String(port), username, password, node: node.name }
    expect(await dispatchOperation(world.panel, { verb: 'database-host:create', input })).toEqual({
      id: 1,
      name: host,
      host,
      port,
      username,
    })
    expect((await rows())[0]).toMatchObject({ nodeId: node.id })
    const tested = dispatchOperation(world.panel, { verb: 'database-host:test', input: { host: '1' } })
    expect(await tested).toMatchObject({ id: 1, version: expect.any(String) })
    const unknown = dispatchOperation(world.panel, {
      verb: 'database-host:test',
      input: { host: 'elsewhere' },
    })
    await expect(unknown).rejects.toThrow('There is no database host elsewhere.')
  })
})
