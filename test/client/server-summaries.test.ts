import { gzipSync } from 'node:zlib'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  allocations,
  eggs,
  gameQueries,
  nodes,
  serverPlacements,
  serverStates,
  subusers,
  users,
} from '../../src/db/schema.ts'
import {
  makeClientToken,
  makeEgg,
  makeLocation,
  makeNode,
  makeServer,
  makeServerFolder,
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
  world.request('GET', `/api/client/servers${query}`, { token: await makeClientToken(world, as) })

const shown = async (query = '', as = user): Promise<any[]> =>
  (await list(query, as)).body.data.map(({ attributes }: any) => attributes)

const names = async (query = '', as = user) => (await shown(query, as)).map(({ name }) => name)

describe('the short list of servers', () => {
  it('has what a page shows of a server, and what the caller may do there', async () => {
    const { db } = world.database
    const location = await makeLocation(world)
    await db.update(nodes).set({ locationId: location.id }).where(eq(nodes.id, node.id))
    await db.update(eggs).set({ name: 'Paper', queryGame: null, icon: 'target' }).where(eq(eggs.id, egg.id))
    const server = await make({ name: 'Basalt', memory: 2048, disk: 4096, cpu: 150 })
    await db
      .update(allocations)
      .set({ ip: '203.0.113.4', ipAlias: 'play.example.test', port: 25565 })
      .where(eq(allocations.serverId, server.id))
    await db.insert(serverStates).values({ id: server.id, state: 'running', since: world.clock.now })
    await db.insert(gameQueries).values({
      serverId: server.id,
      status: 'online',
      players: 3,
      maxPlayers: 20,
      version: '1.21.4',
      checkedAt: world.clock.now,
    })
    const { body } = await list()
    expect(body.data).toEqual([
      {
        object: 'server_summary',
        attributes: {
          identifier: server.uuidShort,
          uuid: server.uuid,
          name: 'Basalt',
          server_owner: true,
          user_permissions: ['*'],
          address: { ip: '203.0.113.4', ip_alias: 'play.example.test', port: 25565 },
          node: node.name,
          location: location.short,
          egg: 'Paper',
          game: 'minecraft',
          icon: 'target',
          limits: { memory: 2048, disk: 4096, cpu: 150 },
          state: 'running',
          status: null,
          is_suspended: false,
          is_installing: false,
          is_transferring: false,
          is_node_under_maintenance: false,
          players: { online: 3, max: 20, version: '1.21.4' },
          is_favourite: false,
          folder: null,
        },
      },
    ])
    expect(body.meta.pagination).toMatchObject({ total: 1, per_page: 100, total_pages: 1 })
    world.clock.advance(16 * 60)
    expect((await shown())[0].players).toBeNull()
    await db.update(gameQueries).set({ status: 'offline', checkedAt: world.clock.now })
    expect((await shown())[0].players).toBeNull()
  })

  it('has the permissions of each caller on each server', async () => {
    await make({ name: 'owned' })
    const shared = await make({ name: 'shared', owner: admin, status: 'suspended' })
    await makeSubuser(world, shared, user, ['control.start', 'websocket.connect'])
    for (const query of ['', '?sort=-state,name', '?filter[state]=unknown'])
      expect(
        (await shown(query)).map((row) => [row.name, row.server_owner, row.user_permissions]),
        query,
      ).toEqual([
        ['owned', true, ['*']],
        ['shared', false, ['control.start', 'websocket.connect']],
      ])
    expect((await shown()).map((row) => row.is_suspended)).toEqual([false, true])
    const [first] = await shown('?type=admin', admin)
    expect(first.user_permissions).toContain('*')
  })

  it('puts those that run first, over all pages and in every scope', async () => {
    const states = ['offline', null, 'running', 'starting', 'running', 'stopping'] as const
    for (const [n, state] of states.entries()) {
      const { id } = await make({ name: `n${n}` })
      if (state) await world.database.db.insert(serverStates).values({ id, state, since: new Date() })
    }
    const order = ['n2', 'n4', 'n3', 'n5', 'n0', 'n1']
    expect(await names('?sort=-state,name')).toEqual(order)
    expect(await names('?type=owner&sort=-state,name')).toEqual(order)
    expect(await names('?type=admin-all&sort=-state,name', admin)).toEqual(order)
    expect([
      ...(await names('?per_page=4&sort=-state,name')),
      ...(await names('?per_page=4&page=2&sort=-state,name')),
    ]).toEqual(order)
  })

  it('has what the caller alone has marked and arranged, and filters by it', async () => {
    const { db } = world.database
    const [a, b, c] = [await make({ name: 'a' }), await make({ name: 'b' }), await make({ name: 'c' })]
    const folder = await makeServerFolder(world, user)
    const foreign = await makeServerFolder(world, admin)
    await db.insert(serverPlacements).values([
      { userId: user.id, serverId: a.id, isFavourite: true },
      { userId: user.id, serverId: b.id, folderId: folder.id },
      { userId: admin.id, serverId: b.id, isFavourite: true },
      { userId: admin.id, serverId: c.id, isFavourite: true, folderId: foreign.id },
    ])
    expect((await shown()).map((row) => [row.name, row.is_favourite, row.folder])).toEqual([
      ['a', true, null],
      ['b', false, folder.id],
      ['c', false, null],
    ])
    for (const sort of ['', '&sort=-state,name']) {
      expect(await names(`?filter[favourite]=true${sort}`)).toEqual(['a'])
      expect(await names(`?filter[favourite]=false${sort}`)).toEqual(['b', 'c'])
      expect(await names(`?filter[folder]=${folder.id}${sort}`)).toEqual(['b'])
      expect(await names(`?filter[folder]=${foreign.id}${sort}`)).toEqual([])
      expect(await names(`?filter[folder]=x${sort}`)).toEqual([])
    }
    const all = 'type=admin-all'
    expect(await names(`?${all}&filter[favourite]=true`, admin)).toEqual(['b', 'c'])
    expect(await names(`?${all}&filter[folder]=${foreign.id}&sort=-name`, admin)).toEqual(['c'])
    expect((await list('?filter[image]=x')).status).toBe(400)
  })

  it('ends with the access, as the marks of an account do with it', async () => {
    const shared = await make({ name: 'shared', owner: admin })
    await makeSubuser(world, shared, user, [])
    const folder = await makeServerFolder(world, user)
    const placed = { userId: user.id, serverId: shared.id, isFavourite: true, folderId: folder.id }
    await world.database.db.insert(serverPlacements).values(placed)
    expect(await names(`?filter[folder]=${folder.id}`)).toEqual(['shared'])
    await world.database.db.update(subusers).set({ pending: true })
    for (const query of ['', '?filter[favourite]=true', `?filter[folder]=${folder.id}&sort=name`])
      expect(await names(query), query).toEqual([])
    await world.database.db.delete(users).where(eq(users.id, user.id))
    expect(await world.database.db.select().from(serverPlacements)).toEqual([])
  })

  it('takes one statement, and at most 20 KB for a hundred servers and their statistics', async () => {
    const other = await makeNode(world)
    for (let n = 0; n < 100; n += 1) {
      const { id } = await make({ name: `Survival server ${n * 7919}`, ...(n % 3 ? {} : { node: other }) })
      await world.database.db.insert(serverStates).values({ id, state: 'running', since: new Date() })
    }
    const token = await makeClientToken(world, user)
    for (const query of ['', '?sort=-state,name', '?filter[*]=Survival&filter[favourite]=false']) {
      let answer: any
      const work = async () => (answer = await world.request('GET', `/api/client/servers${query}`, { token }))
      expect(await world.countStatements(work), query).toBe(1)
      expect(answer.body.data).toHaveLength(100)
      expect(gzipSync(answer.text).byteLength, query).toBeLessThan(10_000)
    }
  })
})
