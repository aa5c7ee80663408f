import { beforeEach, describe, expect, it } from 'vitest'
import { eq } from 'drizzle-orm'
import {
  allocations,
  databaseHosts,
  eggs,
  eggVariables,
  nodes,
  servers,
  settings,
  transfers,
} from '../../src/db/schema.ts'
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
let owner: Awaited<ReturnType<typeof makeUser>>
let node: Awaited<ReturnType<typeof makeNode>>
let egg: Awaited<ReturnType<typeof makeEgg>>
let server: Awaited<ReturnType<typeof makeServer>>
let token: string
let path: string

beforeEach(async () => {
  owner = await makeUser(world)
  node = await makeNode(world, { daemonSftp: 2022 })
  egg = await makeEgg(world)
  server = await makeServer(world, { owner, node, egg, variables: { MOTD: 'Welcome' } })
  token = await makeClientToken(world, owner)
  path = `/api/client/servers/${server.uuid}`
})

const show = async (as = token, query = '') =>
  (await world.request('GET', `${path}${query}`, { token: as })).body

const subuserToken = async (permissions: string[]) => {
  const friend = await makeUser(world)
  await makeSubuser(world, server, friend, permissions)
  return makeClientToken(world, friend)
}

describe('a server', () => {
  it('is shown to its owner with everything', async () => {
    const spare = await makeAllocation(world, node, { serverId: server.id, notes: 'voice' })
    const { db } = world.database
    await db.insert(eggVariables).values({ eggId: egg.id, name: 'Secret', envVariable: 'SECRET' })
    let body: any
    expect(await world.countStatements(async () => (body = await show()))).toBe(1)
    expect(body.meta).toEqual({
      is_server_owner: true,
      user_permissions: ['*'],
      offers: { databases: false, allocations: false, console_share: false },
    })
    expect(body.object).toBe('server')
    expect(body.attributes).toMatchObject({
      server_owner: true,
      identifier: server.uuid.slice(0, 8),
      internal_id: server.id,
      uuid: server.uuid,
      name: server.name,
      node: node.name,
      is_node_under_maintenance: false,
      sftp_details: { ip: '127.0.0.1', port: 2022, alias: null },
      description: '',
      limits: { memory: 512, swap: 0, disk: 1024, io: 500, cpu: 100, threads: null, oom_disabled: true },
      invocation: 'node server.mjs --motd "Welcome"',
      docker_image: 'node:24-alpine',
      egg_features: null,
      feature_limits: { databases: null, allocations: null, backups: 0 },
      status: null,
      is_suspended: false,
      is_installing: false,
      is_transferring: false,
    })
    const { relationships } = body.attributes
    expect(Object.keys(relationships)).toEqual(['allocations', 'variables'])
    expect(relationships.allocations.data).toEqual([
      { object: 'allocation', attributes: expect.objectContaining({ is_default: true, notes: null }) },
      {
        object: 'allocation',
        attributes: {
          id: spare.id,
          ip: spare.ip,
          ip_alias: null,
          port: spare.port,
          notes: 'voice',
          is_default: false,
        },
      },
    ])
    expect(relationships.variables.data).toEqual([
      {
        object: 'egg_variable',
        attributes: {
          name: 'Message',
          description: '',
          env_variable: 'MOTD',
          default_value: 'Hello',
          server_value: 'Welcome',
          is_editable: true,
          rules: 'required|string|max:64',
        },
      },
    ])
  })

  it('shows with the next request what has changed of its egg', async () => {
    const { db } = world.database
    const variablesOf = async () => {
      const { attributes } = await show()
      const shown = attributes.relationships.variables.data.map(({ attributes }: any) => attributes.rules)
      return [attributes.invocation, attributes.egg_features, shown]
    }
    expect(await variablesOf()).toEqual([
      'node server.mjs --motd "Welcome"',
      null,
      ['required|string|max:64'],
    ])
    await db.update(eggVariables).set({ rules: 'string|max:65' })
    await db.update(eggs).set({ features: ['eula'] })
    expect(await variablesOf()).toEqual(['node server.mjs --motd "Welcome"', ['eula'], ['string|max:65']])
    await db.update(eggVariables).set({ userViewable: false })
    expect(await variablesOf()).toEqual(['node server.mjs --motd "[hidden]"', ['eula'], []])
  })

  it('shows its values whatever characters they and its egg have', async () => {
    const { db } = world.database
    const text = 'a "quoted"\n\u001e\u00e9 \u{1f30d} \\ text'
    await db.update(eggVariables).set({ description: text })
    await db.update(allocations).set({ notes: text })
    await db.update(servers).set({ variables: { MOTD: text } })
    const { relationships } = (await show()).attributes
    expect(relationships.allocations.data[0].attributes.notes).toBe(text)
    expect(relationships.variables.data[0].attributes).toMatchObject({
      description: text,
      server_value: text,
    })
  })

  it('shows a subuser what they may see of it', async () => {
    await makeAllocation(world, node, { serverId: server.id })
    await world.database.db.update(servers).set({ variables: {} })
    const poor = await show(await subuserToken(['websocket.connect']), '?include=subusers,egg,nonsense')
    expect(poor.meta).toMatchObject({ is_server_owner: false, user_permissions: ['websocket.connect'] })
    expect(poor.attributes.server_owner).toBe(false)
    expect(poor.attributes.invocation).toBe('node server.mjs --motd "[hidden]"')
    const denied = { object: 'null_resource', attributes: null }
    expect(poor.attributes.relationships).toMatchObject({
      variables: denied,
      subusers: denied,
      egg: { object: 'egg', attributes: { uuid: egg.uuid, name: egg.name } },
    })
    expect(poor.attributes.relationships.allocations.data).toHaveLength(1)
    expect(poor.attributes.relationships.allocations.data[0].attributes).toMatchObject({ is_default: true })
    const rich = await show(await subuserToken(['allocation.read', 'startup.read', 'user.read']))
    expect(rich.attributes.relationships.allocations.data).toHaveLength(2)
    expect(rich.attributes.relationships.variables.data[0].attributes).toMatchObject({ server_value: null })
    expect(rich.attributes.invocation).toBe('node server.mjs --motd "Hello"')
  })

  it('hides the notes of the primary address from those who may not read addresses', async () => {
    await world.database.db.update(allocations).set({ notes: 'home' })
    const seen = async (permissions: string[]) =>
      (await show(await subuserToken(permissions))).attributes.relationships.allocations.data[0].attributes
        .notes
    expect(await seen([])).toBeNull()
    expect(await seen(['allocation.read'])).toBe('home')
  })

  it('names the people with access on request, in the same statement', async () => {
    const friend = await makeUser(world, { email: 'Friend@example.test' })
    await makeSubuser(world, server, friend, ['control.console'])
    let body: any
    const work = async () => (body = await show(token, '?include[]=subusers&include[]=egg'))
    expect(await world.countStatements(work)).toBe(1)
    const { subusers, egg: included } = body.attributes.relationships
    expect(included.attributes).toEqual({ uuid: egg.uuid, name: egg.name })
    expect(subusers.data).toEqual([
      {
        object: 'server_subuser',
        attributes: {
          uuid: friend.uuid,
          username: friend.username,
          email: 'Friend@example.test',
          image: expect.stringMatching(/^https:\/\/gravatar\.com\/avatar\/[0-9a-f]{32}$/),
          '2fa_enabled': false,
          created_at: expect.any(String),
          permissions: ['control.console'],
        },
      },
    ])
  })

  it('says what the panel offers, also to users with no permission', async () => {
    const { db } = world.database
    await db.insert(settings).values([
      { key: 'features.auto_allocation', value: true },
      { key: 'features.console_share', value: true },
      { key: 'console_share.url', value: 'https://paste.example.com' },
    ])
    await db.insert(databaseHosts).values({
      name: 'one',
      host: 'db.example.com',
      port: 3306,
      username: 'roost',
      password: 'encrypted',
    })
    const offers = async () => (await show(await subuserToken([]))).meta.offers
    expect(await offers()).toEqual({ databases: true, allocations: true, console_share: true })
    await db.insert(settings).values({ key: 'databases.client_enabled', value: false })
    await db.delete(settings).where(eq(settings.key, 'console_share.url'))
    expect(await offers()).toEqual({ databases: false, allocations: true, console_share: false })
  })

  it('gives administrators the words of administrators', async () => {
    const admin = await makeUser(world, { rootAdmin: true })
    const body = await show(await makeClientToken(world, admin))
    expect(body.meta).toMatchObject({
      is_server_owner: false,
      user_permissions: [
        '*',
        'admin.websocket.errors',
        'admin.websocket.install',
        'admin.websocket.transfer',
      ],
    })
  })

  it('takes the features of its egg from the egg that one inherits from', async () => {
    const parent = await makeEgg(world, { features: ['eula', 'java_version'] })
    const { db } = world.database
    await db.update(eggs).set({ configFrom: parent.id }).where(eq(eggs.id, egg.id))
    expect((await show()).attributes.egg_features).toEqual(['eula', 'java_version'])
    await db.update(eggs).set({ features: [] }).where(eq(eggs.id, egg.id))
    expect((await show()).attributes.egg_features).toEqual([])
  })

  it('is reached over SFTP at the domain of its node', async () => {
    await world.database.db.update(nodes).set({ sftpDomain: 'sftp.example.test' })
    expect((await show()).attributes.sftp_details).toEqual({
      ip: 'sftp.example.test',
      port: 2022,
      alias: 'sftp.example.test',
    })
  })

  it('is shown in every state, and says which', async () => {
    const { db } = world.database
    const states = [
      ['installing', false, true],
      ['install_failed', false, true],
      ['reinstall_failed', false, false],
      ['suspended', true, false],
      ['restoring_backup', false, false],
    ] as const
    for (const [status, is_suspended, is_installing] of states) {
      await db.update(servers).set({ status })
      expect((await show()).attributes).toMatchObject({ status, is_suspended, is_installing })
    }
    await db.update(nodes).set({ maintenanceMode: true })
    await db.insert(transfers).values({
      serverId: server.id,
      oldNodeId: node.id,
      newNodeId: node.id,
      oldAllocationId: 1,
      newAllocationId: 1,
    })
    expect((await show()).attributes).toMatchObject({
      is_node_under_maintenance: true,
      is_transferring: true,
    })
    await db.update(transfers).set({ successful: false })
    expect((await show()).attributes.is_transferring).toBe(false)
  })
})

describe('the catalogue of permissions', () => {
  it('lists every group and key', async () => {
    const { body } = await world.request('GET', '/api/client/permissions', { token })
    expect(body.object).toBe('system_permissions')
    const { permissions } = body.attributes
    expect(Object.keys(permissions)).toHaveLength(11)
    expect(permissions.control.keys).toHaveProperty('console')
    expect(permissions.database.keys).toHaveProperty('view_password')
    const keys = Object.values<any>(permissions).flatMap((group) => Object.keys(group.keys))
    expect(keys).toHaveLength(40)
  })
})
