import { beforeEach, describe, expect, it } from 'vitest'
import { makeAllocation, makeApplicationToken, makeNode, makeServer, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

async function idsOf(path: string, query: Record<string, string>): Promise<number[]> {
  const address = `/api/application/${path}?${new URLSearchParams(query)}`
  const { status, body } = await world.request('GET', address, { token })
  expect(status).toBe(200)
  return (body as { data: { attributes: { id: number } }[] }).data.map(({ attributes }) => attributes.id)
}

describe('the list of servers', () => {
  it('is filtered by owner, node, location, egg and status, each with alternatives', async () => {
    const [here, there] = [await makeNode(world), await makeNode(world)]
    const owner = await makeUser(world)
    const first = await makeServer(world, { node: here, owner })
    const second = await makeServer(world, { node: there, status: 'suspended' })
    const third = await makeServer(world, { node: there, status: 'installing' })
    const filtered = (name: string, value: number | string) =>
      idsOf('servers', { [`filter[${name}]`]: String(value) })
    expect(await filtered('user_id', owner.id)).toEqual([first.id])
    expect(await filtered('node_id', there.id)).toEqual([second.id, third.id])
    expect(await filtered('node_id', `${here.id},${there.id}`)).toEqual([first.id, second.id, third.id])
    expect(await filtered('location_id', here.locationId)).toContain(first.id)
    expect(await filtered('location_id', 999_999)).toEqual([])
    expect(await filtered('egg_id', first.eggId)).toContain(first.id)
    expect(await filtered('status', 'suspended')).toEqual([second.id])
    expect(await filtered('status', 'normal')).toEqual([first.id])
    expect(await filtered('status', 'normal,installing')).toEqual([first.id, third.id])
    expect(await filtered('user_id', 'none')).toEqual([])
    expect(await filtered('status', 'none')).toEqual([])
  })
})

describe('searching', () => {
  it('finds users by parts of their name, address, uuid and external id', async () => {
    const user = await makeUser(world, { username: 'zebra', email: 'stripes@mail.test' })
    for (const search of ['zebr', 'stripes@', user.uuid.slice(0, 18)])
      expect(await idsOf('users', { search }), search).toEqual([user.id])
    expect(await idsOf('users', { search: 'no such user' })).toEqual([])
  })

  it('finds nodes by parts of their name, domain and uuid', async () => {
    const node = await makeNode(world, { name: 'Heron', fqdn: 'heron.nodes.test' })
    await makeNode(world, { name: 'Stork', fqdn: 'stork.nodes.test' })
    for (const search of ['hero', 'heron.nodes', node.uuid.slice(0, 18)])
      expect(await idsOf('nodes', { search }), search).toEqual([node.id])
    expect(await idsOf('nodes', { 'filter[location_id]': String(node.locationId) })).toContain(node.id)
  })

  it('finds servers by their address, also an alias or IPv6, with its port', async () => {
    const node = await makeNode(world)
    const server = await makeServer(world, { node })
    const values = { serverId: server.id }
    await makeAllocation(world, node, {
      ...values,
      ip: '203.0.113.9',
      port: 25_777,
      ipAlias: 'Play.Heron.test',
    })
    await makeAllocation(world, node, { ...values, ip: '2001:db8::7', port: 25_778 })
    for (const search of ['203.0.113.9:25777', '203.0.113.9', 'play.heron.test:25777', '[2001:db8::7]:25778'])
      expect(await idsOf('servers', { search }), search).toEqual([server.id])
    for (const search of ['203.0.113.9:25778', 'play.heron.test:1', 'x:99999'])
      expect(await idsOf('servers', { search }), search).toEqual([])
  })
})
