import { and, eq, inArray, not, type Placeholder, type SQL, sql } from 'drizzle-orm'
import { alias, type PgColumn, QueryBuilder } from 'drizzle-orm/pg-core'
import { type Database, prepared } from '../../db/database.ts'
import { embedMany, embedOne } from '../../db/embed.ts'
import { jsonColumn } from '../../db/json.ts'
import { paginate, paginatePrepared, type RowPage } from '../../db/pagination.ts'
import { allocations, eggs, eggVariables, nodes, servers, subusers, users } from '../../db/schema.ts'
import type { Allocation } from '../../db/tables/allocations.ts'
import type { EggVariable } from '../../db/tables/egg-variables.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import type { Subuser } from '../../db/tables/subusers.ts'
import type { User } from '../../db/tables/users.ts'
import { notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { requireCaller } from '../auth/caller.ts'
import { combineFilters, containsFilter, type ListRequest } from '../filters.ts'
import { type GrantedPermissions, resolvePermissions } from '../permissions.ts'
import { accessibleServerIds, hasOpenTransfer, isSubuserOf, type ServerAccess } from './access.ts'
import { serverSearchFilter } from './search.ts'

type NodeSummary = Pick<Node, 'name' | 'fqdn' | 'sftpDomain' | 'daemonSftp' | 'maintenanceMode'>
type EggSummary = Pick<Egg, 'uuid' | 'name' | 'features'>

/** A server with what its Client API resource needs, as one caller may see it. */
export type ClientServer = {
  server: Server
  node: NodeSummary
  permissions: GrantedPermissions
  isOwner: boolean
  isTransferring: boolean
  allocations: Allocation[]
  eggVariables: EggVariable[]
  /** `features` are those of the egg it inherits from where its own are null. */
  egg: EggSummary
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
 * Lists one page of the servers in the scope, by id, in one statement. Filters `uuid`, `name`, `description`,
 * `external_id` and `*`. Refuses with 401 callers without a user. Spec: getClient.
 */
export async function listClientServers(
  panel: Panel,
  scope: ServerScope,
  request: ListRequest,
  include: readonly ServerInclude[],
): Promise<RowPage<ClientServer>> {
  const user = requireCaller(panel)
  const shape = (caller: Caller, filterCondition?: SQL) => ({
    table: servers,
    fields: { ...detailColumns(include), ...accessColumns(caller) },
    where: and(scopeCondition(scope, caller), filterCondition),
  })
  const filterCondition = combineFilters(filters, request.filters)
  const numbers = { page: request.page, perPage: request.perPage }
  const { rootAdmin } = user
  const statement = {
    name: ['client_servers', scope, rootAdmin ? 'admin' : 'player', ...include].join('_'),
    shape: () => shape({ id: sql.placeholder('user'), rootAdmin }),
    values: { user: user.id },
  }
  const page = filterCondition
    ? await paginate(panel.db, { ...shape(user, filterCondition), ...numbers })
    : await paginatePrepared(panel.db, statement, numbers)
  const panelUrl = panel.config.url
  return { ...page, rows: page.rows.map((row) => ({ ...row, ...toAccess(user, row), include, panelUrl })) }
}

/**
 * Describes the server that the caller accesses, in one statement. Refuses with 404 when it was deleted
 * meanwhile. Spec: getClientServersByServer.
 */
export async function describeServer(
  panel: Panel,
  access: ServerAccess,
  include: readonly ServerInclude[],
): Promise<ClientServer> {
  const [details] = await detailsStatement(panel.db, include).execute({ id: access.server.id })
  if (!details) throw notFound()
  return { ...access, ...details, include, panelUrl: panel.config.url }
}

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

/** The caller of a statement; the id may be a placeholder. */
type Caller = { id: number | Placeholder; rootAdmin: boolean }

function scopeCondition(scope: ServerScope, user: Caller): SQL | undefined {
  switch (scope) {
    case 'owner':
      return eq(servers.ownerId, user.id)
    case 'admin':
      return user.rootAdmin ? not(inArray(servers.id, accessibleServerIds(user.id))) : sql`false`
    case 'admin-all':
      return user.rootAdmin ? undefined : sql`false`
    default:
      return inArray(servers.id, accessibleServerIds(user.id))
  }
}

const jsonObject = (columns: Record<string, PgColumn | SQL>) =>
  sql`json_build_object(${sql.join(
    Object.entries(columns).map(([name, column]) => sql`${sql.raw(`'${name}'`)}, ${column}`),
    sql`, `,
  )})`

function eggQuery() {
  const parent = alias(eggs, 'parent')
  const features = sql`coalesce(${eggs.features}, ${parent.features})`
  return queryBuilder()
    .select({ egg: jsonObject({ uuid: eggs.uuid, name: eggs.name, features }) })
    .from(eggs)
    .leftJoin(parent, eq(parent.id, eggs.configFrom))
    .where(eq(eggs.id, servers.eggId))
}

function nodeQuery() {
  const { name, fqdn, sftpDomain, daemonSftp, maintenanceMode } = nodes
  return queryBuilder()
    .select({ node: jsonObject({ name, fqdn, sftpDomain, daemonSftp, maintenanceMode }) })
    .from(nodes)
    .where(eq(nodes.id, servers.nodeId))
}

/** Returns the columns of a server that are the same for all callers. */
function detailColumns(include: readonly ServerInclude[]) {
  return {
    allocations: embedMany(allocations, { where: (each) => eq(each.serverId, servers.id) }),
    eggVariables: embedMany(eggVariables, { where: (each) => eq(each.eggId, servers.eggId) }),
    egg: jsonColumn<EggSummary>(eggQuery()),
    subusers: include.includes('subusers') ? embeddedSubusers() : noSubusers,
  }
}

type EmbeddedSubuser = ClientServer['subusers'][number]

const noSubusers = sql<EmbeddedSubuser[]>`'[]'`.mapWith(() => [])

/** The user is never null: subusers are deleted with their account. */
const embeddedSubusers = () =>
  embedMany(subusers, {
    where: (each) => eq(each.serverId, servers.id),
    with: (each) => ({ user: embedOne(users, { where: (user) => eq(user.id, each.userId) }) }),
  }) as SQL<EmbeddedSubuser[]>

/** Returns the columns that depend on the caller. */
function accessColumns(user: Caller) {
  const grantedPermissions = queryBuilder()
    .select({ permissions: subusers.permissions })
    .from(subusers)
    .where(isSubuserOf(servers.id, user.id))
  return {
    node: jsonColumn<NodeSummary>(nodeQuery()),
    isTransferring: hasOpenTransfer(),
    permissions: sql<string[] | null>`(${grantedPermissions})`.mapWith(subusers.permissions),
  }
}

function toAccess(user: User, row: Server & { permissions: string[] | null }) {
  const isOwner = row.ownerId === user.id
  const permissions = resolvePermissions(row, user, row.permissions) ?? []
  return { server: row, isOwner, permissions }
}

function detailsStatement(db: Database, include: readonly ServerInclude[]) {
  const name = include.includes('subusers') ? 'describe_server_with_subusers' : 'describe_server'
  return prepared(db, name, (connection) =>
    connection
      .select(detailColumns(include))
      .from(servers)
      .where(eq(servers.id, sql.placeholder('id')))
      .prepare(name),
  )
}
