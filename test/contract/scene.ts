import { only } from '../../src/db/database.ts'
import * as tables from '../../src/db/schema.ts'
import { passwordPlace as hostPasswordPlace } from '../../src/domain/database-hosts.ts'
import { passwordPlace } from '../../src/domain/database-passwords.ts'
import { seal } from '../../src/domain/secrets.ts'
import { factOfKind, type RouteRow } from '../../src/http/facts.ts'
import { curlyPath } from '../../src/http/openapi.ts'
import { signMessage } from '../../src/platform/local/qstash-signature.ts'
import {
  makeAllocation,
  makeApplicationToken,
  makeClientToken,
  makeLocation,
  makeNode,
  makeServer,
  makeSubuser,
  makeUser,
} from '../support/factories.ts'
import { panelUrl, type RequestOptions, signingKeys, type World } from '../support/world.ts'

/** A world in which every kind of thing exists once, and what the refusals need to know of it. */
export type Scene = Awaited<ReturnType<typeof openScene>>

export async function openScene(world: World) {
  const owner = await makeUser(world)
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
  }
}

async function makeBelongings(world: World, server: { id: number }, node: { id: number }) {
  const { db } = world.database
  const serverId = server.id
  const backup = only(
    await db.insert(tables.backups).values({ serverId, name: 'Nightly', disk: 'wings' }).returning(),
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
  await db.insert(tables.transfers).values({
    serverId,
    oldNodeId: node.id,
    newNodeId: node.id,
    oldAllocationId: 1,
    newAllocationId: 2,
    successful: false,
  })
  return { backup, schedule, task, host, database, item }
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
    allocation: free.id,
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
    case 'node token':
      return { ...body, token: scene.node.token }
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
