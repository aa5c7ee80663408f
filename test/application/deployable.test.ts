import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { nodes } from '../../src/db/schema.ts'
import {
  fullAcl,
  makeAllocation,
  makeApplicationToken,
  makeLocation,
  makeNode,
  makeServer,
} from '../support/factories.ts'
import type { Answer } from '../support/answers.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

const ask = (query: string) => world.request('GET', `/api/application/nodes/deployable?${query}`, { token })
const idsOf = ({ body }: Answer) => body.data.map((item: any) => item.attributes.id)
const rule = ({ body }: Answer) =>
  body.errors.map((error: any) => [error.meta?.source_field, error.meta?.rule])
const change = (node: { id: number }, values: Partial<typeof nodes.$inferInsert>) =>
  world.database.db.update(nodes).set(values).where(eq(nodes.id, node.id))

describe('nodes that can take a server', () => {
  it('come in one list with the sums of what is taken, when no page is named', async () => {
    const node = await makeNode(world, { memory: 2048, disk: 4096 })
    await makeServer(world, { node, memory: 512, disk: 1024 })
    for (let n = 0; n < 60; n += 1) await makeNode(world)
    const { status, body } = await ask('memory=1536&disk=3072')
    expect(status).toBe(200)
    expect(body.data).toHaveLength(61)
    expect(body).not.toHaveProperty('meta')
    expect(body.data[0]).toMatchObject({
      object: 'node',
      attributes: {
        id: node.id,
        sum_memory: '512',
        sum_disk: '1024',
        allocated_resources: { memory: 512, disk: 1024 },
      },
    })
    expect(JSON.stringify(body)).not.toMatch(/daemon_token/)
  })

  it('come in pages when one is named', async () => {
    for (let n = 0; n < 60; n += 1) await makeNode(world)
    const first = await ask('memory=1&disk=1&page=1')
    expect(first.body.data).toHaveLength(50)
    expect(first.body.meta.pagination).toMatchObject({ total: 60, per_page: 50, total_pages: 2 })
    const { next } = first.body.meta.pagination.links
    expect(next).toContain('memory=1&disk=1&page=2')
    const second = await world.request('GET', next.replace('http://panel.test', ''), { token })
    expect(second.body.data).toHaveLength(10)
    const small = await ask('memory=1&disk=1&page=3&per_page=20')
    expect(small.body.data).toHaveLength(20)
    expect(new Set([...idsOf(first), ...idsOf(second)]).size).toBe(60)
    const beyond = await ask('memory=1&disk=1&page=9')
    expect([beyond.status, beyond.body.data]).toEqual([200, []])
  })

  it('have room by what their servers take and what may be given away beyond', async () => {
    const node = await makeNode(world, { memory: 1000, disk: 1000 })
    await makeServer(world, { node, memory: 600, disk: 600 })
    expect(idsOf(await ask('memory=400&disk=400'))).toEqual([node.id])
    expect((await ask('memory=401&disk=400')).status).toBe(400)
    expect((await ask('memory=400&disk=401')).status).toBe(400)
    await change(node, { memoryOverallocate: 10 })
    expect((await ask('memory=500&disk=400')).status).toBe(200)
    expect((await ask('memory=501&disk=400')).status).toBe(400)
    await change(node, { memoryOverallocate: -1, diskOverallocate: -1 })
    expect((await ask('memory=2147483647&disk=2147483647')).status).toBe(200)
    expect((await ask('memory=0&disk=0')).status).toBe(200)
  })

  it('are public, not in maintenance, and in one of the locations', async () => {
    const [here, there] = [await makeLocation(world), await makeLocation(world)]
    const one = await makeNode(world, { locationId: here.id })
    const other = await makeNode(world, { locationId: there.id })
    await makeNode(world, { public: false })
    await makeNode(world, { maintenanceMode: true })
    expect(idsOf(await ask('memory=1&disk=1'))).toEqual([one.id, other.id])
    expect(idsOf(await ask(`memory=1&disk=1&location_ids[]=${there.id}`))).toEqual([other.id])
    const both = `location_ids[0]=${here.id}&location_ids[1]=${there.id}`
    expect(idsOf(await ask(`memory=1&disk=1&${both}`))).toEqual([one.id, other.id])
    expect((await ask('memory=1&disk=1&location_ids[]=99999')).status).toBe(400)
  })

  it('are refused by name when there is none', async () => {
    const { status, body } = await ask('memory=1&disk=1&page=1')
    expect(status).toBe(400)
    expect(body.errors[0].code).toBe('NoViableNodeException')
  })

  it('need to be told memory and disk', async () => {
    await makeNode(world)
    expect(rule(await ask(''))).toEqual([
      ['memory', 'required'],
      ['disk', 'required'],
    ])
    expect(rule(await ask('memory=-1&disk=1.5'))).toEqual([
      ['memory', 'min'],
      ['disk', 'integer'],
    ])
    expect(rule(await ask('memory=1&disk=1&location_ids[]=x'))).toEqual([['location_ids.0', 'integer']])
    expect(rule(await ask('memory=1&disk=1&location_ids=1'))).toEqual([['location_ids', 'array']])
  })

  it('bring their relations in two statements, as far as the key may read them', async () => {
    const node = await makeNode(world)
    const allocation = await makeAllocation(world, node)
    for (const paging of ['', '&page=1']) {
      let answer: Answer | null = null
      const count = await world.countStatements(async () => {
        answer = await ask(`memory=1&disk=1&include[]=allocations&include[]=location${paging}`)
      })
      expect(count).toBe(2)
      expect((answer as Answer | null)?.body.data[0].attributes.relationships).toMatchObject({
        allocations: { data: [{ attributes: { id: allocation.id } }] },
        location: { attributes: { id: node.locationId } },
      })
    }
    token = await makeApplicationToken(world, { ...fullAcl, allocations: 0 })
    const { body } = await ask('memory=1&disk=1&include=allocations')
    expect(body.data[0].attributes.relationships.allocations).toEqual({
      object: 'null_resource',
      attributes: null,
    })
  })
})
