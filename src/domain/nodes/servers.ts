import { eq, type SQL, sql } from 'drizzle-orm'
import type { DataColumn } from '../../db/data-column.ts'
import { embedMany, embedOnce, embedOne, rowOf } from '../../db/embed.ts'
import { jsonColumn } from '../../db/json.ts'
import { unlimitedCount } from '../../db/page-ids.ts'
import { type FoundPage, limitOf, type PageNumbers, type RowPage, toPage } from '../../db/pagination.ts'
import { sharedRow, type SharedRows } from '../../db/shared-json.ts'
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
import type { Egg } from '../../db/tables/eggs.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { forbidden, notFound } from '../../errors.ts'
import type { Panel, Tx } from '../../panel.ts'
import type { EventName } from '../activity/events.ts'
import type { InstallScriptRows, ServerConfigurationRows } from '../servers/configuration.ts'
import { embedMounts } from '../mounts/server-mounts.ts'
import {
  type ConfiguredAllocation,
  configuredColumns,
  type ConfiguredEgg,
  type ConfiguredLocation,
  type ConfiguredMount,
  type ConfiguredServer,
  type ConfiguredVariable,
} from '../servers/daemon-settings.ts'
import { matchesServerIdentifier, parseServerIdentifier } from '../servers/identifiers.ts'

const { server: serverColumns, ...relatedColumns } = configuredColumns
const { placeholder } = sql

const embedEgg = () =>
  embedOne(eggs, {
    columns: relatedColumns.egg,
    where: (egg) => eq(egg.id, servers.eggId),
    with: (egg) => ({
      configParent: embedOne(eggs, {
        columns: relatedColumns.egg,
        where: (parent) => eq(parent.id, egg.configFrom),
      }),
      variables: embedMany(eggVariables, {
        columns: relatedColumns.variable,
        where: (variable) => eq(variable.eggId, egg.id),
      }),
    }),
  }) as SQL<EmbeddedEgg>
/** Eggs that servers of any node have. */
const knownEggs: SharedRows<EmbeddedEgg> = new Map()
type EmbeddedEgg = ConfiguredEgg & { configParent: ConfiguredEgg | null; variables: ConfiguredVariable[] }

const embedAllocations = () =>
  embedMany(allocations, {
    columns: relatedColumns.allocation,
    where: (allocation) => eq(allocation.serverId, servers.id),
  }) as SQL<ConfiguredAllocation[]>

/** Selects the location of a node (`nodes`). */
const embedLocation = () =>
  embedOne(locations, {
    columns: relatedColumns.location,
    where: (location) => eq(location.id, nodes.locationId),
  }) as SQL<ConfiguredLocation>

/** A server of a page; what it shares with others is with the first of them. */
type ListedServer = ConfiguredServer & {
  egg: EmbeddedEgg | null
  allocations: ConfiguredAllocation[]
  mounts: ConfiguredMount[]
  location: ConfiguredLocation | null
}

/**
 * Selects one page of the servers of a node (`nodes`) by id, with the rows of their configurations and the exact
 * total, which says how many pages the daemon reads. Includes a server that is being transferred away. The first id of
 * the page is found in the index alone. Wings: GET /servers.
 */
export const nodeServersColumn = (request: PageNumbers): DataColumn<FoundPage<ListedServer>> => ({
  name: 'node_servers',
  column: () => {
    const ofNode = eq(servers.nodeId, nodes.id)
    const fields = {
      egg: embedOnce(sharedRow(embedEgg(), knownEggs), servers.eggId, servers.id),
      allocations: embedAllocations(),
      mounts: embedMounts(),
      location: embedOnce(embedLocation(), servers.nodeId, servers.id),
    }
    const { values, decode } = rowOf<ListedServer>(servers, fields, serverColumns)
    const first = sql`select ${servers.id} from ${servers} where ${ofNode} order by ${servers.id} limit 1 offset ${placeholder('offset')}`
    const page = sql`select * from ${servers} where ${ofNode} and ${servers.id} >= (${first}) order by ${servers.id} limit ${placeholder('limit')}`
    return jsonColumn(
      sql`select json_build_array((select count(*) from ${servers} where ${ofNode}), (select coalesce(json_agg(page_row), '[]'::json)
        from (select ${values} as page_row from (${page}) ${servers} order by ${servers.id}) page_rows))`,
      (value) => {
        const [total, found] = value as [number, unknown[]]
        return { total, extraCount: 0, rows: found.map(decode), maxExactTotal: unlimitedCount }
      },
    )
  },
  values: limitOf(request),
})

/** Returns the page that `nodeServersColumn` found. */
export function toNodeServers(
  found: FoundPage<ListedServer>,
  request: PageNumbers,
): RowPage<ServerConfigurationRows> {
  const { rows, ...page } = toPage(found, request)
  const eggsById = new Map(rows.flatMap(({ egg }) => (egg ? [[egg.id, egg] as const] : [])))
  const location = rows[0]?.location ?? null
  return {
    ...page,
    rows: rows.map((row) => {
      const { allocations: all, mounts, eggId } = row
      return toConfigurationRows(row, { allocations: all, mounts, egg: eggsById.get(eggId), location })
    }),
  }
}

/** The server that a daemon asks about, and whether it may read it. */
type FoundServer = ConfiguredServer & {
  isReadable: boolean
  egg: EmbeddedEgg
  allocations: ConfiguredAllocation[]
  mounts: ConfiguredMount[]
  location: ConfiguredLocation
}

/**
 * Selects a server by uuid or short identifier with the rows of its configuration, for a node (`nodes`); null without
 * one. Wings: GET /servers/{uuid}.
 */
export const nodeServerColumn = (identifier: string): DataColumn<FoundServer | null> => ({
  name: 'node_server',
  column: () => {
    const location = embedOne(locations, {
      columns: relatedColumns.location,
      where: (each) =>
        sql`${each.id} = (select ${nodes.locationId} from ${nodes} where ${nodes.id} = ${servers.nodeId})`,
    })
    const fields = {
      isReadable: isReadable(),
      egg: sharedRow(embedEgg(), knownEggs),
      allocations: embedAllocations(),
      mounts: embedMounts(),
      location,
    }
    const { values, decode } = rowOf<FoundServer>(servers, fields, serverColumns)
    return jsonColumn(sql`select ${values} from ${servers} where ${matchesServerIdentifier()}`, decode)
  },
  values: parseServerIdentifier(identifier),
})

/**
 * Returns the rows of the configuration that `nodeServerColumn` found. During a transfer both nodes may read it.
 * Refuses with 404, with 403 a server of another node.
 */
export function toNodeServer(found: FoundServer | null): ServerConfigurationRows {
  const server = requireReadable(found)
  return toConfigurationRows(server, server)
}

type FoundScript = Egg & { isReadable: boolean; scriptParent: Egg | null }

/** Selects the egg with the install script of a server, as `nodeServerColumn` does. Wings: GET /servers/{uuid}/install. */
export const nodeServerScriptColumn = (identifier: string): DataColumn<FoundScript | null> => ({
  name: 'node_server_script',
  column: () => {
    const scriptParent = embedOne(eggs, { where: (parent) => eq(parent.id, eggs.copyScriptFrom) })
    const { values, decode } = rowOf<FoundScript>(eggs, { isReadable: isReadable(), scriptParent })
    const source = sql`${servers} inner join ${eggs} on ${eggs.id} = ${servers.eggId}`
    return jsonColumn(sql`select ${values} from ${source} where ${matchesServerIdentifier()}`, decode)
  },
  values: parseServerIdentifier(identifier),
})

/** Returns the eggs that `nodeServerScriptColumn` found. Refuses as `toNodeServer` does. */
export function toNodeServerScript(found: FoundScript | null): InstallScriptRows {
  const egg = requireReadable(found)
  return { egg, copyScriptFrom: egg.scriptParent }
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
export const serverNotFound = () =>
  notFound('callback_refused', 'No such server.', { code: 'RecordNotFoundException' })

/** 403. The server belongs to another node than the caller's. */
export const serverOfAnotherNode = () =>
  forbidden('callback_refused', 'The server belongs to another node.', {
    code: 'HttpForbiddenException',
  })

function requireReadable<Row extends { isReadable: boolean }>(row: Row | null | undefined): Row {
  if (!row) throw serverNotFound()
  if (!row.isReadable) throw serverOfAnotherNode()
  return row
}

function toConfigurationRows(
  server: ConfiguredServer,
  related: Pick<ServerConfigurationRows, 'allocations' | 'mounts'> & {
    egg: EmbeddedEgg | null | undefined
    location: ConfiguredLocation | null
  },
): ServerConfigurationRows {
  const { egg, location, allocations: all, mounts } = related
  if (!egg || !location) throw new Error(`Server ${server.uuid} was loaded without its egg or location.`)
  const { configParent: configFrom, variables } = egg
  return { server, egg, configFrom, variables, allocations: all, mounts, location }
}

/** Whether a node (`nodes`) may read the server. */
const isReadable = () => sql<boolean>`${servers.nodeId} = ${nodes.id} or exists (
  select 1 from ${transfers} where ${transfers.serverId} = ${servers.id} and ${transfers.successful} is null
  and ${nodes.id} in (${transfers.oldNodeId}, ${transfers.newNodeId}))`
