import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { single } from '../../src/db/database.ts'
import { nodes } from '../../src/db/schema.ts'
import { decrypt } from '../../src/domain/secrets.ts'
import {
  makeAllocation,
  makeApplicationToken,
  makeKey,
  makeLocation,
  makeNode,
  makeServer,
  makeUser,
} from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

const path = '/api/application/nodes'
const send = (method: string, at: string, body?: unknown) =>
  world.request(method, `${path}${at}`, { token, ...(body === undefined ? {} : { body }) })
const get = (at: string) => send('GET', at)
const metas = (body: any) =>
  body.errors.map(({ meta: { source_field, rule } }: any) => ({ source_field, rule }))
const row = async (id: number) => single(await world.database.db.select().from(nodes).where(eq(nodes.id, id)))

const minimal = async () => ({
  name: 'ams-01',
  location_id: (await makeLocation(world)).id,
  fqdn: 'ams-01.example.test',
  scheme: 'https',
  memory: 65_536,
  memory_overallocate: 0,
  disk: '1000000',
  disk_overallocate: -1,
  daemonListen: 8080,
  daemonSFTP: 2022,
})

describe('nodes', () => {
  it('are added with what was left out at its default', async () => {
    const input = await minimal()
    const { status, body } = await send('POST', '', input)
    expect(status).toBe(201)
    expect(body.meta.resource).toBe('http://panel.test/api/application/nodes/1')
    expect(body.attributes).toEqual({
      id: 1,
      uuid: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-4/),
      public: true,
      name: 'ams-01',
      description: null,
      location_id: input.location_id,
      fqdn: 'ams-01.example.test',
      scheme: 'https',
      behind_proxy: false,
      maintenance_mode: false,
      memory: 65_536,
      memory_overallocate: 0,
      disk: 1_000_000,
      disk_overallocate: -1,
      upload_size: 100,
      daemon_listen: 8080,
      daemon_sftp: 2022,
      daemon_base: '/var/lib/pterodactyl/volumes',
      country_code: null,
      query_address: null,
      sftp_domain: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      allocated_resources: { memory: 0, disk: 0 },
    })
    const node = await row(1)
    const secret = await decrypt(world.panel, node.daemonToken, {
      table: 'nodes',
      column: 'daemon_token',
      row: node.uuid,
    })
    expect(node.daemonTokenId).toMatch(/^\w{16}$/)
    expect(secret).toMatch(/^\w{64}$/)
  })

  it('take every field, the names of the daemon in snake case too', async () => {
    const { daemonListen: _listen, daemonSFTP: _sftp, ...input } = await minimal()
    const all = {
      ...input,
      description: 'Rack 7',
      public: 0,
      behind_proxy: '1',
      maintenance_mode: true,
      upload_size: 5000,
      country_code: 'NL',
      query_address: '2001:db8::7',
      sftp_domain: 'sftp.example.test',
      daemon_listen: '8081',
      daemon_sftp: 2023,
      daemon_base: '/srv/volumes',
    }
    const { body } = await send('POST', '', all)
    expect(body.attributes).toMatchObject({
      ...all,
      public: false,
      behind_proxy: true,
      disk: 1_000_000,
      daemon_listen: 8081,
    })
  })

  it('stand at a host name or an address, which is kept as URLs need it', async () => {
    const input = await minimal()
    for (const [fqdn, kept] of [
      ['localhost', 'localhost'],
      ['203.0.113.9', '203.0.113.9'],
      ['2001:DB8::1', '[2001:db8::1]'],
      ['[2001:db8::1]', '[2001:db8::1]'],
    ]) {
      expect((await send('POST', '', { ...input, fqdn })).body.attributes.fqdn).toBe(kept)
    }
    for (const fqdn of [
      'a b',
      'http://a.test',
      'a.test:80',
      '-a.test',
      '1.2.3',
      '1.2.3.4.5',
      'a..b',
      'a/b',
    ]) {
      expect(metas((await send('POST', '', { ...input, fqdn })).body)).toEqual([
        { source_field: 'fqdn', rule: 'p_fqdn' },
      ])
    }
  })

  it('name each broken rule of each field', async () => {
    expect(metas((await send('POST', '', {})).body)).toEqual(
      [
        'name',
        'location_id',
        'fqdn',
        'scheme',
        'memory',
        'memory_overallocate',
        'disk',
        'disk_overallocate',
        'daemonListen',
        'daemonSFTP',
      ].map((source_field) => ({ source_field, rule: 'required' })),
    )
    const { body } = await send('POST', '', {
      ...(await minimal()),
      name: 'ams/01',
      scheme: 'ftp',
      memory: 0,
      memory_overallocate: -2,
      disk: 2_147_483_648,
      upload_size: 0,
      daemon_listen: 1,
      daemonListen: 65_536,
      daemonSFTP: ['2022'],
      daemonBase: 'srv',
      country_code: 'NLD',
      query_address: 'no host',
      sftp_domain: 'x'.repeat(254),
      public: 'yes',
    })
    expect(metas(body).map((meta: any) => `${meta.source_field} ${meta.rule}`)).toEqual([
      'name regex',
      'public boolean',
      'scheme in',
      'memory min',
      'memory_overallocate min',
      'disk max',
      'upload_size min',
      'daemonListen between',
      'daemonSFTP integer',
      'daemonBase regex',
      'country_code size',
      'query_address regex',
      'sftp_domain max',
      'sftp_domain regex',
    ])
  })

  it('need a location that exists', async () => {
    const exists = [{ source_field: 'location_id', rule: 'exists' }]
    const added = await send('POST', '', { ...(await minimal()), location_id: 999 })
    expect([added.status, metas(added.body)]).toEqual([422, exists])
    const { id } = await makeNode(world)
    const changed = await send('PATCH', `/${id}`, { location_id: 999 })
    expect([changed.status, metas(changed.body)]).toEqual([422, exists])
  })

  it('are filtered and sorted', async () => {
    const small = await makeNode(world, { name: 'ams-01', memory: 10, fqdn: 'one.example.test' })
    const large = await makeNode(world, { name: 'ams-02', memory: 20, fqdn: 'two.example.test' })
    const ids = async (query: string) =>
      (await get(`?${query}`)).body.data.map((item: any) => item.attributes.id)
    expect(await ids('filter[name]=AMS&sort=-memory')).toEqual([large.id, small.id])
    expect(await ids('filter[fqdn]=two.')).toEqual([large.id])
    expect(await ids(`filter[uuid]=${small.uuid}`)).toEqual([small.id])
    expect(await ids(`filter[daemon_token_id]=${large.daemonTokenId}`)).toEqual([large.id])
    expect((await get('?filter[scheme]=http')).body.errors[0].code).toBe('InvalidFilterQuery')
    expect((await get('?sort=name')).body.errors[0].code).toBe('InvalidSortQuery')
    const beyond = await get('?page=9')
    expect(beyond.body).toMatchObject({
      data: [],
      meta: { pagination: { total: 2, count: 0, total_pages: 1 } },
    })
  })

  it('bring their relations along in one statement and never their credential', async () => {
    const node = await makeNode(world)
    const server = await makeServer(world, { node })
    const include = '?include=allocations,location,servers.node,servers.location'
    for (const at of [`/${node.id}${include}`, include]) {
      let answer: any
      expect(await world.countStatements(async () => (answer = await get(at)))).toBe(2)
      const { relationships } = (answer.body.data?.[0] ?? answer.body).attributes
      expect(relationships.allocations.data[0].attributes).toMatchObject({ assigned: true })
      expect(relationships.location.attributes.id).toBe(node.locationId)
      expect(relationships.servers.data[0].attributes).toMatchObject({
        uuid: server.uuid,
        relationships: { node: { attributes: { uuid: node.uuid } } },
      })
      for (const secret of [node.secret, node.daemonToken, node.daemonTokenId, 'token'])
        expect(answer.text).not.toContain(secret)
    }
    const poor = await makeApplicationToken(world, { nodes: 1 })
    const denied = await world.request('GET', `${path}/${node.id}${include}`, { token: poor })
    const nothing = { object: 'null_resource', attributes: null }
    expect(denied.body.attributes.relationships).toEqual({
      allocations: nothing,
      location: nothing,
      servers: nothing,
    })
  })

  it('are changed where something was sent', async () => {
    const node = await makeNode(world, { description: 'old', daemonBase: '/srv/volumes', countryCode: 'NL' })
    const { status, body } = await send('PATCH', `/${node.id}?include=location`, {
      memory: 1,
      description: '',
      public: null,
      country_code: 'DE',
    })
    expect(status).toBe(200)
    expect(body.attributes).toMatchObject({
      name: node.name,
      memory: 1,
      description: null,
      public: true,
      country_code: 'DE',
      daemon_base: '/srv/volumes',
      relationships: { location: { attributes: { id: node.locationId } } },
    })
    expect((await send('PATCH', `/${node.id}`, {})).status).toBe(200)
    expect(metas((await send('PATCH', `/${node.id}`, { name: '' })).body)).toEqual([
      { source_field: 'name', rule: 'required' },
    ])
    expect((await send('PATCH', '/999', { memory: 1 })).status).toBe(404)
  })

  it('are removed with their allocations, unless servers stand on them', async () => {
    const node = await makeNode(world)
    await makeAllocation(world, node)
    expect((await send('DELETE', `/${node.id}`)).status).toBe(204)
    expect((await send('DELETE', `/${node.id}`)).status).toBe(404)
    const { nodeId } = await makeServer(world)
    const { status, body } = await send('DELETE', `/${nodeId}`)
    expect([status, body.errors[0].code]).toEqual([400, 'HasActiveServersException'])
  })

  it('are not found under what is no id', async () => {
    for (const id of ['999', '0', '-1', '2147483648', '99999999999', '1e1', 'x']) {
      expect((await get(`/${id}`)).status).toBe(404)
      expect((await get(`/${id}/configuration`)).status).toBe(404)
      expect((await send('DELETE', `/${id}`)).status).toBe(404)
    }
  })

  it('need the level of their resource', async () => {
    const { id } = await makeNode(world)
    const admin = await makeUser(world, { rootAdmin: true })
    const { token: reader } = await makeKey(world, admin, { type: 'application', acl: { nodes: 1 } })
    const { token: writer } = await makeKey(world, admin, { type: 'application', acl: { nodes: 2 } })
    const status = async (method: string, at: string, key: string) =>
      (await world.request(method, `${path}${at}`, { token: key, body: method === 'GET' ? undefined : {} }))
        .status
    expect(await status('GET', '', reader)).toBe(200)
    expect(await status('GET', `/${id}`, writer)).toBe(403)
    expect(await status('GET', `/${id}/configuration`, reader)).toBe(403)
    expect(await status('GET', `/${id}/configuration`, writer)).toBe(200)
    expect(await status('POST', '', reader)).toBe(403)
    expect(await status('PATCH', `/${id}`, reader)).toBe(403)
    expect(await status('DELETE', `/${id}`, reader)).toBe(403)
  })
})
