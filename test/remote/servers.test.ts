import { eq, getTableColumns, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { allocations, eggs, eggVariables, servers, transfers } from '../../src/db/schema.ts'
import { makeAllocation, makeEgg, makeNode, makeServer } from '../support/factories.ts'
import { type RequestOptions, useWorld } from '../support/world.ts'

const world = useWorld()
let node: Awaited<ReturnType<typeof makeNode>>

beforeEach(async () => {
  node = await makeNode(world)
})

const get = (path: string, options: RequestOptions = {}) =>
  world.request('GET', `/api/remote/servers${path}`, { token: node.token, ...options })

const makeServers = async (count: number) => {
  const egg = await makeEgg(world)
  const made = []
  for (let at = 0; at < count; at += 1) made.push(await makeServer(world, { node, egg }))
  return made
}

/** Inserts many copies of a server in a few statements. */
async function makeManyServers(count: number) {
  const { id: _id, ...like } = await makeServer(world, { node, externalId: null })
  await world.database.transaction(async (db) => {
    const ports = Array.from({ length: count - 1 }, (_, at) => 30_000 + at)
    const free = await db
      .insert(allocations)
      .values(ports.map((port) => ({ nodeId: node.id, ip: '198.51.100.8', port })))
      .returning()
    const made = await db
      .insert(servers)
      .values(
        free.map((allocation) => {
          const uuid = crypto.randomUUID()
          return { ...like, uuid, uuidShort: uuid.slice(0, 8), allocationId: allocation.id }
        }),
      )
      .returning({ id: servers.id, allocationId: servers.allocationId })
    const pairs = sql.join(
      made.map((server) => sql`(${server.allocationId}::int, ${server.id}::int)`),
      sql`, `,
    )
    await db.execute(
      sql`update allocations set server_id = pair.server from (values ${pairs}) as pair (allocation, server) where id = pair.allocation`,
    )
  })
}

describe('the list of servers', () => {
  it('is one page from 1 when the daemon asks for page 0', async () => {
    const [server] = await makeServers(1)
    const first = await get('?page=0&per_page=50')
    const path = 'http://panel.test/api/remote/servers'
    expect(first.body).toMatchObject({
      data: [{ uuid: server?.uuid, settings: { uuid: server?.uuid }, process_configuration: {} }],
      links: {
        first: `${path}?page=1&per_page=50`,
        last: `${path}?page=1&per_page=50`,
        prev: null,
        next: null,
      },
      meta: { current_page: 1, from: 1, last_page: 1, path, per_page: 50, to: 1, total: 1 },
    })
    for (const query of [
      '?page=1&per_page=50',
      '',
      '?page=-3',
      '?page=x&per_page=y',
      '?page=&per_page=',
      '?page=1.5',
    ]) {
      expect((await get(query)).body, query).toEqual(first.body)
    }
  })

  it('is empty for a node without servers', async () => {
    const { body } = await get('?page=0&per_page=50')
    expect(body.data).toEqual([])
    expect(body.meta).toMatchObject({ current_page: 1, from: null, last_page: 1, to: null, total: 0 })
  })

  it('takes per_page from 1 to 1000 and is 50 else', async () => {
    for (const [requested, applied] of [
      ['7', 7],
      ['1000', 1000],
      ['5000', 1000],
      ['0', 50],
      ['-1', 50],
    ] as const) {
      expect((await get(`?per_page=${requested}`)).body.meta.per_page).toBe(applied)
    }
  })

  it('comes complete and in order over pages, and ends with an empty one', async () => {
    const made = await makeServers(7)
    await makeServer(world)
    const pages = await Promise.all([1, 2, 3, 4].map((page) => get(`?page=${page}&per_page=3`)))
    expect(pages.map(({ body }) => body.data.length)).toEqual([3, 3, 1, 0])
    expect(pages.flatMap(({ body }) => body.data.map((item: any) => item.uuid))).toEqual(
      made.map(({ uuid }) => uuid),
    )
    expect(pages.map(({ body }) => [body.meta.from, body.meta.to])).toEqual([
      [1, 3],
      [4, 6],
      [7, 7],
      [null, null],
    ])
    for (const { body } of pages) expect(body.meta).toMatchObject({ total: 7, last_page: 3 })
    expect(pages[1]?.body.links).toMatchObject({
      prev: 'http://panel.test/api/remote/servers?page=1&per_page=3',
      next: 'http://panel.test/api/remote/servers?page=3&per_page=3',
    })
  })

  it('keeps pages of 50 stable while a server is added', async () => {
    const made = await makeServers(51)
    const first = await get('?page=0&per_page=50')
    const [added] = await makeServers(1)
    const second = await get('?page=2&per_page=50')
    expect([...first.body.data, ...second.body.data].map((item: any) => item.uuid)).toEqual(
      [...made, added].map((server) => server?.uuid),
    )
  })

  it('of a node with a thousand servers is read page by page in one statement each', async () => {
    await makeManyServers(1000)
    const uuids = new Set<string>()
    for (let page = 1; page <= 20; page += 1) {
      let body: any
      const path = `?page=${page}&per_page=50`
      expect(await world.countStatements(async () => ({ body } = await get(path)))).toBe(1)
      expect(body.meta).toMatchObject({ total: 1000, last_page: 20 })
      for (const { uuid } of body.data) uuids.add(uuid)
    }
    expect(uuids.size).toBe(1000)
  })

  it('has an exact total at any size: a daemon reads as many pages as the first one says', async () => {
    await makeServer(world, { node, externalId: null })
    const columns = getTableColumns(servers)
    const own = ['id', 'uuid', 'uuidShort', 'allocationId', 'externalId']
    const copied = Object.entries(columns)
      .filter(([name]) => !own.includes(name))
      .map(([, column]) =>
        sql.identifier(column.name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
      )
    await world.database.transaction(async (db) => {
      await db.execute(sql`
      insert into ${allocations} (node_id, ip, port)
      select ${node.id}, '198.51.100.8', port from generate_series(30001, 40200) as port`)
      await db.execute(sql`
      insert into ${servers} (uuid, uuid_short, allocation_id, ${sql.join(copied, sql`, `)})
      select free.uuid, lpad(to_hex(free.port), 8, '0'), free.id, ${sql.join(copied, sql`, `)}
      from ${servers}, (select id, port, gen_random_uuid() as uuid from ${allocations} where port > 30000) as free`)
      await db.execute(sql`
        update ${allocations} set server_id = made.id from ${servers} as made
        where made.allocation_id = ${allocations.id} and ${allocations.port} > 30000`)
    })
    const { body } = await get('?page=0&per_page=50')
    expect(body.meta).toMatchObject({ total: 10_201, last_page: 205 })
  })

  it('takes one statement, whatever its size', async () => {
    await makeServers(3)
    expect(await world.countStatements(() => get('?page=0'))).toBe(1)
    expect(await world.countStatements(() => get('?page=9'))).toBe(1)
  })

  it('tells the daemon which eggs declare the local runtime themselves', async () => {
    const parent = await makeEgg(world, { features: ['eula', 'local_runtime'] })
    const child = await makeEgg(world, { configFrom: parent.id, features: null, startup: 'run' })
    for (const egg of [parent, child]) await makeServer(world, { node, egg })
    const { body } = await get('?page=0')
    expect(body.data.map((item: any) => item.settings.egg)).toEqual([
      { id: parent.uuid, file_denylist: [], features: { local_runtime: [] } },
      { id: child.uuid, file_denylist: [] },
    ])
  })

  it('says of each server what the server alone says, also where several share an egg or inherit from one', async () => {
    const parent = await makeEgg(world, {
      configFiles: {
        'server.properties': { parser: 'properties', find: { port: '{{server.build.default.port}}' } },
      },
      configStop: '^C',
      fileDenylist: ['*.key'],
    })
    const child = await makeEgg(world, {
      configFrom: parent.id,
      configFiles: null,
      configStartup: null,
      configStop: null,
      forceOutgoingIp: true,
    })
    const plain = await makeEgg(world)
    for (const egg of [plain, child, plain, child, parent]) await makeServer(world, { node, egg })
    const { body } = await get('?page=0')
    expect(body.data).toHaveLength(5)
    for (const item of body.data) {
      const alone = await get(`/${item.uuid}`)
      expect({ uuid: item.uuid, ...alone.body }).toEqual(item)
    }
    expect(body.data[3]).toMatchObject({
      settings: {
        egg: { id: child.uuid, file_denylist: ['*.key'] },
        allocations: { force_outgoing_ip: true },
      },
      process_configuration: {
        startup: { done: ['ready'] },
        stop: { type: 'signal', value: 'SIGINT' },
        configs: [
          {
            parser: 'properties',
            file: 'server.properties',
            replace: [
              { match: 'port', replace_with: String(body.data[3].settings.allocations.default.port) },
            ],
          },
        ],
      },
    })
    expect(body.data[2].settings.egg.id).toBe(plain.uuid)
  })

  it('links to the panel, not to the host the daemon named', async () => {
    const { body } = await get('', { headers: { host: 'evil.example', 'x-forwarded-host': 'evil.example' } })
    expect(JSON.stringify([body.links, body.meta])).not.toContain('evil')
  })

  it('answers with a trailing slash too', async () => {
    expect((await get('/')).status).toBe(200)
  })
})

describe('one server', () => {
  it('is told by uuid in any case and by short id, in one statement', async () => {
    const server = await makeServer(world, { node })
    const { body } = await get(`/${server.uuid}`)
    expect(Object.keys(body)).toEqual(['settings', 'process_configuration'])
    for (const name of [server.uuid.toUpperCase(), server.uuidShort, server.uuidShort.toUpperCase()]) {
      expect((await get(`/${name}`)).body, name).toEqual(body)
    }
    expect(await world.countStatements(() => get(`/${server.uuid}`))).toBe(1)
    expect(await world.countStatements(() => get(`/${server.uuid}/install`))).toBe(1)
  })

  it('has the environment as text, with the values of the server over those of the egg', async () => {
    const egg = await makeEgg(world)
    await world.database.db.insert(eggVariables).values([
      { eggId: egg.id, name: 'Players', envVariable: 'PLAYERS', defaultValue: '10' },
      { eggId: egg.id, name: 'Seed', envVariable: 'SEED', defaultValue: '42' },
    ])
    const server = await makeServer(world, { node, egg, variables: { PLAYERS: '20', SEED: '' } })
    const { environment } = (await get(`/${server.uuid}`)).body.settings
    expect(environment).toMatchObject({
      MOTD: 'Hello',
      PLAYERS: '20',
      SEED: '',
      P_SERVER_UUID: server.uuid,
      P_SERVER_ALLOCATION_LIMIT: '',
    })
  })

  it('has the ports of its node only, as numbers by address', async () => {
    const server = await makeServer(world, { node })
    const elsewhere = await makeNode(world)
    await makeAllocation(world, node, { serverId: server.id, ip: '198.51.100.7', port: 30_001 })
    await makeAllocation(world, node, { serverId: server.id, ip: '2001:db8::1', port: 30_002 })
    await makeAllocation(world, elsewhere, { serverId: server.id, ip: '203.0.113.1', port: 30_003 })
    await makeAllocation(world, node, { port: 30_004 })
    const { allocations } = (await get(`/${server.uuid}`)).body.settings
    expect(allocations.mappings).toEqual({
      '198.51.100.7': [allocations.default.port, 30_001],
      '2001:db8::1': [30_002],
    })
  })

  it('says that it is suspended', async () => {
    const server = await makeServer(world, { node, status: 'suspended' })
    expect((await get(`/${server.uuid}`)).body.settings.suspended).toBe(true)
  })

  it('is readable by both nodes while it moves, and by its own only afterwards', async () => {
    const server = await makeServer(world, { node })
    const target = await makeNode(world)
    const otherNode = await makeNode(world)
    const allocation = await makeAllocation(world, target)
    await world.database.db.insert(transfers).values({
      serverId: server.id,
      oldNodeId: node.id,
      newNodeId: target.id,
      oldAllocationId: server.allocationId,
      newAllocationId: allocation.id,
    })
    const statuses = async (path: string) =>
      Promise.all(
        [node, target, otherNode].map(
          async ({ token }) => (await get(`/${server.uuid}${path}`, { token })).status,
        ),
      )
    expect(await statuses('')).toEqual([200, 200, 403])
    expect(await statuses('/install')).toEqual([200, 200, 403])
    expect((await get('')).body.data).toHaveLength(1)
    expect((await get('', { token: target.token })).body.data).toEqual([])
    const report = { token: target.token, body: { successful: false } }
    expect((await world.request('POST', `/api/remote/servers/${server.uuid}/install`, report)).status).toBe(
      403,
    )
    for (const successful of [true, false]) {
      await world.database.db.update(transfers).set({ successful })
      expect(await statuses('')).toEqual([200, 403, 403])
      expect(await statuses('/install')).toEqual([200, 403, 403])
    }
  })

  it('keeps its form when the egg says nothing at all', async () => {
    const egg = await makeEgg(world, {
      configFiles: null,
      configStartup: null,
      configLogs: null,
      configStop: null,
      scriptInstall: null,
    })
    await world.database.db.delete(eggVariables).where(eq(eggVariables.eggId, egg.id))
    const server = await makeServer(world, { node, egg })
    expect((await get(`/${server.uuid}`)).body.process_configuration).toEqual({
      startup: { done: [], user_interaction: [], strip_ansi: false },
      stop: { type: 'stop', value: '' },
      configs: [],
    })
    expect((await get(`/${server.uuid}/install`)).body.script).toBe('')
  })
})

describe('the install script', () => {
  it('is that of the egg, or of the egg it copies from', async () => {
    const parent = await makeEgg(world, {
      scriptInstall: 'echo parent',
      scriptContainer: 'debian:12',
      scriptEntry: 'bash',
    })
    const child = await makeEgg(world, { scriptInstall: null, copyScriptFrom: parent.id })
    const server = await makeServer(world, { node, egg: child })
    expect((await get(`/${server.uuidShort}/install`)).body).toEqual({
      container_image: 'debian:12',
      entrypoint: 'bash',
      script: 'echo parent',
    })
    await world.database.db.update(eggs).set({ scriptInstall: 'echo child' }).where(eq(eggs.id, child.id))
    expect((await get(`/${server.uuid}/install`)).body).toEqual({
      container_image: 'alpine:3.4',
      entrypoint: 'ash',
      script: 'echo child',
    })
  })

  it('is read without changing the server', async () => {
    const server = await makeServer(world, { node, status: 'installing', installedAt: null })
    await get(`/${server.uuid}/install`)
    const [row] = await world.database.db.select().from(servers)
    expect(row).toEqual(server)
  })
})
