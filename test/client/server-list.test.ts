import { beforeEach, describe, expect, it } from 'vitest'
import { eq } from 'drizzle-orm'
import { allocations, eggs, nodes, servers, serverStates, subusers, transfers } from '../../src/db/schema.ts'
import {
  makeAllocation,
  makeClientToken,
  makeEgg,
  makeNode,
  makeServer,
  makeSubuser,
  makeUser,
} from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let user: Awaited<ReturnType<typeof makeUser>>
let admin: Awaited<ReturnType<typeof makeUser>>
let node: Awaited<ReturnType<typeof makeNode>>
let egg: Awaited<ReturnType<typeof makeEgg>>

beforeEach(async () => {
  user = await makeUser(world)
  admin = await makeUser(world, { rootAdmin: true })
  node = await makeNode(world)
  egg = await makeEgg(world)
})

const make = (values: Parameters<typeof makeServer>[1] = {}) =>
  makeServer(world, { owner: user, node, egg, ...values })

const list = async (query = '', as = user) =>
  world.request('GET', `/api/client${query}`, { token: await makeClientToken(world, as) })

const names = async (query = '', as = user): Promise<string[]> =>
  (await list(query, as)).body.data.map((item: any) => item.attributes.name)

const find = async (filter: string, value: string) => names(`?filter[${filter}]=${encodeURIComponent(value)}`)

describe('the list of servers', () => {
  it('holds what the caller owns or was let into, also for administrators', async () => {
    await make({ name: 'owned' })
    await makeSubuser(world, await make({ name: 'shared', owner: admin }), user, ['control.start'])
    await make({ name: 'foreign', owner: admin })
    expect(await names()).toEqual(['owned', 'shared'])
    expect(await names('?type=whatever')).toEqual(['owned', 'shared'])
    expect(await names('?type[]=admin-all')).toEqual(['owned', 'shared'])
    expect(await names('?type=owner')).toEqual(['owned'])
    expect(await names('', admin)).toEqual(['shared', 'foreign'])
  })

  it('goes beyond that for administrators who ask', async () => {
    const owned = await make({ name: 'owned' })
    const shared = await make({ name: 'shared' })
    await make({ name: 'own', owner: admin })
    await makeSubuser(world, shared, admin, [])
    expect(await names('?type=admin', admin)).toEqual(['owned'])
    expect(await names('?type=admin-all', admin)).toEqual(['owned', 'shared', 'own'])
    for (const type of ['admin', 'admin-all']) {
      const { status, body } = await list(`?type=${type}`, user)
      expect([status, body.data, body.meta.pagination.total]).toEqual([200, [], 0])
    }
    const { body } = await list(`?type=admin-all&filter[uuid]=${owned.uuid}`, admin)
    expect(body.data[0].attributes).toMatchObject({ server_owner: false, uuid: owned.uuid })
    expect(body.data[0].attributes.relationships.variables.object).toBe('list')
  })

  it('stands in the order that is asked for, over all pages, and no other', async () => {
    const other = await makeNode(world, { name: 'alpha node' })
    await world.services.db.update(nodes).set({ name: 'Beta node' }).where(eq(nodes.id, node.id))
    for (const [name, home] of [
      ['delta', node],
      ['Bravo', other],
      ['alpha', node],
      ['Charlie', other],
    ] as const)
      await make({ name, node: home })
    await makeSubuser(world, await make({ name: 'echo', owner: admin }), user, ['control.start'])
    const paged = async (query: string) => [
      ...(await names(`?per_page=3&${query}`)),
      ...(await names(`?per_page=3&page=2&${query}`)),
    ]
    expect(await paged('sort=name')).toEqual(['alpha', 'Bravo', 'Charlie', 'delta', 'echo'])
    expect(await paged('sort=-name')).toEqual(['echo', 'delta', 'Charlie', 'Bravo', 'alpha'])
    expect(await paged('sort=node')).toEqual(['Bravo', 'Charlie', 'delta', 'alpha', 'echo'])
    expect((await list('?sort=owner')).status).toBe(400)
    expect(await names('?type=owner&sort=-name')).toEqual(['delta', 'Charlie', 'Bravo', 'alpha'])
    expect(await names('?type=admin-all&sort=-name', admin)).toEqual([
      'echo',
      'delta',
      'Charlie',
      'Bravo',
      'alpha',
    ])
    expect(await names('?type=admin&sort=node', admin)).toEqual(['Bravo', 'Charlie', 'delta', 'alpha'])
    const { body } = await list('?per_page=3&sort=name')
    expect(body.meta.pagination).toMatchObject({ total: 5, total_pages: 2 })
    expect(body.data[1].attributes).toMatchObject({ name: 'Bravo', node: 'alpha node', server_owner: true })
  })

  it('filters by state, node and game, and by owners that the caller may know', async () => {
    const running = await make({ name: 'running' })
    const offline = await make({ name: 'offline', node: await makeNode(world, { name: 'Other node' }) })
    await world.services.db.insert(serverStates).values([
      { id: running.id, state: 'running', since: new Date() },
      { id: offline.id, state: 'offline', since: new Date() },
    ])
    await makeSubuser(
      world,
      await make({ name: 'silent', owner: admin, egg: await makeEgg(world) }),
      user,
      [],
    )
    await world.services.db.update(eggs).set({ name: 'Ark' }).where(eq(eggs.id, egg.id))
    expect(await find('state', 'running,offline')).toEqual(['running', 'offline'])
    expect(await find('state', 'unknown')).toEqual(['silent'])
    expect(await find('node', 'other node')).toEqual(['offline'])
    expect(await find('egg', 'ark')).toEqual(['running', 'offline'])
    expect(await find('owner', user.username)).toEqual(['running', 'offline'])
    expect(await find('owner', admin.username)).toEqual([])
    expect(await names(`?type=admin-all&filter[owner]=${user.username}`, admin)).toEqual([
      'running',
      'offline',
    ])
    expect(await names('?sort=-name&filter[state]=running,offline')).toEqual(['running', 'offline'])
  })

  it('finds nothing where nothing matches, in every scope, and says so in its pages', async () => {
    await make({ name: 'only' })
    for (const query of [
      'filter[state]=running',
      'filter[state]=nonsense',
      'filter[node]=elsewhere',
      'filter[egg]=nothing',
      'filter[owner]=missing',
      'filter[state]=unknown&filter[node]=elsewhere',
      'sort=-state&filter[name]=other',
    ])
      for (const [type, as] of [
        ['accessible', user],
        ['owner', user],
        ['admin-all', admin],
      ] as const) {
        const { status, body } = await list(`?type=${type}&${query}`, as)
        expect([status, body.data], query).toEqual([200, []])
        expect(body.meta.pagination, query).toMatchObject({ total: 0, count: 0, total_pages: 1, links: {} })
      }
  })

  it('filters and sorts for subusers what they were let into, and for other users nothing', async () => {
    const other = await makeNode(world, { name: 'Other node' })
    const [first, second] = [
      await make({ name: 'first', owner: admin, node: other }),
      await make({ name: 'second', owner: admin }),
    ]
    await make({ name: 'third', owner: admin })
    for (const { id } of [first, second])
      await world.services.db.insert(serverStates).values({ id, state: 'running', since: new Date() })
    await makeSubuser(world, first, user, ['control.start'])
    await makeSubuser(world, second, user, [])
    const otherUser = await makeUser(world)
    for (const [query, found] of [
      ['filter[state]=running', ['first', 'second']],
      ['filter[state]=unknown', []],
      ['filter[node]=Other node', ['first']],
      [`filter[owner]=${admin.username}`, []],
      ['sort=-name', ['second', 'first']],
      ['sort=state,name', ['first', 'second']],
      ['sort=node&filter[state]=running', ['second', 'first']],
    ] as const) {
      const path = `?${query.replace(' ', '%20')}`
      expect((await names(path)).toSorted(), query).toEqual([...found].toSorted())
      if (query.startsWith('sort=-') || query.startsWith('sort=state'))
        expect(await names(path)).toEqual(found)
      expect(await names(path, otherUser), query).toEqual([])
      expect(await names(`${path}&type=admin-all`, otherUser), query).toEqual([])
    }
  })

  it('takes one statement for fifty servers with their caller, whatever is included', async () => {
    for (let n = 0; n < 50; n += 1) await make({ name: `n${n}` })
    const token = await makeClientToken(world, user)
    for (const query of [
      '',
      '?include=egg,subusers',
      '?filter[*]=n&type=owner',
      '?sort=-name&filter[state]=unknown',
    ]) {
      let body: any
      const work = async () => (body = (await world.request('GET', `/api/client${query}`, { token })).body)
      expect(await world.countStatements(work)).toBe(1)
      expect(body.data).toHaveLength(50)
      expect(body.meta.pagination).toMatchObject({ total: 50, per_page: 50, total_pages: 1, links: {} })
      expect(body.data[0].attributes.relationships.allocations.data).toHaveLength(1)
    }
  })

  it('comes in pages by id whose links keep the query', async () => {
    for (const name of ['c', 'b', 'a']) await make({ name })
    const { body } = await list('?per_page=2&sort=-name&type=owner')
    expect(body.data.map((item: any) => item.attributes.name)).toEqual(['c', 'b'])
    expect(body.meta.pagination).toMatchObject({ total: 3, count: 2, total_pages: 2, current_page: 1 })
    expect(body.meta.pagination.links.next).toBe(
      'http://panel.test/api/client?per_page=2&sort=-name&type=owner&page=2',
    )
    expect(await names('?per_page=2&page=2')).toEqual(['a'])
    const past = await list('?per_page=2&page=9')
    expect([past.body.data, past.body.meta.pagination.total]).toEqual([[], 3])
    expect((await list('?per_page=1000')).body.meta.pagination.per_page).toBe(100)
    expect((await list('?per_page=0&page=-1')).body.meta.pagination).toMatchObject({
      per_page: 50,
      current_page: 1,
    })
  })

  it('has owned and shared servers in one order over all pages, each once, and no invitation', async () => {
    const other = await makeNode(world)
    for (const [n, owner] of [user, admin, user, admin, admin, user].entries()) {
      const server = await make({ name: `n${n}`, owner, ...(n % 2 === 0 ? { node: other } : {}) })
      // Of an owner who was a subuser before, the row may still be there.
      if (n !== 2 && n !== 4) await makeSubuser(world, server, user, ['startup.read'])
      if (n === 4)
        await world.database.db
          .insert(subusers)
          .values({ serverId: server.id, userId: user.id, permissions: [], pending: true })
    }
    const all = ['n0', 'n1', 'n2', 'n3', 'n5']
    expect(await names()).toEqual(all)
    const pages = [1, 2, 3].map((page) => names(`?per_page=2&page=${page}`))
    expect((await Promise.all(pages)).flat()).toEqual(all)
    const { body } = await list('?per_page=2')
    expect(body.meta.pagination).toMatchObject({ total: 5, count: 2, total_pages: 3 })
    const shown = (await list()).body.data.map(({ attributes }: any) => [
      attributes.node,
      attributes.server_owner,
    ])
    expect(shown).toEqual([
      [other.name, true],
      [node.name, false],
      [other.name, true],
      [node.name, false],
      [node.name, true],
    ])
  })

  it('shows each server as the caller may see it', async () => {
    const parent = await makeEgg(world, { features: ['eula'] })
    await world.database.db.update(eggs).set({ configFrom: parent.id }).where(eq(eggs.id, egg.id))
    await make({ name: 'owned', variables: { MOTD: 'mine' } })
    const shared = await make({ name: 'shared', owner: admin, status: 'suspended' })
    await makeAllocation(world, node, { serverId: shared.id })
    await makeSubuser(world, shared, user, ['control.start', 'user.read'])
    await world.database.db.insert(transfers).values({
      serverId: shared.id,
      oldNodeId: node.id,
      newNodeId: node.id,
      oldAllocationId: 1,
      newAllocationId: 1,
    })
    const { body } = await list('?include=subusers,egg')
    const [owned, other] = body.data.map((item: any) => item.attributes)
    expect(body.data[0]).not.toHaveProperty('meta')
    expect(owned).toMatchObject({
      server_owner: true,
      node: node.name,
      is_node_under_maintenance: false,
      sftp_details: { ip: '127.0.0.1', port: 2022, alias: null },
      invocation: 'node server.mjs --motd "mine"',
      egg_features: ['eula'],
      is_transferring: false,
      relationships: { egg: { attributes: { uuid: egg.uuid } }, subusers: { data: [] } },
    })
    expect(other).toMatchObject({
      server_owner: false,
      is_suspended: true,
      is_transferring: true,
      invocation: 'node server.mjs --motd "[hidden]"',
    })
    expect(other.relationships.variables).toEqual({ object: 'null_resource', attributes: null })
    expect(other.relationships.allocations.data).toHaveLength(1)
    expect(other.relationships.subusers.data[0].attributes.uuid).toBe(user.uuid)
  })
})

describe('filters of the list of servers', () => {
  it('find by a part of a field, and by one of several', async () => {
    const first = await make({ name: 'Basalt Creative', description: 'Blocks', externalId: 'shop-17' })
    const second = await make({ name: 'Granite 50%', description: 'stone', externalId: 'shop-18' })
    expect(await find('name', 'basalt')).toEqual([first.name])
    expect(await find('name', '%')).toEqual([second.name])
    expect(await find('name', 'basalt,granite')).toEqual([first.name, second.name])
    expect(await find('description', 'BLOCK')).toEqual([first.name])
    expect(await find('external_id', 'p-18')).toEqual([second.name])
    expect(await find('uuid', first.uuid.slice(5, 15))).toEqual([first.name])
    expect(await find('name', '')).toEqual([first.name, second.name])
    expect(await names('?filter[name]=basalt&filter[description]=stone')).toEqual([])
  })

  it('refuse a field they do not know', async () => {
    const { status, body } = await list('?filter[image]=1')
    expect([status, body.errors[0].code]).toEqual([400, 'InvalidFilterQuery'])
    expect((await list('?filter[name][]=a')).status).toBe(400)
  })

  it('never reach beyond what the caller may see', async () => {
    const foreign = await make({ name: 'foreign', owner: admin, externalId: 'x1' })
    const [address] = await world.database.db
      .select()
      .from(allocations)
      .where(eq(allocations.serverId, foreign.id))
    for (const value of [
      'foreign',
      foreign.uuid,
      foreign.uuidShort,
      'x1',
      `${address?.ip}:${address?.port}`,
    ]) {
      expect(await find('*', value)).toEqual([])
    }
  })
})

describe('the general search', () => {
  it('finds by uuid, its beginning, short id, external id and part of the name', async () => {
    const uuid = '7c1e90ab-52d4-4f0e-9a61-0b7d5c2f8e13'
    await make({ name: 'Basalt Creative', uuid, externalId: 'shop-17' })
    await make({ name: 'other', uuid: '7d1e90ab-52d4-4f0e-9a61-0b7d5c2f8e13', externalId: 'shop-18' })
    const hits = [uuid, uuid.toUpperCase(), '7c1e90a', '7c1e90ab-52d4-', '7c1e90ab', 'shop-17', 'salt cr']
    for (const value of hits) expect(await find('*', value)).toEqual(['Basalt Creative'])
    expect(await find('*', '7')).toEqual(['Basalt Creative', 'other'])
    for (const value of ['shop-1', '7c1e90ab52', '%', 'd4-4f0e', `${uuid}0`]) {
      expect(await find('*', value)).toEqual([])
    }
  })

  it('finds by address and the first digits of the port', async () => {
    const first = await make({ name: '198.51.100.7' })
    const second = await make({ name: 'second' })
    await world.database.db
      .update(allocations)
      .set({ ip: '203.0.113.4', port: 25565 })
      .where(eq(allocations.serverId, first.id))
    await makeAllocation(world, node, { ip: '203.0.113.5', port: 25566, serverId: second.id })
    await makeAllocation(world, node, { ip: '203.0.113.9', port: 25567 })
    const both = [first.name, second.name]
    expect(await find('*', '203.0.113.4')).toEqual([first.name])
    expect(await find('*', '203.0.113.5:2556')).toEqual([second.name])
    expect(await find('*', '203.0.113.4:25566')).toEqual([])
    expect(await find('*', ':2556')).toEqual(both)
    expect(await find('*', ':25565')).toEqual([first.name])
    expect(await find('*', '203.0.113.4,:25566')).toEqual(both)
    expect(await find('*', '203.0.113.9')).toEqual([])
    expect(await find('*', '203.0.113.999')).toEqual([])
  })

  it('lets the name of a server speak for itself', async () => {
    const { id } = await make({ name: 'first' })
    await world.database.db.update(servers).set({ name: 'a,b' }).where(eq(servers.id, id))
    expect(await find('*', ' b ')).toEqual(['a,b'])
  })
})
