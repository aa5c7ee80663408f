import { eq, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { eggs, servers, serverStates } from '../../src/db/schema.ts'
import { processStates } from '../../src/db/tables/server-states.ts'
import { makeApplicationToken, makeEgg, makeNode, makeServer, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

/** What the list sorts a server by. */
type Sorted = {
  id: number
  name: string
  node: string
  egg: string
  owner: string
  memory: number
  state: string
}
let all: Sorted[]

const nodeNames = ['delta', 'Alpha', 'charlie', 'Bravo']
const serverNames = ['zeta', 'Alpha', 'beta', 'alpha', 'Beta']

beforeEach(async () => {
  token = await makeApplicationToken(world)
  const nodes = []
  for (const name of nodeNames) nodes.push(await makeNode(world, { name }))
  const owners = [await makeUser(world, { username: 'zoe' }), await makeUser(world, { username: 'adam' })]
  const kinds = [await makeEgg(world), await makeEgg(world), await makeEgg(world)]
  for (const [at, { id }] of kinds.entries())
    await world.database.db
      .update(eggs)
      .set({ name: ['Rust', 'ark', 'Minecraft'][at] ?? '' })
      .where(eq(eggs.id, id))
  all = []
  for (let at = 0; at < 23; at += 1) {
    const pick = <T>(values: readonly T[], step: number): T => values[(at * step) % values.length] as T
    const node = pick(nodes, 3)
    const name = pick(serverNames, 2)
    const owner = pick(owners, 1)
    const memory = 256 * (at % 3)
    const server = await makeServer(world, { node, owner, name, memory })
    const egg = pick(kinds, 2)
    await world.database.db.update(servers).set({ eggId: egg.id }).where(eq(servers.id, server.id))
    // One in six was never reported by its node.
    const state = at % 6 === 0 ? '' : pick(processStates, 1)
    if (state !== '')
      await world.database.db
        .insert(serverStates)
        .values({ id: server.id, state: state as 'running', since: new Date() })
    const eggName = ['Rust', 'ark', 'Minecraft'][kinds.indexOf(egg)] ?? ''
    all.push({ id: server.id, name, node: node.name, egg: eggName, owner: owner.username, memory, state })
  }
})

async function pagesOf(query: string): Promise<number[]> {
  const ids: number[] = []
  for (let page = 1; ; page += 1) {
    const address = `/api/application/servers?per_page=5&page=${page}&${query}`
    const { status, body } = await world.request('GET', address, { token })
    expect(status).toBe(200)
    if (body.data.length === 0) return ids
    ids.push(...body.data.map((row: { attributes: { id: number } }) => row.attributes.id))
  }
}

/** States in their order, from what is off to what runs. */
const states = ['offline', 'stopping', 'starting', 'running']

const keyOf = (server: Sorted, field: keyof Sorted) => {
  const value = server[field]
  if (field === 'state' && value !== '') return states.indexOf(server.state)
  return typeof value === 'string' ? value.toLowerCase() : value
}

/** Compares as the list does: unknown states last in both directions, equal ones by id in the same direction. */
function expectedIds(field: keyof Sorted, isDescending: boolean, rows = all): number[] {
  const sign = isDescending ? -1 : 1
  return rows
    .toSorted((one, other) => {
      const [left, right] = [keyOf(one, field), keyOf(other, field)]
      if (field === 'state' && (left === '') !== (right === '')) return left === '' ? 1 : -1
      return left < right ? -sign : left > right ? sign : sign * (one.id - other.id)
    })
    .map(({ id }) => id)
}

const fields = ['id', 'name', 'node', 'egg', 'owner', 'memory', 'state'] as const

describe.each(fields)('servers by %s', (field) => {
  it('stand in that order on every page, in both directions', async () => {
    expect(await pagesOf(`sort=${field}`)).toEqual(expectedIds(field, false))
    expect(await pagesOf(`sort=-${field}`)).toEqual(expectedIds(field, true))
  })

  it('stand in that order when they are filtered', async () => {
    const alpha = all.filter(({ name }) => name.toLowerCase() === 'alpha')
    expect(await pagesOf(`sort=-${field}&filter[name]=alpha`)).toEqual(expectedIds(field, true, alpha))
  })
})

/** Makes as many servers as a search counts at most, and more, all like the first one. */
const makeMany = (count: number) =>
  world.database.transaction(async (db) => {
    await db.execute(sql`
      insert into servers (uuid, uuid_short, node_id, owner_id, egg_id, allocation_id, name, memory, swap, disk, io, cpu, startup, image)
      select uuid, left(uuid::text, 8), node_id, owner_id, egg_id, 100000 + n, 'many', n % 3, 0, 0, 500, 0, 'run', 'image'
      from (select gen_random_uuid() as uuid, n, node_id, owner_id, egg_id from servers
        cross join generate_series(1, ${count}) n where id = ${all[0]?.id}) made`)
    await db.execute(sql`
      insert into allocations (id, node_id, ip, port, server_id) overriding system value
      select allocation_id, node_id, '198.51.100.1', allocation_id - 90000, id from servers where name = 'many'`)
  })

describe('more matches of a filter than are counted', () => {
  it('stand in the order of every sort', async () => {
    await makeMany(1010)
    for (const field of fields) {
      const query = `per_page=5&sort=-${field}&filter[name]=many`
      const { body } = await world.request('GET', `/api/application/servers?${query}`, { token })
      const found = body.data.map(({ attributes }: { attributes: { id: number } }) => attributes.id)
      expect(found, field).toEqual(found.toSorted((one: number, other: number) => other - one))
      expect(found, field).toHaveLength(5)
    }
  })
})

describe('the filter by state', () => {
  it('finds servers by what their node reported, and those that no node has reported', async () => {
    const ids = (state: string) =>
      all.filter((server) => state.split(',').includes(server.state)).map(({ id }) => id)
    expect(await pagesOf('filter[state]=running')).toEqual(ids('running'))
    expect(await pagesOf('filter[state]=running,offline')).toEqual(ids('running,offline'))
    expect(await pagesOf('filter[state]=unknown')).toEqual(ids(''))
    expect(await pagesOf('filter[state]=dancing')).toEqual([])
  })

  it('has the state beside each server that includes it', async () => {
    const [reported, unreported] = [
      all.find(({ state }) => state === 'running'),
      all.find(({ state }) => state === ''),
    ]
    const show = async (id = 0) =>
      (await world.request('GET', `/api/application/servers/${id}?include=state`, { token })).body.attributes
        .relationships.state
    expect(await show(reported?.id)).toMatchObject({
      object: 'server_state',
      attributes: { server_id: reported?.id, state: 'running' },
    })
    expect(await show(unreported?.id)).toEqual({ object: 'null_resource', attributes: null })
  })
})

describe('a sort by several fields', () => {
  it('applies them one after the other', async () => {
    const expected = all.toSorted(
      (one, other) => one.owner.localeCompare(other.owner) || other.memory - one.memory || other.id - one.id,
    )
    expect(await pagesOf('sort=owner,-memory')).toEqual(expected.map(({ id }) => id))
  })

  it('is refused for an unknown one', async () => {
    const { status, body } = await world.request('GET', '/api/application/servers?sort=image', { token })
    expect(status).toBe(400)
    expect(body.errors[0].code).toBe('InvalidSortQuery')
  })
})
