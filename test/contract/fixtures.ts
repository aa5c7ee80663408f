import { single } from '../../src/db/database.ts'
import * as tables from '../../src/db/schema.ts'
import { hostPasswordLocation as hostPasswordPlace } from '../../src/domain/databases/hosts.ts'
import { databasePasswordLocation } from '../../src/domain/databases/passwords.ts'
import { encrypt } from '../../src/domain/secrets.ts'
import { createSession, newSessionToken } from '../../src/domain/auth/sessions.ts'
import { findMetadata, type RouteRow } from '../../src/http/metadata.ts'
import { openApiPath } from '../../src/http/openapi.ts'
import { signMessage } from '../../src/dev/qstash/signature.ts'
import { pageHeaders } from '../support/browser.ts'
import {
  known,
  makeAllocation,
  makeAnnouncement,
  makeApplicationToken,
  makeClientToken,
  makeLocation,
  makeMount,
  makeRole,
  makeNode,
  makeServer,
  makeServerFolder,
  makeSubuser,
  makeUser,
} from '../support/factories.ts'
import { metricsToken, panelUrl, type RequestOptions, signingKeys, type World } from '../support/world.ts'

/** A world with one row of every table, and the credentials for it. */
export type Fixtures = Awaited<ReturnType<typeof createFixtures>>

export async function createFixtures(world: World) {
  // Passkeys need a secure origin.
  Object.assign(world.services, { config: { ...world.services.config, url: 'https://panel.test' } })
  const owner = await makeUser(world, { passwordHash: known.passwordHash })
  const node = await makeNode(world)
  const server = await makeServer(world, {
    owner,
    node,
    externalId: 'external-server',
    databaseLimit: 10,
    allocationLimit: 10,
    backupLimit: 10,
  })
  const other = await makeUser(world, { externalId: 'external-user' })
  const subuser = await makeUser(world)
  await makeSubuser(world, server, subuser, ['websocket.connect'])
  return {
    owner,
    node,
    server,
    other,
    subuser,
    location: await makeLocation(world),
    role: await makeRole(world, {}),
    mount: await makeMount(world, {
      eggs: [server.eggId],
      nodes: [node.id],
      servers: [server.id],
    }),
    announcement: await makeAnnouncement(world, { nodes: [node.id] }),
    folder: await makeServerFolder(world, owner),
    free: await makeAllocation(world, node),
    ...(await makeBelongings(world, server, node)),
    clientToken: await makeClientToken(world, owner),
    applicationToken: await makeApplicationToken(world),
    sessionToken: await openOwnersSession(world, owner),
    administratorsToken: await openAdministratorsSession(world),
    /** The token of a guest without a session row. */
    guestToken: newSessionToken(),
  }
}

/** Signs in the owner, who has a passkey and an identity; returns the token of the session cookie. */
async function openOwnersSession(world: World, owner: { id: number; authVersion: number }): Promise<string> {
  const { db } = world.database
  const userId = owner.id
  await db.insert(tables.passkeys).values({ userId, name: 'Laptop', credentialId: 'AAAA', publicKey: 'AAAA' })
  await db
    .insert(tables.identities)
    .values({ userId, provider: 'oidc', issuer: 'https://a.test', subject: '1', displayName: 'mara' })
  const options = { userAgent: 'Test browser', remember: false, previous: null }
  return (await createSession(world.panel, owner, options)).token
}

async function makeBelongings(world: World, server: { id: number }, node: { id: number }) {
  const { db } = world.database
  const serverId = server.id
  const backup = single(
    await db
      .insert(tables.backups)
      .values({ serverId, name: 'Nightly', disk: 'wings', isSuccessful: true, completedAt: new Date() })
      .returning(),
  )
  const schedule = single(
    await db
      .insert(tables.schedules)
      .values({
        serverId,
        name: 'Nightly',
        cronMinute: '0',
        cronHour: '4',
        cronDayOfMonth: '*',
        cronDayOfWeek: '*',
      })
      .returning(),
  )
  const task = single(
    await db
      .insert(tables.tasks)
      .values({ scheduleId: schedule.id, sequenceId: 1, action: 'command', payload: 'say hi', timeOffset: 0 })
      .returning(),
  )
  const host = single(
    await db
      .insert(tables.databaseHosts)
      .values({
        name: 'Host',
        host: '127.0.0.1',
        port: 1,
        username: 'root',
        password: await encrypt(world.panel, 'secret of the host', hostPasswordPlace({ id: 1 })),
        nodeId: node.id,
      })
      .returning(),
  )
  const account = { databaseHostId: host.id, username: 'u1_x' }
  const password = await encrypt(world.panel, 'secret of the database', databasePasswordLocation(account))
  const database = single(
    await db
      .insert(tables.databases)
      .values({ ...account, serverId, database: 's1_x', password, state: 'ready' })
      .returning(),
  )
  const item = single(
    await db
      .insert(tables.trashItems)
      .values({
        serverId,
        name: 'a.txt',
        path: '/a.txt',
        isFile: true,
        ready: true,
        expiresAt: new Date(Date.now() + 8.64e7),
      })
      .returning(),
  )
  const job = single(
    await db
      .insert(tables.jobs)
      .values({
        name: 'sync-server',
        payload: { serverId },
        state: 'dead',
        deadlineAt: new Date(),
        finishedAt: new Date(),
      })
      .returning(),
  )
  await db.insert(tables.transfers).values({
    serverId,
    oldNodeId: node.id,
    newNodeId: node.id,
    oldAllocationId: 1,
    newAllocationId: 2,
    successful: false,
  })
  const bulkOperation = single(
    await db
      .insert(tables.bulkOperations)
      .values({ action: 'suspend', userId: 1, ip: '192.0.2.1', createdAt: new Date() })
      .returning(),
  )
  await db.insert(tables.bulkItems).values({ operationId: bulkOperation.id, serverId })
  return { backup, schedule, task, host, database, item, job, bulkOperation }
}

/** Returns the name of the surface of a route. */
export const surfaceOf = ({ path }: RouteRow): string =>
  /^\/(?:api\/)?(client|application|remote|jobs)\b/.exec(path)?.[1] ?? 'browser'

/** Groups routes by surface, for `it.each`. */
export const routesOfEachSurface = (routes: RouteRow[]): [string, RouteRow[]][] => [
  ...Map.groupBy(routes, surfaceOf),
]

/** Returns the values of path parameters, by surface. */
function parametersOf(fixtures: Fixtures, surface: string): Record<string, string | number> {
  const { server, node, other, subuser, location, role, free, backup, schedule, task, host, database, item } =
    fixtures
  const common = {
    backup: backup.uuid,
    provider: 'oidc',
    id: 1,
    announcement: fixtures.announcement.id,
    folder: fixtures.folder.id,
    token: 'token',
    identifier: 'ptlc_unknown0000',
  }
  if (surface === 'application') {
    const numbers = {
      server: server.id,
      node: node.id,
      user: other.id,
      location: location.id,
      role: role.id,
      mount: fixtures.mount.id,
      allocation: free.id,
    }
    return {
      ...numbers,
      database: database.id,
      database_host: host.id,
      job: fixtures.job.id,
      bulk_operation: fixtures.bulkOperation.id,
      nest: 1,
      egg: server.eggId,
      external_id: 'external-server',
    }
  }
  const things = { schedule: schedule.id, task: task.id, database: database.id, item: item.id }
  return {
    ...common,
    ...things,
    server: server.uuid,
    uuid: server.uuid,
    user: subuser.uuid,
    allocation: server.allocationId,
  }
}

/** Builds the path of a route with every parameter filled in; `replaced` overrides values. */
export function pathOf(row: RouteRow, fixtures: Fixtures, replaced: Record<string, string> = {}): string {
  const values = { ...parametersOf(fixtures, surfaceOf(row)), ...replaced }
  return openApiPath(row.path).replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? 1))
}

/** Lists the names of the parameters in the path of a route. */
export const parameterNames = (row: RouteRow): string[] =>
  [...openApiPath(row.path).matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

async function openAdministratorsSession(world: World): Promise<string> {
  const administrator = await makeUser(world, { rootAdmin: true })
  const options = { userAgent: 'Test browser', remember: false, previous: null }
  return (await createSession(world.panel, administrator, options)).token
}

const isForAdministrators = (row: RouteRow) =>
  findMetadata(row, 'permission')?.name === 'signed in, administrator'

let addresses = 0

/** Returns an address of a new network each time, so that limits by network do not apply. */
function nextAddress(): string {
  addresses += 1
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`
}

/** Returns the request options of a caller with all rights that the credential of the route can have. */
export async function entitledOptions(
  world: World,
  row: RouteRow,
  fixtures: Fixtures,
  path: string,
  raw?: string,
): Promise<RequestOptions> {
  const body = raw === undefined ? {} : { raw }
  switch (findMetadata(row, 'credential')?.name) {
    case 'application key or session':
      return { ...body, token: fixtures.applicationToken }
    case 'client key or session':
      return { ...body, token: fixtures.clientToken }
    case 'browser session': {
      const isForGuests = findMetadata(row, 'permission')?.name === 'guest'
      const token = isForAdministrators(row) ? fixtures.administratorsToken : fixtures.sessionToken
      const headers = pageHeaders(world, isForGuests ? fixtures.guestToken : token)
      return { ...body, headers, ip: nextAddress() }
    }
    case 'node token':
      return { ...body, token: fixtures.node.token }
    case 'metrics token':
      return { ...body, token: metricsToken }
    case 'queue signature': {
      const message = {
        key: signingKeys.current,
        url: `${panelUrl}${path.split('?')[0]}`,
        body: raw ?? '',
        now: world.clock.now,
      }
      return { ...body, headers: { 'upstash-signature': signMessage(message) } }
    }
    default:
      return body
  }
}
