import type { Context } from 'hono'
import { findRelation, type Kind, type RelationName } from '../../db/relations.ts'
import type { AclResource } from '../../db/tables/api-keys.ts'
import type { DatabaseRow } from '../../db/tables/databases.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import { hasAccessLevel } from '../../domain/auth/access-levels.ts'
import type { DatabaseWithPassword } from '../../domain/databases/passwords.ts'
import { resolveInheritedEgg } from '../../domain/eggs/inheritance.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { readIncludes } from '../../http/listing.ts'
import { AllocationResource } from './resources/allocation.ts'
import { AnnouncementResource } from './resources/announcement.ts'
import { DatabaseHostResource } from './resources/database-host.ts'
import { DatabasePasswordResource } from './resources/database-password.ts'
import { DatabaseResource } from './resources/database.ts'
import { EggVariableResource } from './resources/egg-variable.ts'
import { EggConfigResource, EggResource, EggScriptResource } from './resources/egg.ts'
import { LocationResource } from './resources/location.ts'
import { MountResource } from './resources/mount.ts'
import { NestResource } from './resources/nest.ts'
import { NodeHeartbeatResource } from './resources/node-heartbeat.ts'
import { DeployableNodeResource, NodeResource } from './resources/node.ts'
import { RoleResource } from './resources/role.ts'
import { ServerVariableResource, variablesOf } from './resources/server-variable.ts'
import { ServerStateResource } from './resources/server-state.ts'
import { ServerResource } from './resources/server.ts'
import { SubuserResource } from './resources/subuser.ts'
import { presentUserMeta, UserResource } from './resources/user.ts'

type Presenter = { name: string; attributes: (row: never) => object }

/** Kinds of resources: those of the rows, and others that are made of the same rows. */
export type ResourceKind =
  | Kind
  | 'databasePassword'
  | 'deployableNode'
  | 'eggConfig'
  | 'eggScript'
  | 'serverVariable'

/** How a relation is shown; a name alone is what the key must be able to read. */
type View = AclResource | ({ acl: AclResource | null } & Partial<Omit<Relation, 'acl' | 'isMany'>>)

export type Relation = {
  /** What the key must be able to read; null needs nothing. */
  acl: AclResource | null
  to: ResourceKind
  isMany: boolean
  /** Name of the items, where it differs from the resource's own. */
  as?: string
  /** Finds the related rows, where they are not under the relation's name. */
  rows?: (row: never) => unknown
}

type ResourceDefinition = {
  resource: Presenter
  relations: Record<string, Relation>
  /** What stands in `meta` of the resource itself, where a route shows it; null leaves it out. */
  meta?: (row: never) => object | null
}

/** Defines how rows of a kind are shown with the relations that the database has, and with derived ones. */
const rowsOf = <K extends Kind>(
  kind: K,
  resource: Presenter,
  views: { [Name in RelationName<K>]: View },
  derived: Record<string, Relation> = {},
): ResourceDefinition => ({
  resource,
  relations: { ...mapRelations(kind, views), ...derived },
})

const mapRelations = (kind: Kind, views: Record<string, View>): Record<string, Relation> =>
  Object.fromEntries(
    Object.entries(views).flatMap(([name, view]) => {
      const relation = findRelation(kind, name)
      if (!relation) return []
      const { to, isMany, via } = relation
      const rows = via && ((row: Record<string, Record<string, unknown>>) => row[via[0]]?.[via[1]])
      return [
        [name, { to, isMany, ...(rows && { rows }), ...(typeof view === 'string' ? { acl: view } : view) }],
      ]
    }),
  )

/** Defines a resource that has no relations. */
const withoutRelations = (resource: Presenter): ResourceDefinition => ({ resource, relations: {} })

type RelatedEggs = Egg & { config: Egg | null; script: Egg | null }
const withInheritedConfig = (egg: RelatedEggs) => egg.config && resolveInheritedEgg(egg, egg.config, null)
const withInheritedScript = (egg: RelatedEggs) => egg.script && resolveInheritedEgg(egg, null, egg.script)

/** Only the routes of databases decrypt passwords: below other resources this is a null resource. */
const passwordRow = (row: DatabaseRow | DatabaseWithPassword) => ('plainPassword' in row ? row : null)

const nodeViews = {
  allocations: 'allocations',
  heartbeat: 'nodes',
  location: 'locations',
  servers: 'servers',
} satisfies Record<RelationName<'node'>, View>

/** Every resource of the Application API; for each relation, what the caller's key must be able to read. */
export const resourceKinds: Record<ResourceKind, ResourceDefinition> = {
  allocation: rowsOf('allocation', AllocationResource, { node: 'nodes', server: 'servers' }),
  announcement: rowsOf('announcement', AnnouncementResource, {
    author: 'users',
    locations: 'locations',
    nodes: 'nodes',
  }),
  database: rowsOf(
    'database',
    DatabaseResource,
    { host: 'database_hosts' },
    { password: { acl: null, to: 'databasePassword', isMany: false, rows: passwordRow } },
  ),
  databaseHost: rowsOf('databaseHost', DatabaseHostResource, { databases: 'server_databases' }),
  databasePassword: withoutRelations(DatabasePasswordResource),
  deployableNode: rowsOf('node', DeployableNodeResource, nodeViews),
  egg: rowsOf('egg', EggResource, {
    nest: 'nests',
    servers: 'servers',
    variables: 'eggs',
    config: { acl: null, to: 'eggConfig', rows: withInheritedConfig },
    script: { acl: null, to: 'eggScript', rows: withInheritedScript },
  }),
  eggConfig: withoutRelations(EggConfigResource),
  eggScript: withoutRelations(EggScriptResource),
  eggVariable: withoutRelations(EggVariableResource),
  location: rowsOf('location', LocationResource, { nodes: 'nodes', servers: 'servers' }),
  mount: rowsOf('mount', MountResource, { eggs: 'eggs', nodes: 'nodes', servers: 'servers' }),
  nest: rowsOf('nest', NestResource, { eggs: 'eggs', servers: 'servers' }),
  node: rowsOf('node', NodeResource, nodeViews),
  nodeHeartbeat: withoutRelations(NodeHeartbeatResource),
  role: rowsOf('role', RoleResource, { users: 'users' }),
  server: rowsOf('server', ServerResource, {
    allocations: 'allocations',
    user: 'users',
    subusers: 'users',
    nest: 'nests',
    egg: 'eggs',
    location: 'locations',
    node: 'nodes',
    databases: { acl: 'server_databases', as: 'databases' },
    state: 'servers',
    variables: { acl: 'servers', to: 'serverVariable', rows: variablesOf },
  }),
  serverState: withoutRelations(ServerStateResource),
  serverVariable: withoutRelations(ServerVariableResource),
  subuser: rowsOf('subuser', SubuserResource, { user: 'users', server: 'servers' }),
  user: {
    ...rowsOf('user', UserResource, { servers: 'servers', role: 'administrators' }),
    meta: presentUserMeta,
  },
}

/** Paths of the relations that `include` names, split by whether the key may read them. */
export type Includes = { allowed: string[]; denied: string[] }

/** Reads `include` and splits it by the levels of the caller's key. Ignores unknown names. */
export async function includesOf(c: Context<HttpEnv>, kind: ResourceKind): Promise<Includes> {
  const { actor } = c.var.panel
  const requestedPaths = await readIncludes(c)
  const includes: Includes = { allowed: [], denied: [] }
  for (const path of new Set(requestedPaths.flatMap(withParent))) {
    const [first = '', second] = path.split('.')
    const relation = relationOf(kind, first)
    const last = second === undefined || !relation ? relation : relationOf(relation.to, second)
    if (!relation || !last || (second !== undefined && !includes.allowed.includes(first))) continue
    const isReadable = last.acl === null || hasAccessLevel(actor, last.acl, 'read')
    includes[isReadable ? 'allowed' : 'denied'].push(path)
  }
  return includes
}

const withParent = (path: string) => (path.includes('.') ? [path.split('.')[0] ?? '', path] : [path])

const relationOf = (kind: ResourceKind, name: string): Relation | null =>
  Object.hasOwn(resourceKinds[kind].relations, name) ? (resourceKinds[kind].relations[name] ?? null) : null

/** Returns what the includes name below a relation. */
export const nestedIncludes = ({ allowed, denied }: Includes, name: string): Includes => ({
  allowed: nestedNames(allowed, name),
  denied: nestedNames(denied, name),
})

const nestedNames = (names: string[], name: string) =>
  names.filter((path) => path.startsWith(`${name}.`)).map((path) => path.slice(name.length + 1))
