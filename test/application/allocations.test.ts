import { beforeEach, describe, expect, it } from 'vitest'
import { allocations } from '../../src/db/schema.ts'
import { makeAllocation, makeApplicationToken, makeNode, makeServer } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string
let node: Awaited<ReturnType<typeof makeNode>>

beforeEach(async () => {
  token = await makeApplicationToken(world)
  node = await makeNode(world)
})

const path = (at = '', id: number | string = node.id) => `/api/application/nodes/${id}/allocations${at}`
const list = (query = '') => world.request('GET', path(query), { token })
const add = (body: unknown, id?: number | string) => world.request('POST', path('', id), { token, body })
const remove = (id: number | string, of?: number | string) =>
  world.request('DELETE', path(`/${id}`, of), { token })
const refusal = async (body: unknown) => {
  const answer = await add(body)
  const [error] = answer.body.errors
  return [answer.status, error.code, error.meta?.source_field, error.meta?.rule].filter(Boolean)
}
const stored = async () => {
  const rows = await world.database.db.select().from(allocations).orderBy(allocations.id)
  return rows.map(({ ip, port }) => `${ip} ${port}`)
}

describe('allocations', () => {
  it('are added for every address and port', async () => {
    const { status, text } = await add({
      ip: '203.0.113.9',
      alias: 'play.example.test',
      ports: ['25565', 25566, ' 25570-25571 ', '25571'],
    })
    expect([status, text]).toEqual([204, ''])
    const { body } = await list()
    expect(body.data[0]).toEqual({
      object: 'allocation',
      attributes: {
        id: 1,
        ip: '203.0.113.9',
        alias: 'play.example.test',
        port: 25_565,
        notes: null,
        assigned: false,
      },
    })
    expect(body.data.map((item: any) => item.attributes.port)).toEqual([25_565, 25_566, 25_570, 25_571])
  })

  it('are added for every address of a range, wherever in it the range is written', async () => {
    await add({ ip: '203.0.113.14/30', ports: ['25565'] })
    expect(await stored()).toEqual([12, 13, 14, 15].map((last) => `203.0.113.${last} 25565`))
    await add({ ip: '198.51.100.1/32', ports: ['1025', '65535'] })
    expect((await stored()).slice(4)).toEqual(['198.51.100.1 1025', '198.51.100.1 65535'])
    await add({ ip: '192.0.2.200/25', ports: ['3000'] })
    expect((await stored()).slice(6)).toHaveLength(128)
    expect((await stored()).at(-1)).toBe('192.0.2.255 3000')
  })

  it('have their address in its canonical form', async () => {
    await add({ ip: '2001:DB8:0::1', ports: ['25565'] })
    await add({ ip: '2001:db8::1', ports: ['25565'] })
    expect(await stored()).toEqual(['2001:db8::1 25565'])
    expect((await list('?filter[ip]=2001:DB8::1')).body.meta.pagination.total).toBe(1)
  })

  it('that exist stay as they are', async () => {
    await add({ ip: '203.0.113.9', alias: 'first', ports: ['25565'] })
    expect((await add({ ip: '203.0.113.9', alias: 'second', ports: ['25565', '25566'] })).status).toBe(204)
    const { body } = await list()
    expect(body.data.map((item: any) => item.attributes.alias)).toEqual(['first', 'second'])
  })

  it('are added once when two ask at the same time', async () => {
    const both = await Promise.all([1, 2].map(() => add({ ip: '203.0.113.9', ports: ['25565-25600'] })))
    expect(both.map(({ status }) => status)).toEqual([204, 204])
    expect(await stored()).toHaveLength(36)
  })

  it('refuse what is no address, and ranges that are too wide', async () => {
    const ports = ['25565']
    for (const ip of ['play.example.test', '1.2.3', '203.0.113.256', '010.0.0.1', '203.0.113.0/25/26', '/25'])
      expect(await refusal({ ip, ports })).toEqual([400, 'DisplayException'])
    for (const ip of ['203.0.113.0/24', '203.0.113.0/33', '203.0.113.0/x', '203.0.113.0/', '2001:db8::/32'])
      expect(await refusal({ ip, ports })).toEqual([400, 'CidrOutOfRangeException'])
  })

  it('refuse what is no port, and add nothing then', async () => {
    const ip = '203.0.113.9'
    for (const port of ['http', '25565-', '25565-25566-25567', '25565.5', '-1', '25565, 25566', '1e4', true])
      expect(await refusal({ ip, ports: ['25565', port] })).toEqual([400, 'InvalidPortMappingException'])
    for (const port of ['1024', '1024-1030', '1023', 0, '65536', '1000-1100', '65000-65536', '999999999'])
      expect(await refusal({ ip, ports: ['25565', port] })).toEqual([400, 'PortOutOfRangeException'])
    expect(await refusal({ ip, ports: ['25565', '2000-3000'] })).toEqual([
      400,
      'TooManyPortsInRangeException',
    ])
    expect(await stored()).toEqual([])
  })

  it('are at most a thousand per call', async () => {
    const tooMany = [422, 'ValidationException', 'ports', 'max']
    expect(await refusal({ ip: '203.0.113.9', ports: ['2000-2999', '3000'] })).toEqual(tooMany)
    expect(await refusal({ ip: '203.0.113.0/25', ports: ['2000-2007'] })).toEqual(tooMany)
    expect(await refusal({ ip: '203.0.113.9', ports: Array.from({ length: 1001 }, () => 25_565) })).toEqual(
      tooMany,
    )
    expect((await add({ ip: '203.0.113.9', ports: ['2000-2999', '2500'] })).status).toBe(204)
    expect(await stored()).toHaveLength(1000)
  })

  it('name each broken rule of each field', async () => {
    const { body } = await add({ ip: ['203.0.113.9'], alias: 'x'.repeat(192), ports: [] })
    expect(body.errors.map((error: any) => error.meta)).toMatchObject([
      { source_field: 'ip', rule: 'string' },
      { source_field: 'alias', rule: 'max' },
      { source_field: 'ports', rule: 'required' },
    ])
    expect(await refusal({ ip: '203.0.113.9', ports: '25565' })).toEqual([
      422,
      'ValidationException',
      'ports',
      'array',
    ])
  })

  it('are filtered by what they are and by whose they are', async () => {
    const server = await makeServer(world, { node })
    await makeServer(world, { node })
    await makeAllocation(world, node, { ip: '203.0.113.9', port: 25_565, ipAlias: 'play.example.test' })
    const ids = async (query: string) =>
      (await list(`?${query}`)).body.data.map((item: any) => item.attributes.id)
    expect(await ids('filter[ip]=203.0.113.9')).toEqual([3])
    expect(await ids('filter[ip]=203.0.113')).toEqual([])
    expect(await ids('filter[port]=25565')).toEqual([3])
    expect(await ids('filter[port]=2556')).toEqual([])
    expect(await ids('filter[port]=x')).toEqual([])
    expect(await ids('filter[ip_alias]=PLAY')).toEqual([3])
    expect(await ids(`filter[server_id]=${server.id}`)).toEqual([1])
    expect(await ids('filter[server_id]=1,2')).toEqual([1, 2])
    expect(await ids('filter[server_id]=99999999999')).toEqual([])
    for (const value of ['', '%20', 'false', 'null', '-1', ','])
      expect(await ids(`filter[server_id]=${value}`), value).toEqual([3])
    expect(await ids('filter%5Bserver_id%5D=')).toEqual([3])
    expect(await ids('sort=-port&filter[ip]=')).toEqual([1, 2, 3])
    expect((await list('?filter[node]=1')).body.errors[0].code).toBe('InvalidFilterQuery')
  })

  it('come in pages, each with its relations in one statement', async () => {
    const server = await makeServer(world, { node })
    await makeAllocation(world, node)
    await makeAllocation(world, await makeNode(world))
    const query = '?per_page=1&include=node.location,server.user'
    let answer: any
    expect(await world.countStatements(async () => (answer = await list(query)))).toBe(2)
    expect(answer.body.meta.pagination).toMatchObject({ total: 2, count: 1, total_pages: 2 })
    const { relationships } = answer.body.data[0].attributes
    expect(relationships.node.attributes.relationships.location.attributes.id).toBe(node.locationId)
    expect(relationships.server.attributes.relationships.user.attributes.id).toBe(server.ownerId)
    expect(answer.text).not.toContain(node.daemonTokenId)
    const second = await list(`${query}&page=2`)
    const nothing = { object: 'null_resource', attributes: null }
    expect(second.body.data[0].attributes.relationships.server).toEqual(nothing)
    expect((await list(`${query}&page=3`)).body).toMatchObject({
      data: [],
      meta: { pagination: { total: 2 } },
    })
    const poor = await makeApplicationToken(world, { allocations: 1 })
    const denied = await world.request('GET', path(query), { token: poor })
    expect(denied.body.data[0].attributes.relationships).toEqual({ node: nothing, server: nothing })
  })

  it('are removed while they are free, and only by their own node', async () => {
    const { allocationId } = await makeServer(world, { node })
    const free = await makeAllocation(world, node)
    const foreign = await makeAllocation(world, await makeNode(world))
    const used = await remove(allocationId)
    expect([used.status, used.body.errors[0].code]).toEqual([400, 'ServerUsingAllocationException'])
    expect((await remove(foreign.id)).status).toBe(404)
    expect((await remove(allocationId, foreign.nodeId)).status).toBe(404)
    expect((await remove(free.id)).status).toBe(204)
    expect((await remove(free.id)).status).toBe(404)
    expect(await stored()).toHaveLength(2)
  })

  it('need a node that exists', async () => {
    for (const id of ['999', '0', '2147483648', 'x']) {
      expect((await world.request('GET', path('', id), { token })).status).toBe(404)
      expect((await add({ ip: '203.0.113.9', ports: ['25565'] }, id)).status).toBe(404)
      expect((await remove(1, id)).status).toBe(404)
    }
    expect((await remove('99999999999')).status).toBe(404)
  })

  it('need the level of their resource', async () => {
    const { id } = await makeAllocation(world, node)
    const reader = await makeApplicationToken(world, { allocations: 1, nodes: 3 })
    const other = await makeApplicationToken(world, { nodes: 3 })
    expect((await world.request('GET', path(), { token: reader })).status).toBe(200)
    expect((await world.request('GET', path(), { token: other })).status).toBe(403)
    expect((await world.request('POST', path(), { token: reader, body: {} })).status).toBe(403)
    expect((await world.request('DELETE', path(`/${id}`), { token: reader })).status).toBe(403)
  })
})
