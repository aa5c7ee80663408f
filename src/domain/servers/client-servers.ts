import { eq, type SQL, sql } from 'drizzle-orm'
import { alias, QueryBuilder } from 'drizzle-orm/pg-core'
import type { DataColumn } from '../../db/data-column.ts'
import { embedMany, embedOnce, embedOne, rowOf, valuesColumn, type ValuesOf } from '../../db/embed.ts'
import { jsonColumn } from '../../db/json.ts'
import { pageIds } from '../../db/page-ids.ts'
import { type FoundPage, preparedPage, type RowPage, toPage } from '../../db/pagination.ts'
import {
  allocations,
  databaseHosts,
  eggs,
  eggVariables,
  nodes,
  servers,
  subusers,
  users,
} from '../../db/schema.ts'
import { besideShared, sharedRow, type SharedRows, sharedValues } from '../../db/shared-json.ts'
import type { Allocation } from '../../db/tables/allocations.ts'
import type { EggVariable } from '../../db/tables/egg-variables.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import type { Subuser } from '../../db/tables/subusers.ts'
import type { User } from '../../db/tables/users.ts'
import type { Panel } from '../../panel.ts'
import { requireCaller } from '../auth/caller.ts'
import { combineFilters, type ListRequest } from '../filters.ts'
import { type GrantedPermissions, resolvePermissions } from '../permissions.ts'
import { settingsColumn } from '../settings/settings.ts'
import { hasOpenTransfer, type ServerAccess } from './access.ts'
import { pageOfScope, scopeFilters, scopeOf, type ServerScope } from './client-scope.ts'

const nodeColumns = [
  'id',
  'name',
  'fqdn',
  'sftpDomain',
  'daemonSftp',
  'maintenanceMode',
] as const satisfies (keyof Node)[]
type NodeSummary = Pick<Node, (typeof nodeColumns)[number]>

const variableColumns = [
  'name',
  'description',
  'envVariable',
  'defaultValue',
  'userViewable',
  'userEditable',
  'rules',
] as const satisfies (keyof EggVariable)[]
type ShownVariable = Pick<EggVariable, (typeof variableColumns)[number]>

/** An egg with its variables; `features` are those of the egg it inherits from where its own are null. */
type ShownEgg = Pick<Egg, 'id' | 'uuid' | 'name' | 'features'> & { variables: ShownVariable[] }

const allocationColumns = ['id', 'ip', 'ipAlias', 'port', 'notes'] as const satisfies (keyof Allocation)[]
type ShownAllocation = Pick<Allocation, (typeof allocationColumns)[number]>

/** Columns of a server that lists show. */
const serverColumns = [
  'id',
  'uuid',
  'uuidShort',
  'nodeId',
  'ownerId',
  'eggId',
  'allocationId',
  'name',
  'description',
  'status',
  'memory',
  'swap',
  'disk',
  'io',
  'cpu',
  'threads',
  'oomDisabled',
  'startup',
  'image',
  'variables',
  'databaseLimit',
  'allocationLimit',
  'backupLimit',
] as const satisfies (keyof Server)[]

/** A server with what its Client API resource needs, as one caller may see it. */
export type ClientServer = {
  server: Pick<Server, (typeof serverColumns)[number]>
  node: NodeSummary
  permissions: GrantedPermissions
  isOwner: boolean
  isTransferring: boolean
  allocations: ShownAllocation[]
  egg: ShownEgg
  subusers: (Subuser & { user: User })[]
  include: readonly ServerInclude[]
  /** Origin of the panel, for the URLs of profile pictures. */
  panelUrl: string
}

/** Relations that are shown when they are included. */
export const serverIncludes = ['egg', 'subusers'] as const
export type ServerInclude = (typeof serverIncludes)[number]

/**
 * Selects one page of the servers in the scope, by id or in the order of `sort`, for the caller of the statement
 * (`users`). Filters as `scopeFilters`. Spec: getClient.
 */
export function clientServersColumn(
  scope: ServerScope,
  request: ListRequest,
  include: readonly ServerInclude[],
): DataColumn<FoundPage<ListedServer>> {
  const { permissions, hasValues, rows } = pageOfScope(
    scope,
    request.sorts,
    combineFilters(scopeFilters, request.filters),
  )
  const shape = () => ({
    table: servers,
    columns: serverColumns,
    fields: { ...listedFields(include), permissions },
    ...rows(),
  })
  const page = preparedPage(
    { name: ['client_servers', scope, ...include].join('_'), shape, values: {} },
    request,
  )
  if (hasValues) return { ...page, name: null }
  return scope === 'accessible' && request.page === 1 ? firstPageColumn(request.perPage, include) : page
}

/**
 * Selects the first page of the servers that the caller has access to straight from the indexes of owners and subusers:
 * the rows are read once, and in the order of the page. The number of rows is part of the text, so that PostgreSQL
 * expects as many and keeps its plan.
 */
function firstPageColumn(
  perPage: number,
  include: readonly ServerInclude[],
): DataColumn<FoundPage<ListedServer>> {
  return {
    name: ['client_servers_first', perPage, ...include].join('_'),
    column: () => {
      const limit = sql.raw(String(perPage))
      const { values, decode } = rowOf<ListedServer>(
        servers,
        { ...listedFields(include), permissions: sql<string[] | null>`${servers}.granted` },
        serverColumns,
      )
      const { sources, total, maxExactTotal } = pageIds(
        { table: servers, ...scopeOf('accessible', false) },
        { limit: perPage, offset: 0 },
      )
      const rows = sql`select ${values} as page_row from (
        select * from (
          (select ${servers}.*, null::text[] as granted from ${servers}
            where ${servers.ownerId} = ${users.id} order by ${servers.id} limit ${limit})
          union all
          (select ${servers}.*, ${subusers.permissions} from ${subusers} inner join ${servers} on ${servers.id} = ${subusers.serverId}
            where ${subusers.userId} = ${users.id} and not ${subusers.pending} and ${servers.ownerId} <> ${users.id}
            order by ${subusers.serverId} limit ${limit})
        ) accessible order by id limit ${limit}
      ) ${servers} order by ${servers.id}`
      return jsonColumn(
        sql`with sources as materialized (${sources}) select json_build_array(${total}, (select coalesce(json_agg(page_row), '[]'::json) from (${rows}) page_rows))`,
        (value) => {
          const [counted, found] = value as [number, unknown[]]
          return { total: counted, extraCount: 0, rows: found.map(decode), maxExactTotal }
        },
      )
    },
    values: {},
  }
}

/** What the panel offers to users of its servers, beside what they may do there. Spec: docs/servers.md#what-a-server-offers. */
export type ServerOffers = { databases: boolean; allocations: boolean; consoleShare: boolean }

/** Returns a server of the caller with the details that `serverDetailsColumn` found. */
export function toClientServer(
  panel: Panel,
  access: ServerAccess,
  { own, shared: egg }: ServerDetails,
  include: readonly ServerInclude[],
): ClientServer & { offers: ServerOffers } {
  if (!egg) throw new Error('A server has no egg.')
  const { settings, hasDatabaseHost, ...details } = own
  const offers = {
    databases: hasDatabaseHost && settings['databases.client_enabled'],
    allocations: settings['features.auto_allocation'],
    consoleShare: settings['features.console_share'] && settings['console_share.url'] !== null,
  }
  return { ...access, ...details, egg, include, offers, panelUrl: panel.config.url }
}

/** Returns the page that `clientServersColumn` found. Refuses with 401 callers without a user. */
export function toClientServers(
  panel: Panel,
  found: FoundPage<ListedServer>,
  request: ListRequest,
  include: readonly ServerInclude[],
): RowPage<ClientServer> {
  const user = requireCaller(panel)
  const { rows, ...page } = toPage(found, request)
  const eggsById = new Map(rows.flatMap(({ egg }) => (egg ? [[egg.id, egg] as const] : [])))
  const nodesById = new Map(rows.flatMap(({ node, nodeId }) => (node ? [[nodeId, node] as const] : [])))
  const panelUrl = panel.config.url
  return {
    ...page,
    rows: rows.map((row) => {
      const egg = eggsById.get(row.eggId)
      const node = nodesById.get(row.nodeId)
      if (!egg || !node) throw new Error('A page of servers lacks one of their eggs or nodes.')
      const permissions = resolvePermissions(row, user, row.permissions) ?? []
      const { isTransferring, allocations: shown, subusers: shownSubusers } = row
      return {
        server: row,
        node,
        isTransferring,
        allocations: shown,
        subusers: shownSubusers,
        egg,
        permissions,
        isOwner: row.ownerId === user.id,
        include,
        panelUrl,
      }
    }),
  }
}

/** Eggs that servers of any request have. */
const shownEggs = sharedValues<ShownEgg>()
const listedEggs: SharedRows<ShownEgg> = new Map()
/** Nodes that servers of any request have. */
const listedNodes: SharedRows<NodeSummary> = new Map()

/** Selects what a server (`servers`) shows beside its row, the egg apart from the rest. Spec: getClientServersByServer. */
export const serverDetailsColumn = (include: readonly ServerInclude[]): DataColumn<ServerDetails> => ({
  name: ['describe_server', ...include].join('_'),
  column: () => besideShared(valuesColumn(shownFields(include)), embedEgg(), shownEggs),
  values: {},
})

const embedNode = () =>
  embedOne(nodes, { columns: nodeColumns, where: (node) => eq(node.id, servers.nodeId) }) as SQL<NodeSummary>

/** Returns the features of an egg: those of the egg it inherits from where its own are null. */
export function inheritedFeatures(egg: typeof eggs): SQL<string[] | null> {
  const parent = alias(eggs, 'parent')
  // Built apart from a connection, it must be told how columns are named.
  const ofParent = new QueryBuilder({ casing: 'snake_case' })
    .select({ features: parent.features })
    .from(parent)
  return sql<string[] | null>`coalesce(${egg.features}, (${ofParent.where(eq(parent.id, egg.configFrom))}))`
}

const embedEgg = () =>
  embedOne(eggs, {
    columns: ['id', 'uuid', 'name'],
    where: (egg) => eq(egg.id, servers.eggId),
    with: (egg) => ({
      features: inheritedFeatures(egg),
      variables: embedMany(eggVariables, {
        columns: variableColumns,
        where: (each) => eq(each.eggId, egg.id),
      }),
    }),
  }) as SQL<ShownEgg>

/** Returns what a server shows that is the same for all callers, without its egg. */
const detailFields = (include: readonly ServerInclude[]) => ({
  allocations: embedMany(allocations, {
    columns: allocationColumns,
    where: (each) => eq(each.serverId, servers.id),
  }),
  subusers: include.includes('subusers') ? embedSubusers() : noSubusers,
})

/** Returns what a server shows alone, not in lists. */
const shownFields = (include: readonly ServerInclude[]) => ({
  ...detailFields(include),
  settings: settingsColumn([
    'databases.client_enabled',
    'features.auto_allocation',
    'features.console_share',
    'console_share.url',
  ]),
  hasDatabaseHost: sql<boolean>`exists (select 1 from ${databaseHosts})`,
})

type EmbeddedSubuser = ClientServer['subusers'][number]

const noSubusers = sql<EmbeddedSubuser[]>`'[]'::json`

/** The user is never null: subusers are deleted with their account. */
const embedSubusers = () =>
  embedMany(subusers, {
    where: (each) => eq(each.serverId, servers.id),
    with: (each) => ({ user: embedOne(users, { where: (user) => eq(user.id, each.userId) }) }),
  }) as SQL<EmbeddedSubuser[]>

/** Returns what a server of a list shows beside its row; each egg and node of the page once, with the first of its servers. */
const listedFields = (include: readonly ServerInclude[]) => ({
  ...detailFields(include),
  egg: embedOnce(sharedRow(embedEgg(), listedEggs), servers.eggId, servers.id),
  node: embedOnce(sharedRow(embedNode(), listedNodes), servers.nodeId, servers.id),
  isTransferring: hasOpenTransfer(),
})

type ListedServer = ValuesOf<ReturnType<typeof listedFields>> & {
  permissions: string[] | null
} & ClientServer['server']

type ServerDetails = { own: ValuesOf<ReturnType<typeof shownFields>>; shared: ShownEgg | null }
