import { and, eq, inArray, isNull, not, type Placeholder, type SQL, sql, type SQLWrapper } from 'drizzle-orm'
import { alias, type PgColumn, QueryBuilder } from 'drizzle-orm/pg-core'
import { type Database, prepared } from '../db/database.ts'
import { embedMany, embedOne } from '../db/embed.ts'
import { paginate, paginatePrepared, type RowPage } from '../db/pagination.ts'
import { allocations, eggs, eggVariables, nodes, servers, subusers, transfers, users } from '../db/schema.ts'
import type { Allocation } from '../db/tables/allocations.ts'
import type { EggVariable } from '../db/tables/egg-variables.ts'
import type { Egg } from '../db/tables/eggs.ts'
import type { Node } from '../db/tables/nodes.ts'
import type { Server } from '../db/tables/servers.ts'
import type { Subuser } from '../db/tables/subusers.ts'
import type { User } from '../db/tables/users.ts'
import { notFound, unauthenticated } from '../errors.ts'
import type { Panel } from '../panel.ts'
import type { ReachedServer } from './credentials.ts'
import { allFilters, containing, type ListRequest } from './filters.ts'
import { type GrantedPermissions, permissionsOn } from './permissions.ts'
import { searchedFor } from './server-search.ts'

type ShownNode = Pick<Node, 'name' | 'fqdn' | 'sftpDomain' | 'daemonSftp' | 'maintenanceMode'>
type ShownEgg = Pick<Egg, 'uuid' | 'name' | 'features'>

/** A server with all that its Client API form needs, as one caller may see it. */
export type ClientServer = {
  server: Server
  node: ShownNode
  permissions: GrantedPermissions
  isOwner: boolean
  isTransferring: boolean
  allocations: Allocation[]
  eggVariables: EggVariable[]
  /** `features` are those of the egg it inherits from where its own are null. */
  egg: ShownEgg
  subusers: (Subuser & { user: User })[]
  include: readonly ServerInclude[]
  /** Origin of the panel, below which pictures of people are. */
  panelUrl: string
}

/** Relations that are shown only to those who ask. */
export const serverIncludes = ['egg', 'subusers'] as const
export type ServerInclude = (typeof serverIncludes)[number]

/** Which servers a list is about; the last two hold nothing for people who are no administrators. */
export const serverScopes = ['accessible', 'owner', 'admin', 'admin-all'] as const
export type ServerScope = (typeof serverScopes)[number]

/**
 * One page of the servers in the scope, by id, in one statement. Filters `uuid`, `name`, `description`,
 * `external_id` and `*`. Refuses with 401 callers that are no person. Spec: Client API, account.
 */
export async function listClientServers(
  panel: Panel,
  scope: ServerScope,
  request: ListRequest,
  include: readonly ServerInclude[],
): Promise<RowPage<ClientServer>> {
  const { actor } = panel
  if (actor.kind !== 'user') throw unauthenticated()
  const { user } = actor
  const shape = (caller: Caller, filtered?: SQL) => ({
    table: servers,
    fields: { ...detailsOf(include), ...reachOf(caller) },
    where: and(inScope(scope, caller), filtered),
  })
  const filtered = allFilters(filters, request.filters)
  const numbers = { page: request.page, perPage: request.perPage }
  const { rootAdmin } = user
  const statement = {
    name: ['client_servers', scope, rootAdmin ? 'admin' : 'player', ...include].join('_'),
    shape: () => shape({ id: sql.placeholder('user'), rootAdmin }),
    values: { user: user.id },
  }
  const page = filtered
    ? await paginate(panel.db, { ...shape(user, filtered), ...numbers })
    : await paginatePrepared(panel.db, statement, numbers)
  const panelUrl = panel.config.url
  return { ...page, rows: page.rows.map((row) => ({ ...row, ...reached(user, row), include, panelUrl })) }
}

/**
 * The server that the caller reached with its details, in one statement. Refuses with 404 when it was
 * deleted meanwhile. Spec: Client API, server control.
 */
export async function describeServer(
  panel: Panel,
  reachedServer: ReachedServer,
  include: readonly ServerInclude[],
): Promise<ClientServer> {
  const [details] = await detailsStatement(panel.db, include).execute({ id: reachedServer.server.id })
  if (!details) throw notFound()
  return { ...reachedServer, ...details, include, panelUrl: panel.config.url }
}

const filters = {
  uuid: containing(servers.uuid),
  name: containing(servers.name),
  description: containing(servers.description),
  external_id: containing(servers.externalId),
  '*': searchedFor,
}

/** Names of the filters of a list. */
export const serverFilters = Object.keys(filters)

/** Selected columns are named at once here, so the builder must know how names are written. */
const query = () => new QueryBuilder({ casing: 'snake_case' })

/** Whose servers a statement is about; his id may be given when it is run. */
type Caller = { id: number | Placeholder; rootAdmin: boolean }

/** Ids of the servers which the user owns or was let into. */
function idsOf(user: Caller) {
  const owned = alias(servers, 'owned')
  return query()
    .select({ id: owned.id })
    .from(owned)
    .where(eq(owned.ownerId, user.id))
    .union(query().select({ id: subusers.serverId }).from(subusers).where(eq(subusers.userId, user.id)))
}

function inScope(scope: ServerScope, user: Caller): SQL | undefined {
  switch (scope) {
    case 'owner':
      return eq(servers.ownerId, user.id)
    case 'admin':
      return user.rootAdmin ? not(inArray(servers.id, idsOf(user))) : sql`false`
    case 'admin-all':
      return user.rootAdmin ? undefined : sql`false`
    default:
      return inArray(servers.id, idsOf(user))
  }
}

/** Drivers differ in whether they parse JSON. */
const json = <T>(selected: SQLWrapper) =>
  sql<T>`(${selected})`.mapWith(
    (value: unknown) => (typeof value === 'string' ? JSON.parse(value) : value) as T,
  )

const object = (columns: Record<string, PgColumn | SQL>) =>
  sql`json_build_object(${sql.join(
    Object.entries(columns).map(([name, column]) => sql`${sql.raw(`'${name}'`)}, ${column}`),
    sql`, `,
  )})`

function eggQuery() {
  const parent = alias(eggs, 'parent')
  const features = sql`coalesce(${eggs.features}, ${parent.features})`
  return query()
    .select({ egg: object({ uuid: eggs.uuid, name: eggs.name, features }) })
    .from(eggs)
    .leftJoin(parent, eq(parent.id, eggs.configFrom))
    .where(eq(eggs.id, servers.eggId))
}

function nodeQuery() {
  const { name, fqdn, sftpDomain, daemonSftp, maintenanceMode } = nodes
  return query()
    .select({ node: object({ name, fqdn, sftpDomain, daemonSftp, maintenanceMode }) })
    .from(nodes)
    .where(eq(nodes.id, servers.nodeId))
}

/** Columns with what stands around a server, whoever asks. */
function detailsOf(include: readonly ServerInclude[]) {
  return {
    allocations: embedMany(allocations, { where: (each) => eq(each.serverId, servers.id) }),
    eggVariables: embedMany(eggVariables, { where: (each) => eq(each.eggId, servers.eggId) }),
    egg: json<ShownEgg>(eggQuery()),
    subusers: include.includes('subusers') ? embeddedSubusers() : noSubusers,
  }
}

type ShownSubuser = ClientServer['subusers'][number]

const noSubusers = sql<ShownSubuser[]>`'[]'`.mapWith(() => [])

/** A subuser goes with his account, so there always is one. */
const embeddedSubusers = () =>
  embedMany(subusers, {
    where: (each) => eq(each.serverId, servers.id),
    with: (each) => ({ user: embedOne(users, { where: (user) => eq(user.id, each.userId) }) }),
  }) as SQL<ShownSubuser[]>

/** Columns which, where a server was not reached by name, say how this user reaches it. */
function reachOf(user: Caller) {
  const open = query()
    .select({ one: sql`1` })
    .from(transfers)
    .where(and(eq(transfers.serverId, servers.id), isNull(transfers.successful)))
  const granted = query()
    .select({ permissions: subusers.permissions })
    .from(subusers)
    .where(and(eq(subusers.serverId, servers.id), eq(subusers.userId, user.id)))
  return {
    node: json<ShownNode>(nodeQuery()),
    isTransferring: sql<boolean>`exists (${open})`,
    permissions: sql<string[] | null>`(${granted})`.mapWith(subusers.permissions),
  }
}

function reached(user: User, row: Server & { permissions: string[] | null }) {
  const isOwner = row.ownerId === user.id
  const permissions = permissionsOn(row, user, row.permissions) ?? []
  return { server: row, isOwner, permissions }
}

function detailsStatement(db: Database, include: readonly ServerInclude[]) {
  const name = include.includes('subusers') ? 'describe_server_with_subusers' : 'describe_server'
  return prepared(db, name, (connection) =>
    connection
      .select(detailsOf(include))
      .from(servers)
      .where(eq(servers.id, sql.placeholder('id')))
      .prepare(name),
  )
}
