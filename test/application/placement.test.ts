import { beforeEach, describe, expect, it } from 'vitest'
import { nodeHeartbeats } from '../../src/db/schema.ts'
import {
  makeAllocation,
  makeApplicationToken,
  makeLocation,
  makeNode,
  makeServer,
} from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

const ask = (query: string) => world.request('GET', `/api/application/nodes/placement?${query}`, { token })
const placements = async (query: string) => {
  const { status, body } = await ask(query)
  expect(status).toBe(200)
  return Object.fromEntries(
    body.data.map(({ attributes }: any) => [attributes.name, attributes.fits ? 'fits' : attributes.reasons]),
  )
}
/** Makes a node with so many free allocations from port 25565. */
async function makeNodeWith(free: number, values: Parameters<typeof makeNode>[1]) {
  const node = await makeNode(world, { memory: 4096, disk: 4096, ...values })
  for (let at = 0; at < free; at += 1)
    await makeAllocation(world, node, { ip: '203.0.113.1', port: 25_565 + at })
  return node
}

describe('the nodes for a server', () => {
  it('come with why they do not take it, those that do first, then by name', async () => {
    const here = await makeLocation(world)
    const there = await makeLocation(world)
    const locationId = here.id
    await makeNodeWith(1, { name: 'zebra', locationId })
    await makeNodeWith(0, { name: 'Full', locationId })
    await makeNodeWith(1, { name: 'hidden', locationId, public: false })
    await makeNodeWith(1, { name: 'closed', locationId, maintenanceMode: true })
    await makeNodeWith(1, { name: 'small', locationId, memory: 512, disk: 512 })
    await makeNodeWith(1, { name: 'far', locationId: there.id })
    const silent = await makeNodeWith(1, { name: 'silent', locationId })
    const now = new Date()
    await world.database.db
      .insert(nodeHeartbeats)
      .values({ id: silent.id, isUp: false, since: now, checkedAt: now, cause: 'timeout' })
    const found = await placements(`memory=1024&disk=1024&location_ids[]=${here.id}`)
    expect(found).toEqual({
      zebra: 'fits',
      closed: ['maintenance'],
      far: ['location'],
      Full: ['allocation'],
      hidden: ['private'],
      silent: ['down'],
      small: ['memory', 'disk'],
    })
    expect(Object.keys(found)).toEqual(['zebra', 'closed', 'far', 'Full', 'hidden', 'silent', 'small'])
  })

  it('count what servers take, over-allocation, ports and the number of allocations', async () => {
    const node = await makeNodeWith(2, { name: 'one', memoryOverallocate: 50, diskOverallocate: -1 })
    await makeServer(world, { node, memory: 4096, disk: 4096 })
    const { body } = await ask('memory=2048&disk=999999')
    expect(body.data[0].attributes).toEqual({
      node_id: node.id,
      name: 'one',
      fits: true,
      reasons: [],
      free: { memory: 2048, disk: null },
    })
    expect(await placements('memory=2049&disk=0')).toEqual({ one: ['memory'] })
    expect(await placements('memory=0&disk=0&allocations=2')).toEqual({ one: 'fits' })
    expect(await placements('memory=0&disk=0&allocations=3')).toEqual({ one: ['allocation'] })
    expect(await placements('memory=0&disk=0&port_range[]=25566')).toEqual({ one: 'fits' })
    expect(await placements('memory=0&disk=0&port_range[]=30000-30010')).toEqual({ one: ['allocation'] })
  })

  it('come in pages, and are found by name', async () => {
    for (const name of ['a', 'b', 'c']) await makeNodeWith(0, { name })
    const { body } = await ask('memory=0&disk=0&per_page=2&page=2')
    expect(body.data.map(({ attributes }: any) => attributes.name)).toEqual(['c'])
    expect(body.meta.pagination).toMatchObject({ total: 3, per_page: 2, current_page: 2 })
    expect(Object.keys(await placements('memory=0&disk=0&search=B'))).toEqual(['b'])
  })

  it('are refused without a size, with odd ports, and without access to nodes', async () => {
    const fieldOf = ({ body }: any) => body.errors[0].meta.source_field
    expect(fieldOf(await ask('disk=0'))).toBe('memory')
    expect(fieldOf(await ask('memory=0&disk=0&port_range[]=x'))).toBe('deploy.port_range.0')
    const other = await makeApplicationToken(world, { servers: 3 })
    const answer = await world.request('GET', '/api/application/nodes/placement?memory=0&disk=0', {
      token: other,
    })
    expect(answer.status).toBe(403)
  })
})
