import { desc, eq, sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { listMountedRoutes } from '../../src/cli/api-info.ts'
import { dispatchOperation } from '../../src/cli/operations.ts'
import { activity, activitySubjects, apiKeys, servers, transfers, users } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { activityEvents } from '../../src/domain/activity/events.ts'
import { findMetadata, type RouteRow } from '../../src/http/metadata.ts'
import { createFixtures, pathOf, surfaceOf } from '../contract/fixtures.ts'
import { fingerprintOf } from '../contract/fingerprint.ts'
import { bodySchemaOf, sampleText } from '../contract/garbage.ts'
import {
  fullAcl,
  makeAllocation,
  makeEgg,
  makeKey,
  makeLocation,
  makeNode,
  makeUser,
} from '../support/factories.ts'
import { makeDatabaseHost } from '../support/mysql.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'
import {
  accountEvents,
  accountPreparations,
  type Preparations,
  recordedOtherwise,
} from './audit-preparations.ts'

const world = useWorld()
const daemon = useStubDaemon()
const nameOf = (row: RouteRow) => `${row.method} ${row.path.replace('/api/application', '')}`
const routes = listMountedRoutes().filter(
  (row) =>
    surfaceOf(row) === 'application' && row.method !== 'GET' && !recordedOtherwise.includes(nameOf(row)),
)

const text = (value: number) => String(value)

/** What a route needs so that it changes something; a route that is not here is sent the smallest valid body. */
const preparations: Preparations = {
  'PATCH /database-hosts/:database_host': async () => ({ body: { name: 'Renamed' } }),
  'DELETE /database-hosts/:database_host': async () => ({
    params: { database_host: text((await makeDatabaseHost(world)).id) },
  }),
  'DELETE /keys/:identifier': async ({ other }) => {
    const { row } = await makeKey(world, other, { type: 'application' })
    return { params: { identifier: row.identifier } }
  },
  'PATCH /locations/:location': async () => ({ body: { short: 'renamed' } }),
  'PATCH /nests/:nest': async () => ({ body: { name: 'Renamed' } }),
  'DELETE /nests/:nest': async () => {
    const { body } = await send('POST', '/nests', { name: 'Empty' })
    return { params: { nest: text(body.attributes.id) } }
  },
  'POST /nests/:nest/eggs': async () => ({
    body: { name: 'Egg', docker_images: { Node: 'node:24' }, startup: 'node .', ...eggConfiguration },
  }),
  'PATCH /nests/:nest/eggs/:egg': async () => ({ body: { name: 'Renamed' } }),
  'DELETE /nests/:nest/eggs/:egg': async ({ server }) => {
    const { nestId: nest, id: egg } = await makeEgg(world)
    expect(egg).not.toBe(server.eggId)
    return { params: { nest: text(nest), egg: text(egg) } }
  },
  'POST /nests/:nest/eggs/import': async ({ server }) => {
    const { text: raw } = await send('GET', `/nests/1/eggs/${server.eggId}/export`)
    return { raw: raw.replace('"Egg', '"Another egg') }
  },
  'POST /nests/:nest/eggs/:egg/variables': async () => ({ body: { name: 'Port', env_variable: 'PORT' } }),
  'PATCH /nests/:nest/eggs/:egg/variables/:variable': async () => ({ body: { default_value: 'Bye' } }),
  'POST /nodes': async ({ location }) => ({
    body: { ...nodeFields, name: 'new', location_id: location.id },
  }),
  'PATCH /nodes/:node': async () => ({ body: { memory: 9 } }),
  'DELETE /nodes/:node': async () => ({ params: { node: text((await makeNode(world)).id) } }),
  'POST /servers': async ({ server, owner, free }) => ({
    body: {
      name: 'New',
      user: owner.id,
      egg: server.eggId,
      docker_image: 'node:24-alpine',
      startup: 'node .',
      environment: { MOTD: 'Hello' },
      limits: { memory: 1, swap: 0, disk: 1, io: 500, cpu: 0 },
      feature_limits: { databases: 0, backups: 0 },
      allocation: { default: free.id },
    },
  }),
  'PATCH /servers/:server/details': async ({ owner }) => ({ body: { name: 'Renamed', user: owner.id } }),
  'PATCH /servers/:server/build': async ({ server }) => ({
    body: {
      allocation: server.allocationId,
      limits: { memory: 600, swap: 0, disk: 1024, io: 500, cpu: 100 },
      feature_limits: { databases: 10, backups: 10, allocations: 10 },
    },
  }),
  'PATCH /servers/:server/startup': async ({ server }) => ({
    body: {
      startup: 'node other.mjs',
      environment: {},
      egg: server.eggId,
      image: 'node:24-alpine',
      skip_scripts: false,
    },
  }),
  'PATCH /nodes/:node/allocations': async ({ free }) => ({
    body: { allocations: [free.id], alias: 'play.example.test' },
  }),
  'POST /nodes/:node/allocations/delete': async ({ free }) => ({ body: { allocations: [free.id] } }),
  'POST /servers/bulk': async ({ server }) => ({ body: { action: 'suspend', servers: [server.id] } }),
  'POST /servers/:server/unsuspend': async ({ server }) => {
    await world.database.db.update(servers).set({ status: 'suspended' }).where(eq(servers.id, server.id))
    return {}
  },
  'POST /servers/:server/databases': async ({ host }) => ({
    body: { database: 'stats', remote: '%', host: host.id },
  }),
  'POST /servers/:server/transfer': async () => {
    const target = await makeNode(world)
    return { body: { node: target.id, allocation: (await makeAllocation(world, target)).id } }
  },
  'DELETE /servers/:server/transfer': async ({ server }) => {
    const target = await makeNode(world)
    const { id } = await makeAllocation(world, target, { serverId: server.id })
    await world.database.db.insert(transfers).values({
      serverId: server.id,
      oldNodeId: server.nodeId,
      newNodeId: target.id,
      oldAllocationId: server.allocationId,
      newAllocationId: id,
    })
    await world.database.db.execute(sql`update nodes set used_memory = 512, used_disk = 1024`)
    return {}
  },
  'PUT /servers/:server/notes': async () => ({ body: { notes: 'Pays late.' } }),
  'PATCH /settings': async () => ({ body: { trash: { retention_days: 9 } } }),
  'POST /users': async () => ({
    body: { username: 'new', email: 'new@example.test', first_name: 'A', last_name: 'B' },
  }),
  'POST /servers/:server/installation': async ({ server }) => {
    await world.database.db.update(servers).set({ status: 'installing' }).where(eq(servers.id, server.id))
    return { body: { status: 'failed' } }
  },
  'POST /users/:user/email/verify': async ({ other }) => {
    await world.database.db.update(users).set({ emailVerifiedAt: null }).where(eq(users.id, other.id))
    return {}
  },
  'POST /users/:user/reset-two-factor': async ({ other }) => {
    await world.database.db
      .update(users)
      .set({ totpEnabledAt: world.clock.now })
      .where(eq(users.id, other.id))
    return {}
  },
  'PATCH /users/:user': async ({ other }) => ({ body: { ...profileOf(other), first_name: 'Renamed' } }),
}

/** The event of each route; a route that is not here fails. */
const events: Record<string, keyof typeof activityEvents> = {
  ...accountEvents,
  'POST /database-hosts': 'admin:database-host.create',
  'POST /database-hosts/:database_host/test': 'admin:database-host.test',
  'PATCH /database-hosts/:database_host': 'admin:database-host.update',
  'DELETE /database-hosts/:database_host': 'admin:database-host.delete',
  'POST /jobs/:job/retry': 'admin:job.retry',
  'DELETE /jobs/:job': 'admin:job.discard',
  'POST /keys': 'user:api-key.create',
  'DELETE /keys/:identifier': 'user:api-key.delete',
  'POST /locations': 'admin:location.create',
  'PATCH /locations/:location': 'admin:location.update',
  'DELETE /locations/:location': 'admin:location.delete',
  'POST /nests': 'admin:nest.create',
  'PATCH /nests/:nest': 'admin:nest.update',
  'DELETE /nests/:nest': 'admin:nest.delete',
  'POST /nests/:nest/eggs': 'admin:egg.create',
  'PATCH /nests/:nest/eggs/:egg': 'admin:egg.update',
  'DELETE /nests/:nest/eggs/:egg': 'admin:egg.delete',
  'POST /nests/:nest/eggs/import': 'admin:egg.import',
  'POST /nests/:nest/eggs/:egg/duplicate': 'admin:egg.create',
  'POST /nests/:nest/eggs/:egg/variables': 'admin:egg-variable.create',
  'PATCH /nests/:nest/eggs/:egg/variables/:variable': 'admin:egg-variable.update',
  'DELETE /nests/:nest/eggs/:egg/variables/:variable': 'admin:egg-variable.delete',
  'POST /nodes': 'admin:node.create',
  'PATCH /nodes/:node': 'admin:node.update',
  'DELETE /nodes/:node': 'admin:node.delete',
  'POST /nodes/:node/allocations': 'admin:allocation.create',
  'PATCH /nodes/:node/allocations': 'admin:allocation.alias',
  'POST /nodes/:node/allocations/delete': 'admin:allocation.delete',
  'DELETE /nodes/:node/allocations/:allocation': 'admin:allocation.delete',
  'POST /servers': 'admin:server.create',
  'PATCH /servers/:server/details': 'admin:server.details',
  'PATCH /servers/:server/build': 'admin:server.build',
  'PATCH /servers/:server/startup': 'admin:server.startup',
  'POST /servers/bulk': 'admin:bulk.start',
  'DELETE /bulk-operations/:bulk_operation': 'admin:bulk.cancel',
  'POST /servers/:server/suspend': 'admin:server.suspend',
  'POST /servers/:server/unsuspend': 'admin:server.unsuspend',
  'POST /servers/:server/reinstall': 'server:reinstall',
  'PUT /servers/:server/notes': 'admin:server.notes',
  'DELETE /servers/:server': 'admin:server.delete',
  'DELETE /servers/:server/force': 'admin:server.delete',
  'POST /servers/:server/databases': 'server:database.create',
  'POST /servers/:server/databases/:database/reset-password': 'server:database.rotate-password',
  'DELETE /servers/:server/databases/:database': 'server:database.delete',
  'POST /servers/:server/transfer': 'admin:transfer.start',
  'DELETE /servers/:server/transfer': 'admin:transfer.cancel',
  'PATCH /settings': 'admin:settings.update',
  'POST /servers/:server/installation': 'server:installation.fail',
  'POST /users/:user/email/verify': 'user:account.email-verified',
  'POST /users': 'admin:user.create',
  'PATCH /users/:user': 'admin:user.update',
  'DELETE /users/:user': 'admin:user.delete',
  'POST /users/:user/reset-password': 'admin:user.reset-password',
  'POST /users/:user/reset-two-factor': 'admin:user.reset-two-factor',
}

const eggConfiguration = {
  config_files: {},
  config_startup: { done: 'ready' },
  config_logs: {},
  config_stop: 'stop',
}
const nodeFields = {
  fqdn: '127.0.0.1',
  scheme: 'http',
  memory: 1,
  memory_overallocate: 0,
  disk: 1,
  disk_overallocate: 0,
  daemonListen: 1,
  daemonSFTP: 2022,
}

/** The fields that every change of a user sends. */
const profileOf = ({ email, username, firstName, lastName }: User) => ({
  email,
  username,
  first_name: firstName,
  last_name: lastName,
})

let admin: { id: number; keyId: number; token: string }

const send = (method: string, path: string, body?: object) =>
  world.request(method, `/api/application${path}`, { token: admin.token, ...(body ? { body } : {}) })

/** Makes rows of everything, a daemon and a database host that accept everything, and an administrator with a key. */
async function prepare(row: RouteRow) {
  const fixtures = await createFixtures(world)
  await world.database.db.execute(
    sql`update nodes set daemon_listen = ${daemon.port}, used_memory = 512, used_disk = 1024`,
  )
  const accept = async () => undefined
  Object.assign(world.services, {
    mysqlHost: () => ({
      ping: async () => ({ version: '11.4', tls: false }),
      createDatabase: accept,
      dropDatabase: accept,
      setPassword: accept,
    }),
  })
  const user = await makeUser(world, { rootAdmin: true })
  const { token, row: key } = await makeKey(world, user, { type: 'application', acl: fullAcl })
  admin = { id: user.id, keyId: key.id, token }
  const { params, body, raw } =
    (await { ...preparations, ...accountPreparations(world) }[nameOf(row)]?.(fixtures)) ?? {}
  const schema = bodySchemaOf(row)
  const sample = schema === null ? undefined : sampleText(schema)
  const sent = raw ?? (body === undefined ? sample : JSON.stringify(body))
  return () =>
    world.request(row.method, pathOf(row, fixtures, params ?? {}), {
      token,
      ...(sent === undefined ? {} : { raw: sent }),
    })
}

const newest = async () =>
  (await world.database.db.select().from(activity).orderBy(desc(activity.id)).limit(1))[0]

describe('OB-1: every change through the Application API is an audit event of its key and its owner', () => {
  it('is tested for every route that is mounted', () => {
    expect(routes.length).toBeGreaterThan(40)
    expect(Object.keys(preparations).filter((name) => !routes.some((row) => nameOf(row) === name))).toEqual(
      [],
    )
  })

  it.each(routes.map((row) => [nameOf(row), row] as const))('%s', async (name, row) => {
    const request = await prepare(row)
    const before = (await newest())?.id ?? 0
    const answer = await request()
    expect(answer.status, answer.text).toBe(findMetadata(row, 'returns')?.status)
    const entry = await newest()
    expect(entry?.id ?? 0).toBeGreaterThan(before)
    expect(entry).toMatchObject({ actorId: admin.id, apiKeyId: admin.keyId, source: 'api', ip: '192.0.2.1' })
    const event = entry?.event as keyof typeof activityEvents
    expect(event).toBe(events[name])
    expect(
      Object.keys(entry?.properties ?? {}).filter((name) => !activityEvents[event].includes(name as never)),
    ).toEqual([])
  })
})

/** Routes of which an external service has done its part before the panel can know that it is done. */
const afterExternalService = [
  'POST /settings/test/bucket',
  'POST /settings/test/oidc',
  'DELETE /servers/:server/force',
  'DELETE /servers/:server',
  'POST /servers/:server/databases',
  'POST /servers/:server/databases/:database/reset-password',
  'DELETE /servers/:server/databases/:database',
]

describe('OB-1: a change whose event cannot be recorded does not happen', () => {
  const inOneTransaction = routes.filter((row) => !afterExternalService.includes(nameOf(row)))

  it.each(inOneTransaction.map((row) => [nameOf(row), row] as const))('%s', async (_name, row) => {
    const request = await prepare(row)
    const before = await fingerprintOf(world)
    const { db } = world.database
    await db.execute(sql`create function refuse_entry() returns trigger language plpgsql as
      $$ begin raise exception 'no entry'; end $$`)
    await db.execute(sql`create trigger refuse_entry before insert on activity for each row
      execute function refuse_entry()`)
    try {
      expect((await request()).status).toBe(500)
    } finally {
      await db.execute(sql`drop trigger refuse_entry on activity`)
      await db.execute(sql`drop function refuse_entry`)
    }
    expect(await fingerprintOf(world)).toEqual(before)
    expect(daemon.calls).toEqual([])
  })
})

describe('OB-1: changes by the command line and by other ways', () => {
  const run = (verb: string, input: object) => dispatchOperation(world.panel, { verb, input })
  const entries = () => world.database.db.select().from(activity).orderBy(activity.id)

  it('are events of the system, whatever the verb', async () => {
    await makeNode(world, { name: 'one' })
    Object.assign(world.services, { mysqlHost: () => ({ ping: async () => ({ version: '1', tls: false }) }) })
    const person = { first_name: 'A', last_name: 'B', root_admin: true }
    await run('user:create', {
      ...person,
      username: 'ada',
      email: 'ada@example.test',
      password: 'long enough',
    })
    await run('key:create', { user: 'ada', type: 'application' })
    await run('key:create', { user: 'ada', type: 'account' })
    await run('node:configure', { node: 'one', command: true })
    await run('node:reset-secret', { node: 'one' })
    await run('database-host:create', {
      host: 'db.example.test',
      username: 'u',
      password: 'p',
      skip_check: true,
    })
    await run('queue:schedule', {})
    await run('secrets:rotate', { check: false })
    await run('secrets:rotate', { check: true })
    const recorded = await entries()
    expect(recorded.map(({ event }) => event)).toEqual([
      'admin:user.create',
      'user:api-key.create',
      'user:api-key.create',
      'user:api-key.create',
      'admin:node.update',
      'admin:database-host.create',
      'admin:queue.schedule',
      'admin:secrets.rotate',
    ])
    for (const entry of recorded) expect(entry).toMatchObject({ source: 'system', actorId: null, ip: null })
    expect(recorded[4]?.properties).toEqual({ name: 'one', changed: ['reset_secret'] })
  })

  it('name an imported egg and its new nest', async () => {
    const egg = await makeEgg(world, { name: 'Exported' })
    admin = { id: 0, keyId: 0, token: (await makeAdministrator()).token }
    const { text: document } = await send('GET', `/nests/${egg.nestId}/eggs/${egg.id}/export`)
    const files = [{ name: 'egg.json', text: document.replace(egg.uuid, crypto.randomUUID()) }]
    await run('egg:import', { nest: 'Imported', files })
    await run('egg:import', { nest: 'Imported', files })
    expect((await entries()).map(({ event, properties }) => [event, properties])).toEqual([
      ['admin:nest.create', { name: 'Imported' }],
      ['admin:egg.import', { name: 'Exported', replaced: false }],
      ['admin:egg.import', { name: 'Exported', replaced: true }],
    ])
  })

  const makeAdministrator = async () =>
    makeKey(world, await makeUser(world, { rootAdmin: true }), { type: 'application', acl: fullAcl })
})

describe('an event of an administrator', () => {
  it('names what it is about as a subject, the changed fields, and never their values', async () => {
    const user = await makeUser(world, { rootAdmin: true })
    const { token, row } = await makeKey(world, user, { type: 'application', acl: fullAcl })
    admin = { id: user.id, keyId: row.id, token }
    const other = await makeUser(world)
    const profile = profileOf(other)
    const location = await makeLocation(world)
    await send('PATCH', `/users/${other.id}`, {
      ...profile,
      password: 'a new secret',
      root_admin: true,
      language: 'de',
    })
    await send('PATCH', `/users/${other.id}`, { ...profile, language: 'de' })
    await send('PATCH', `/locations/${location.id}`, { long: 'Far away' })
    await send('DELETE', `/users/${other.id}`)
    await send('DELETE', `/keys/${row.identifier}`)
    const entries = await world.database.db.select().from(activity).orderBy(activity.id)
    expect(entries.map(({ event, properties }) => [event, properties])).toEqual([
      ['admin:user.update', { username: other.username, changed: ['password', 'language', 'root_admin'] }],
      ['admin:location.update', { short: location.short, changed: ['long'] }],
      ['admin:user.delete', { username: other.username }],
      ['user:api-key.delete', { identifier: row.identifier }],
    ])
    expect(JSON.stringify(entries)).not.toContain('a new secret')
    const subjects = await world.database.db.select().from(activitySubjects)
    expect(subjects.map(({ subjectType, subjectId }) => [subjectType, subjectId])).toEqual([
      ['user', other.id],
      ['location', location.id],
      ['user', other.id],
      ['api_key', row.id],
    ])
    expect(await world.database.db.select().from(apiKeys)).toEqual([])
    for (const entry of entries.slice(0, 3)) expect([entry.serverId, entry.userId]).toEqual([null, null])
  })

  it('of what a daemon refused is taken back', async () => {
    const fixtures = await createFixtures(world)
    await world.database.db.execute(sql`update nodes set daemon_listen = ${daemon.port}`)
    daemon.respond({ status: 400, json: {} })
    admin = { id: 0, keyId: 0, token: fixtures.applicationToken }
    const before = await world.events()
    for (const path of ['suspend', 'reinstall'])
      expect((await send('POST', `/servers/${fixtures.server.id}/${path}`)).status).toBeGreaterThanOrEqual(
        400,
      )
    expect(await world.events()).toEqual(before)
    expect(await world.database.db.select().from(activitySubjects)).toEqual([])
  })
})
