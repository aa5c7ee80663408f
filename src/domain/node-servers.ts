import { eq, or, type SQL, sql } from 'drizzle-orm'
import { type Database, prepared } from '../db/database.ts'
import { embedMany, embedOne } from '../db/embed.ts'
import { embedOnce } from '../db/embed-once.ts'
import { paginatePrepared, type RowPage } from '../db/pagination.ts'
import {
  activity,
  allocations,
  eggs,
  eggVariables,
  locations,
  nodes,
  servers,
  transfers,
} from '../db/schema.ts'
import type { Node } from '../db/tables/nodes.ts'
import type { Server } from '../db/tables/servers.ts'
import { forbidden, notFound } from '../errors.ts'
import type { Panel } from '../panel.ts'
import type { EventName } from './activity.ts'
import { serverNames } from './server-names.ts'
import type { ServerWithEverything } from './servers/configuration.ts'

/** More than there can be: the daemon reads as many pages as the total tells. */
const everyServer = 2_147_483_647
const { placeholder } = sql

const eggOf = () =>
  embedOne(eggs, {
    where: (egg) => eq(egg.id, servers.eggId),
    with: (egg) => ({
      configParent: embedOne(eggs, { where: (parent) => eq(parent.id, egg.configFrom) }),
      scriptParent: embedOne(eggs, { where: (parent) => eq(parent.id, egg.copyScriptFrom) }),
      variables: embedMany(eggVariables, { where: (variable) => eq(variable.eggId, egg.id) }),
    }),
  })
type EggOfServer = NonNullable<ReturnType<typeof eggOf> extends SQL<infer Value> ? Value : never>

const allocationsOf = () =>
  embedMany(allocations, { where: (allocation) => eq(allocation.serverId, servers.id) })

const locationOf = () =>
  embedOne(locations, {
    where: (location) =>
      sql`${location.id} = (select ${nodes.locationId} from ${nodes} where ${nodes.id} = ${servers.nodeId})`,
  })

const pageOfServers = () => ({
  table: servers,
  where: eq(servers.nodeId, placeholder('node')),
  fields: {
    egg: embedOnce(eggOf(), servers.eggId, servers.id),
    allocations: allocationsOf(),
    location: locationOf(),
  },
  exactUpTo: everyServer,
})

/**
 * One page of the servers of a node by id, with all that their configurations are made of and their exact
 * number, in one statement. A server being moved away is still among them. Wings: GET /servers.
 */
export async function listNodeServers(
  panel: Panel,
  node: Node,
  request: { page: number; perPage: number },
): Promise<RowPage<ServerWithEverything>> {
  const statement = { name: 'node_servers', shape: pageOfServers, values: { node: node.id } }
  const { rows, ...page } = await paginatePrepared(panel.db, statement, request)
  const eggsById = new Map(rows.flatMap(({ egg }) => (egg ? [[egg.id, egg] as const] : [])))
  return { ...page, rows: rows.map((row) => everythingOf(row, { ...row, egg: eggsById.get(row.eggId) })) }
}

/**
 * The server with all that its configuration is made of, by uuid or short id, in one statement. While it is
 * being moved both nodes may read it. Refuses with 404 an unknown one, with 403 one of another node.
 * Wings: GET /servers/{uuid}.
 */
export async function findNodeServer(panel: Panel, node: Node, name: string): Promise<ServerWithEverything> {
  const [row] = await everythingStatement(panel.db).execute(valuesOf(node, name))
  const { server, ...related } = readable(row)
  return everythingOf(server, related)
}

/**
 * The egg of a server as far as its install script goes, in one statement. Refuses as `findNodeServer` does.
 * Wings: GET /servers/{uuid}/install.
 */
export async function findNodeServerScript(
  panel: Panel,
  node: Node,
  name: string,
): Promise<Pick<ServerWithEverything, 'egg' | 'copyScriptFrom'>> {
  const [row] = await scriptStatement(panel.db).execute(valuesOf(node, name))
  const { egg, scriptParent } = readable(row)
  return { egg, copyScriptFrom: scriptParent }
}

/**
 * A server of the node, locked until the transaction ends. Refuses with 404 an unknown
 * one, with 403 one of another node, also of one it is being moved to.
 */
export async function lockNodeServer(panel: Panel, node: Node, name: string): Promise<Server> {
  const server = await lockNamedServer(panel, name)
  if (server.nodeId !== node.id) throw foreignServer()
  return server
}

/** The server by uuid or short id, whichever node asks, locked until the transaction ends. Refuses with 404. */
export async function lockNamedServer(panel: Panel, name: string): Promise<Server> {
  const { uuid, short } = serverNames(name)
  const [server] = await panel.db
    .select()
    .from(servers)
    .where(or(eq(servers.uuid, sql`${uuid}::uuid`), eq(servers.uuidShort, sql`${short}::text`)))
    .for('update')
  if (!server) throw unknownServer()
  return server
}

/**
 * After a restart of its daemon no server of the node is being installed or restored any more; other states
 * stay. Records `server:backup.restore-failed` for those that were being restored, in the same statement.
 * Spec: States and transitions, reset. Wings: POST /servers/reset.
 */
export async function resetNodeServers(panel: Panel, node: Node): Promise<void> {
  const now = sql`${panel.now().toISOString()}::timestamptz`
  const event: EventName = 'server:backup.restore-failed'
  await panel.db.execute(sql`
    with interrupted as (
      select id, status from ${servers}
      where node_id = ${node.id} and status in ('installing', 'restoring_backup') for update
    ), released as (
      update ${servers} set status = null, updated_at = ${now} from interrupted
      where servers.id = interrupted.id returning servers.id, interrupted.status
    )
    insert into ${activity} (timestamp, event, ip, source, server_id, node_id)
    select ${now}, ${event}::text, ${panel.ip}::text, 'system', id, ${node.id}::integer
    from released where status = 'restoring_backup' order by id`)
}

const unknownServer = () => notFound('No such server.', 'RecordNotFoundException')

/** 403. The caller's node has nothing to do with the server. */
export const foreignServer = () => forbidden('The server belongs to another node.', 'HttpForbiddenException')

function readable<Row extends { isReadable: boolean }>(row: Row | undefined): Row {
  if (!row) throw unknownServer()
  if (!row.isReadable) throw foreignServer()
  return row
}

function everythingOf(
  server: Server,
  related: Pick<ServerWithEverything, 'allocations'> & {
    egg: EggOfServer | null | undefined
    location: ServerWithEverything['location'] | null
  },
): ServerWithEverything {
  const { egg, location, allocations: all } = related
  if (!egg || !location) throw new Error(`Server ${server.uuid} came without its egg or location.`)
  const { configParent, scriptParent, variables } = egg
  return {
    server,
    egg,
    configFrom: configParent,
    copyScriptFrom: scriptParent,
    variables,
    allocations: all,
    location,
  }
}

const valuesOf = (node: Node, name: string) => ({ ...serverNames(name), node: node.id })

const isNamed = () =>
  or(
    eq(servers.uuid, sql`${placeholder('uuid')}::uuid`),
    eq(servers.uuidShort, sql`${placeholder('short')}::text`),
  )

const isReadable = () => sql<boolean>`${servers.nodeId} = ${placeholder('node')}::integer or exists (
  select 1 from ${transfers} where ${transfers.serverId} = ${servers.id} and ${transfers.successful} is null
  and ${placeholder('node')}::integer in (${transfers.oldNodeId}, ${transfers.newNodeId}))`

// The join is for drizzle: in a selection from one table it drops the tables' names from expressions.
const everythingStatement = (db: Database) =>
  prepared(db, 'node_server', (connection) =>
    connection
      .select({
        server: servers,
        isReadable: isReadable(),
        egg: eggOf(),
        allocations: allocationsOf(),
        location: locations,
      })
      .from(servers)
      .innerJoin(nodes, eq(nodes.id, servers.nodeId))
      .innerJoin(locations, eq(locations.id, nodes.locationId))
      .where(isNamed())
      .prepare('node_server'),
  )

const scriptStatement = (db: Database) =>
  prepared(db, 'node_server_script', (connection) =>
    connection
      .select({
        isReadable: isReadable(),
        egg: eggs,
        scriptParent: embedOne(eggs, { where: (parent) => eq(parent.id, eggs.copyScriptFrom) }),
      })
      .from(servers)
      .innerJoin(eggs, eq(eggs.id, servers.eggId))
      .where(isNamed())
      .prepare('node_server_script'),
  )
