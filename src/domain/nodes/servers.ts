import { eq, type SQL, sql } from 'drizzle-orm'
import { type Database, prepared } from '../../db/database.ts'
import { embedMany, embedOnce, embedOne } from '../../db/embed.ts'
import { paginatePrepared, type RowPage, unlimitedCount } from '../../db/pagination.ts'
import {
  activity,
  allocations,
  eggs,
  eggVariables,
  locations,
  nodes,
  servers,
  transfers,
} from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { forbidden, notFound } from '../../errors.ts'
import type { Panel, Tx } from '../../panel.ts'
import type { EventName } from '../activity/events.ts'
import type { ServerConfigurationRows } from '../servers/configuration.ts'
import { matchesServerIdentifier, parseServerIdentifier } from '../servers/identifiers.ts'

const { placeholder } = sql

const embedEgg = () =>
  embedOne(eggs, {
    where: (egg) => eq(egg.id, servers.eggId),
    with: (egg) => ({
      configParent: embedOne(eggs, { where: (parent) => eq(parent.id, egg.configFrom) }),
      scriptParent: embedOne(eggs, { where: (parent) => eq(parent.id, egg.copyScriptFrom) }),
      variables: embedMany(eggVariables, { where: (variable) => eq(variable.eggId, egg.id) }),
    }),
  })
type EmbeddedEgg = NonNullable<ReturnType<typeof embedEgg> extends SQL<infer Value> ? Value : never>

const embedAllocations = () =>
  embedMany(allocations, { where: (allocation) => eq(allocation.serverId, servers.id) })

const embedLocation = () =>
  embedOne(locations, {
    where: (location) =>
      sql`${location.id} = (select ${nodes.locationId} from ${nodes} where ${nodes.id} = ${servers.nodeId})`,
  })

const nodeServersPage = () => ({
  table: servers,
  where: eq(servers.nodeId, placeholder('node')),
  fields: {
    egg: embedOnce(embedEgg(), servers.eggId, servers.id),
    allocations: embedAllocations(),
    location: embedLocation(),
  },
  // The daemon reads as many pages as the total says.
  maxExactTotal: unlimitedCount,
})

/**
 * Lists one page of a node's servers by id, with the rows of their configurations and the exact total, in one
 * statement. Includes a server that is being transferred away. Wings: GET /servers.
 */
export async function listNodeServers(
  panel: Panel,
  node: Node,
  request: { page: number; perPage: number },
): Promise<RowPage<ServerConfigurationRows>> {
  const statement = { name: 'node_servers', shape: nodeServersPage, values: { node: node.id } }
  const { rows, ...page } = await paginatePrepared(panel.db, statement, request)
  const eggsById = new Map(rows.flatMap(({ egg }) => (egg ? [[egg.id, egg] as const] : [])))
  return {
    ...page,
    rows: rows.map((row) => toConfigurationRows(row, { ...row, egg: eggsById.get(row.eggId) })),
  }
}

/**
 * Finds a server by uuid or short identifier with the rows of its configuration, in one statement. During a
 * transfer both nodes may read it. Refuses with 404, with 403 a server of another node.
 * Wings: GET /servers/{uuid}.
 */
export async function findNodeServer(
  panel: Panel,
  node: Node,
  identifier: string,
): Promise<ServerConfigurationRows> {
  const [row] = await serverStatement(panel.db).execute(statementValues(node, identifier))
  const { server, ...related } = requireReadable(row)
  return toConfigurationRows(server, related)
}

/**
 * Finds the egg with the install script of a server, in one statement. Refuses as `findNodeServer` does.
 * Wings: GET /servers/{uuid}/install.
 */
export async function findNodeServerScript(
  panel: Panel,
  node: Node,
  identifier: string,
): Promise<Pick<ServerConfigurationRows, 'egg' | 'copyScriptFrom'>> {
  const [row] = await scriptStatement(panel.db).execute(statementValues(node, identifier))
  const { egg, scriptParent } = requireReadable(row)
  return { egg, copyScriptFrom: scriptParent }
}

/**
 * Locks a server of the node until the transaction ends. Refuses with 404, with 403 a server of another node,
 * even when it is being transferred to this one.
 */
export async function lockNodeServer(tx: Tx, node: Node, identifier: string): Promise<Server> {
  const server = await lockServerByIdentifier(tx, identifier)
  if (server.nodeId !== node.id) throw serverOfAnotherNode()
  return server
}

/** Locks a server by uuid or short identifier until the transaction ends, whichever node calls. Refuses with 404. */
export async function lockServerByIdentifier(tx: Tx, identifier: string): Promise<Server> {
  const [server] = await tx.db
    .select()
    .from(servers)
    .where(matchesServerIdentifier(parseServerIdentifier(identifier)))
    .for('update')
  if (!server) throw serverNotFound()
  return server
}

/**
 * Resets the servers that were being installed or restored when the node's daemon restarted; other states stay.
 * Records `server:backup.restore-failed` for restored ones, in the same statement.
 * Spec: docs/servers.md#restart-of-a-daemon. Wings: POST /servers/reset.
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

/** 404. No server has this identifier. */
export const serverNotFound = () => notFound('No such server.', 'RecordNotFoundException')

/** 403. The server belongs to another node than the caller's. */
export const serverOfAnotherNode = () =>
  forbidden('The server belongs to another node.', 'HttpForbiddenException')

function requireReadable<Row extends { isReadable: boolean }>(row: Row | undefined): Row {
  if (!row) throw serverNotFound()
  if (!row.isReadable) throw serverOfAnotherNode()
  return row
}

function toConfigurationRows(
  server: Server,
  related: Pick<ServerConfigurationRows, 'allocations'> & {
    egg: EmbeddedEgg | null | undefined
    location: ServerConfigurationRows['location'] | null
  },
): ServerConfigurationRows {
  const { egg, location, allocations: all } = related
  if (!egg || !location) throw new Error(`Server ${server.uuid} was loaded without its egg or location.`)
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

const statementValues = (node: Node, identifier: string) => ({
  ...parseServerIdentifier(identifier),
  node: node.id,
})

const isReadable = () => sql<boolean>`${servers.nodeId} = ${placeholder('node')}::integer or exists (
  select 1 from ${transfers} where ${transfers.serverId} = ${servers.id} and ${transfers.successful} is null
  and ${placeholder('node')}::integer in (${transfers.oldNodeId}, ${transfers.newNodeId}))`

// The join is needed: in a selection from one table drizzle omits table names in expressions.
const serverStatement = (db: Database) =>
  prepared(db, 'node_server', (connection) =>
    connection
      .select({
        server: servers,
        isReadable: isReadable(),
        egg: embedEgg(),
        allocations: embedAllocations(),
        location: locations,
      })
      .from(servers)
      .innerJoin(nodes, eq(nodes.id, servers.nodeId))
      .innerJoin(locations, eq(locations.id, nodes.locationId))
      .where(matchesServerIdentifier())
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
      .where(matchesServerIdentifier())
      .prepare('node_server_script'),
  )
