import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import * as tables from '../../src/db/schema.ts'
import { makeApplicationToken, makeEgg, makeLocation, makeNode, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let headers: Record<string, string>

beforeEach(async () => {
  headers = { authorization: `Bearer ${await makeApplicationToken(world)}` }
})

type Related = { data: { attributes: { id: number; assigned?: boolean } }[]; meta?: { truncated: boolean } }
type Shown = { attributes: { relationships: Record<string, Related> } }

const show = async (path: string): Promise<Record<string, Related>> => {
  const response = await world.request('GET', `/api/application/${path}`, { headers })
  expect(response.status).toBe(200)
  return (response.body as Shown).attributes.relationships
}

/** Makes servers of one owner on one node, each with its allocation. */
async function makeServers(count: number) {
  const owner = await makeUser(world)
  const location = await makeLocation(world)
  const node = await makeNode(world, { locationId: location.id })
  const egg = await makeEgg(world)
  await world.database.transaction(async (db) => {
    await db.execute(sql`insert into ${tables.allocations} (node_id, ip, port)
      select ${node.id}, '198.51.100.9', 2000 + n from generate_series(1, ${count}) n`)
    await db.execute(sql`insert into ${tables.servers} (uuid, uuid_short, node_id, owner_id, egg_id, allocation_id, name,
        memory, swap, disk, io, cpu, startup, image)
      select uuid, left(uuid::text, 8), ${node.id}, ${owner.id}, ${egg.id}, id, 'Server ' || id, 1, 0, 1, 500, 1, 'run', 'image'
      from (select id, md5(id::text)::uuid as uuid from ${tables.allocations} where node_id = ${node.id}) made`)
    await db.execute(sql`update ${tables.allocations} set server_id = server.id
      from ${tables.servers} server where server.allocation_id = allocations.id`)
  })
  return { owner, location, node, egg }
}

const ids = ({ data }: Related) => data.map(({ attributes }) => attributes.id)

describe('the rows of an included relation', () => {
  it('are the first 500 of a parent that has more, and the answer says so', async () => {
    const { owner, location, node, egg } = await makeServers(501)
    const parents = [
      `users/${owner.id}`,
      `locations/${location.id}`,
      `nodes/${node.id}`,
      `nests/${egg.nestId}`,
      `nests/${egg.nestId}/eggs/${egg.id}`,
    ]
    for (const parent of parents) {
      const { servers } = await show(`${parent}?include=servers,servers.user`)
      expect(servers?.data, parent).toHaveLength(500)
      expect(servers?.meta, parent).toEqual({ truncated: true })
      expect(ids(servers as Related)).toEqual(ids(servers as Related).toSorted((left, right) => left - right))
    }
  })

  it('are all of them by id while they are few, without a word about it', async () => {
    const { location } = await makeServers(500)
    const { servers } = await show(`locations/${location.id}?include=servers`)
    expect(servers).not.toHaveProperty('meta')
    expect(ids(servers as Related)).toEqual(Array.from({ length: 500 }, (_, at) => at + 1))
  })

  it('begin with the free allocations, where integrations look for a port', async () => {
    const { node } = await makeServers(500)
    await world.database.db.execute(
      sql`insert into ${tables.allocations} (node_id, ip, port) select ${node.id}, '198.51.100.10', 2000 + n from generate_series(1, 20) n`,
    )
    const { allocations } = await show(`nodes/${node.id}?include=allocations`)
    expect(allocations?.meta).toEqual({ truncated: true })
    expect(allocations?.data).toHaveLength(500)
    expect(allocations?.data.filter(({ attributes }) => attributes.assigned === false)).toHaveLength(20)
  })

  it('are 5,000 in one answer; the parents behind have none, and say so', async () => {
    const location = await makeLocation(world)
    for (let at = 0; at < 12; at += 1) await makeNode(world, { locationId: location.id })
    await world.database.db.execute(
      sql`insert into ${tables.allocations} (node_id, ip, port) select node.id, '198.51.100.11', 2000 + n from ${tables.nodes} node, generate_series(1, 450) n`,
    )
    const { nodes } = await show(`locations/${location.id}?include=nodes,nodes.allocations`)
    const lists = (nodes as unknown as { data: Shown[] }).data.map(
      ({ attributes }) => attributes.relationships.allocations as Related,
    )
    expect(lists.map(({ data }) => data.length)).toEqual([...Array.from({ length: 11 }, () => 450), 50])
    expect(lists.map(({ meta }) => meta?.truncated ?? false)).toEqual([
      ...Array.from({ length: 11 }, () => false),
      true,
    ])
  })
})
