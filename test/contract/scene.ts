import { only } from '../../src/db/database.ts'
import * as tables from '../../src/db/schema.ts'
import { passwordPlace as hostPasswordPlace } from '../../src/domain/database-hosts.ts'
import { passwordPlace } from '../../src/domain/database-passwords.ts'
import { seal } from '../../src/domain/secrets.ts'
import { newSessionToken, openSession } from '../../src/domain/sessions.ts'
import { factOfKind, type RouteRow } from '../../src/http/facts.ts'
import { curlyPath } from '../../src/http/openapi.ts'
import { signMessage } from '../../src/platform/local/qstash-signature.ts'
import { pageHeaders } from '../support/browser.ts'
import {
  known,
  makeAllocation,
  makeApplicationToken,
  makeClientToken,
  makeLocation,
  makeNode,
  makeServer,
  makeSubuser,
  makeUser,
} from '../support/factories.ts'
import { metricsToken, panelUrl, type RequestOptions, signingKeys, type World } from '../support/world.ts'

/** A world in which every kind of thing exists once, and what the refusals need to know of it. */
export type Scene = Awaited<ReturnType<typeof openScene>>

export async function openScene(world: World) {
  // Passkeys need a secure origin.
  Object.assign(world.parts, { config: { ...world.parts.config, url: 'https://panel.test' } })
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
    free: await makeAllocation(world, node),
    ...(await makeBelongings(world, server, node)),
    clientToken: await makeClientToken(world, owner),
    applicationToken: await makeApplicationToken(world),
    sessionToken: await openOwnersSession(world, owner),
    administratorsToken: await openAdministratorsSession(world),
    /** Of a guest of whom nothing is remembered. */
    guestToken: newSessionToken(),
  }
}

/** A browser in which the owner is signed in, by the token of its cookie; he has a passkey and an identity. */
async function openOwnersSession(world: World, owner: { id: number; authVersion: number }): Promise<string> {
  const { db } = world.database
  const userId = owner.id
  await db.insert(tables.passkeys).values({ userId, name: 'Laptop', credentialId: 'AAAA', publicKey: 'AAAA' })
  await db
    .insert(tables.identities)
    .values({ userId, provider: 'oidc', issuer: 'https://a.test', subject: '1', displayName: 'mara' })
  const options = { userAgent: 'Test browser', remember: false, previous: null }
  return (await openSession(world.panel, owner, options)).token
}

async function makeBelongings(world: World, server: { id: number }, node: { id: number }) {
  const { db } = world.database
  const serverId = server.id
  const backup = only(
    await db
      .insert(tables.backups)
      .values({ serverId, name: 'Nightly', disk: 'wings', isSuccessful: true, completedAt: new Date() })
      .returning(),
  )
  const schedule = only(
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
  const task = only(
    await db
      .insert(tables.tasks)
      .values({ scheduleId: schedule.id, sequenceId: 1, action: 'command', payload: 'say hi', timeOffset: 0 })
      .returning(),
  )
  const host = only(
    await db
      .insert(tables.databaseHosts)
      .values({
        name: 'Host',
        host: '127.0.0.1',
        port: 1,
        username: 'root',
        password: await seal(world.panel, 'secret of the host', hostPasswordPlace({ id: 1 })),
        nodeId: node.id,
      })
      .returning(),
  )
  const account = { databaseHostId: host.id, username: 'u1_x' }
  const password = await seal(world.panel, 'secret of the database', passwordPlace(account))
  const database = only(
    await db
      .insert(tables.databases)
      .values({ ...account, serverId, database: 's1_x', password, state: 'ready' })
      .returning(),
  )
  const item = only(
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
  const job = only(
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
  return { backup, schedule, task, host, database, item, job }
}

/** The surface's name as in the specification's table; `jobs` and `browser` beside it. */
export const surfaceOf = ({ path }: RouteRow): string =>
  /^\/(?:api\/)?(client|application|remote|jobs)\b/.exec(path)?.[1] ?? 'browser'

/** Routes by the surface they belong to, for `it.each`. */
export const routesOfEachSurface = (routes: RouteRow[]): [string, RouteRow[]][] => [
  ...Map.groupBy(routes, surfaceOf),
]

/** What the parameters of the paths stand for, by surface. */
function parametersOf(scene: Scene, surface: string): Record<string, string | number> {
  const { server, node, other, subuser, location, free, backup, schedule, task, host, database, item } = scene
  const common = {
    backup: backup.uuid,
    provider: 'oidc',
    id: 1,
    token: 'token',
    identifier: 'ptlc_unknown0000',
  }
  if (surface === 'application') {
    const numbers = {
      server: server.id,
      node: node.id,
      user: other.id,
      location: location.id,
      allocation: free.id,
    }
    return {
      ...numbers,
      database: database.id,
      database_host: host.id,
      job: scene.job.id,
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

/** The path of a route with every parameter filled in; `replaced` puts another value in place of one. */
export function pathOf(row: RouteRow, scene: Scene, replaced: Record<string, string> = {}): string {
  const values = { ...parametersOf(scene, surfaceOf(row)), ...replaced }
  return curlyPath(row.path).replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? 1))
}

/** Names of the parameters in the path of a route. */
export const parameterNames = (row: RouteRow): string[] =>
  [...curlyPath(row.path).matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)

async function openAdministratorsSession(world: World): Promise<string> {
  const administrator = await makeUser(world, { rootAdmin: true })
  const options = { userAgent: 'Test browser', remember: false, previous: null }
  return (await openSession(world.panel, administrator, options)).token
}

const isForAdministrators = (row: RouteRow) =>
  factOfKind(row, 'permission')?.name === 'signed in, administrator'

let addresses = 0

/** Another network each time: what is counted by network would soon refuse everything else. */
function nextAddress(): string {
  addresses += 1
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`
}

/** The request options of somebody who may do everything that the route's credential stands for. */
export async function entitled(
  world: World,
  row: RouteRow,
  scene: Scene,
  path: string,
  raw?: string,
): Promise<RequestOptions> {
  const body = raw === undefined ? {} : { raw }
  switch (factOfKind(row, 'credential')?.name) {
    case 'application key':
      return { ...body, token: scene.applicationToken }
    case 'client key or session':
      return { ...body, token: scene.clientToken }
    case 'browser session': {
      const isForGuests = factOfKind(row, 'permission')?.name === 'guest'
      const token = isForAdministrators(row) ? scene.administratorsToken : scene.sessionToken
      const headers = pageHeaders(world, isForGuests ? scene.guestToken : token)
      return { ...body, headers, ip: nextAddress() }
    }
    case 'node token':
      return { ...body, token: scene.node.token }
    case 'metrics token':
      return { ...body, token: metricsToken }
    case 'queue signature': {
      const message = {
        key: signingKeys.current,
        url: `${panelUrl}${path.split('?')[0]}`,
        body: raw ?? '',
        now: world.clock.now,
      }
      return { ...body, headers: { 'upstash-signature': await signMessage(message) } }
    }
    default:
      return body
  }
}
