import { and, eq, inArray, not, type SQL, sql } from 'drizzle-orm'
import { alias, QueryBuilder } from 'drizzle-orm/pg-core'
import type { DataColumn } from '../../db/data-column.ts'
import { embedMany, embedOnce, embedOne, valuesColumn, type ValuesOf } from '../../db/embed.ts'
import { type FoundPage, preparedPage, type RowPage, toPage } from '../../db/pagination.ts'
import { allocations, eggs, eggVariables, nodes, servers, subusers, users } from '../../db/schema.ts'
import type { Allocation } from '../../db/tables/allocations.ts'
import type { EggVariable } from '../../db/tables/egg-variables.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import type { Subuser } from '../../db/tables/subusers.ts'
import type { User } from '../../db/tables/users.ts'
import type { Panel } from '../../panel.ts'
import { requireCaller } from '../auth/caller.ts'
import { combineFilters, containsFilter, type ListRequest } from '../filters.ts'
import { type GrantedPermissions, resolvePermissions } from '../permissions.ts'
import { accessibleServerIds, hasOpenTransfer, isSubuserOf } from './access.ts'
import { serverSearchFilter } from './search.ts'

const nodeColumns = [
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

/** Which servers a list holds; the last two are empty for users who are not administrators. */
export const serverScopes = ['accessible', 'owner', 'admin', 'admin-all'] as const
export type ServerScope = (typeof serverScopes)[number]

/**
 * Selects one page of the servers in the scope, by id, for the caller of the statement (`users`). Filters `uuid`,
 * `name`, `description`, `external_id` and `*`. Spec: getClient.
 */
export function clientServersColumn(
  scope: ServerScope,
  request: ListRequest,
  include: readonly ServerInclude[],
): DataColumn<FoundPage<ListedServer>> {
  const filterCondition = combineFilters(filters, request.filters)
  const shape = () => ({
    table: servers,
    columns: serverColumns,
    fields: listedFields(include),
    ...scopeOf(scope, filterCondition !== undefined),
    search: filterCondition,
  })
  const page = preparedPage(
    { name: ['client_servers', scope, ...include].join('_'), shape, values: {} },
    request,
  )
  return filterCondition ? { ...page, name: null } : page
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
  const panelUrl = panel.config.url
  return {
    ...page,
    rows: rows.map((row) => {
      const egg = eggsById.get(row.eggId)
      if (!egg) throw new Error('A page of servers lacks one of their eggs.')
      const permissions = resolvePermissions(row, user, row.permissions) ?? []
      return { ...row, server: row, egg, permissions, isOwner: row.ownerId === user.id, include, panelUrl }
    }),
  }
}

/** Selects what a server (`servers`) shows beside its row. Spec: getClientServersByServer. */
export const serverDetailsColumn = (include: readonly ServerInclude[]): DataColumn<ServerDetails> => ({
  name: ['describe_server', ...include].join('_'),
  column: () => valuesColumn(shownFields(include)),
  values: {},
})

const filters = {
  uuid: containsFilter(servers.uuid),
  name: containsFilter(servers.name),
  description: containsFilter(servers.description),
  external_id: containsFilter(servers.externalId),
  '*': serverSearchFilter,
}

/** Names that `filter[…]` may have in lists of the caller's servers. */
export const clientServerFilters = Object.keys(filters) as (keyof typeof filters)[]

/** Subqueries are built apart from a connection, so the builder must be told how columns are named. */
const queryBuilder = () => new QueryBuilder({ casing: 'snake_case' })

/** Returns where the servers of a scope come from, for the caller of the statement. */
function scopeOf(scope: ServerScope, isFiltered: boolean): { source?: SQL; where?: SQL | undefined } {
  switch (scope) {
    case 'owner':
      return { where: eq(servers.ownerId, users.id) }
    case 'admin':
      return {
        where: and(eq(users.rootAdmin, true), not(inArray(servers.id, accessibleServerIds(users.id)))),
      }
    case 'admin-all':
      return { where: eq(users.rootAdmin, true) }
    default:
      // Without a filter the ids say enough: no server is read before the page is known.
      return isFiltered
        ? { where: inArray(servers.id, accessibleServerIds(users.id)) }
        : { source: sql`(${accessibleServerIds(users.id)}) ${servers}` }
  }
}

const embedNode = () =>
  embedOne(nodes, { columns: nodeColumns, where: (node) => eq(node.id, servers.nodeId) }) as SQL<NodeSummary>

/** Features of an egg: those of the egg it inherits from where its own are null. */
function inheritedFeatures(egg: typeof eggs): SQL<string[] | null> {
  const parent = alias(eggs, 'parent')
  const ofParent = queryBuilder().select({ features: parent.features }).from(parent)
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

type EmbeddedSubuser = ClientServer['subusers'][number]

const noSubusers = sql<EmbeddedSubuser[]>`'[]'::json`

/** The user is never null: subusers are deleted with their account. */
const embedSubusers = () =>
  embedMany(subusers, {
    where: (each) => eq(each.serverId, servers.id),
    with: (each) => ({ user: embedOne(users, { where: (user) => eq(user.id, each.userId) }) }),
  }) as SQL<EmbeddedSubuser[]>

/** Returns what a server of a list shows beside its row; each egg of the page once, with the first of its servers. */
function listedFields(include: readonly ServerInclude[]) {
  const grantedPermissions = queryBuilder()
    .select({ permissions: subusers.permissions })
    .from(subusers)
    .where(isSubuserOf(servers.id, users.id))
  return {
    ...detailFields(include),
    egg: embedOnce(embedEgg(), servers.eggId, servers.id),
    node: embedNode(),
    isTransferring: hasOpenTransfer(),
    permissions: sql<string[] | null>`(${grantedPermissions})`,
  }
}

type ListedServer = ValuesOf<ReturnType<typeof listedFields>> & ClientServer['server']

const shownFields = (include: readonly ServerInclude[]) => ({ ...detailFields(include), egg: embedEgg() })
type ServerDetails = ValuesOf<ReturnType<typeof shownFields>>
