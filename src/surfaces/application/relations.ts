import type { Context } from 'hono'
import type { AclResource } from '../../db/tables/api-keys.ts'
import type { DatabaseRow } from '../../db/tables/databases.ts'
import type { Egg } from '../../db/tables/eggs.ts'
import type { OpenedDatabase } from '../../domain/database-passwords.ts'
import { effectiveEgg } from '../../domain/eggs/inheritance.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { readIncludes } from '../../http/listing.ts'
import { parseQuery } from '../../http/query-string.ts'
import {
  type Item,
  type List,
  nullResource,
  type Page,
  type PageOf,
  paginationOf,
} from '../../http/resource.ts'
import { mayAccess } from './env.ts'
import { AllocationResource } from './resources/allocation.ts'
import { DatabaseResource } from './resources/database.ts'
import { DatabaseHostResource } from './resources/database-host.ts'
import { DatabasePasswordResource } from './resources/database-password.ts'
import { EggConfigResource, EggResource, EggScriptResource } from './resources/egg.ts'
import { EggVariableResource } from './resources/egg-variable.ts'
import { LocationResource } from './resources/location.ts'
import { NestResource } from './resources/nest.ts'
import { DeployableNodeResource, NodeResource } from './resources/node.ts'
import { ServerResource } from './resources/server.ts'
import { ServerVariableResource, variablesOf } from './resources/server-variable.ts'
import { SubuserResource } from './resources/subuser.ts'
import { UserResource } from './resources/user.ts'

type Presenter = { name: string; attributes: (row: never) => object }

type Relation = {
  /** What the key must be able to read; null needs nothing. */
  acl: AclResource | null
  to: KindName
  many: boolean
  /** Name of the items, where it differs from the resource's own. */
  as?: string
  /** The related rows, where they are not under the relation's name. */
  rows?: (row: never) => unknown
}

const many = (acl: AclResource | null, to: KindName, more: Partial<Relation> = {}): Relation => ({
  acl,
  to,
  many: true,
  ...more,
})
const one = (acl: AclResource | null, to: KindName, more: Partial<Relation> = {}): Relation => ({
  acl,
  to,
  many: false,
  ...more,
})

type RelatedEggs = Egg & { config: Egg | null; script: Egg | null }
const withInheritedConfig = (egg: RelatedEggs) => egg.config && effectiveEgg(egg, egg.config, null)
const withInheritedScript = (egg: RelatedEggs) => egg.script && effectiveEgg(egg, null, egg.script)

/** Only the routes of databases open passwords: below other resources this is a null resource. */
const openedOf = (row: DatabaseRow | OpenedDatabase) => ('plainPassword' in row ? row : null)

type KindName =
  | 'location'
  | 'node'
  | 'deployableNode'
  | 'allocation'
  | 'user'
  | 'nest'
  | 'egg'
  | 'eggConfig'
  | 'eggScript'
  | 'eggVariable'
  | 'server'
  | 'serverVariable'
  | 'subuser'
  | 'database'
  | 'databaseHost'
  | 'databasePassword'

const nodeRelations = {
  allocations: many('allocations', 'allocation'),
  location: one('locations', 'location'),
  servers: many('servers', 'server'),
}

/** Every resource of the Application API and the relations that `include` can ask for. */
const kinds: Record<KindName, { resource: Presenter; relations: Record<string, Relation> }> = {
  location: {
    resource: LocationResource,
    relations: { nodes: many('nodes', 'node'), servers: many('servers', 'server') },
  },
  node: { resource: NodeResource, relations: nodeRelations },
  deployableNode: { resource: DeployableNodeResource, relations: nodeRelations },
  allocation: {
    resource: AllocationResource,
    relations: { node: one('nodes', 'node'), server: one('servers', 'server') },
  },
  user: { resource: UserResource, relations: { servers: many('servers', 'server') } },
  nest: {
    resource: NestResource,
    relations: { eggs: many('eggs', 'egg'), servers: many('servers', 'server') },
  },
  egg: {
    resource: EggResource,
    relations: {
      nest: one('nests', 'nest'),
      servers: many('servers', 'server'),
      variables: many('eggs', 'eggVariable'),
      config: one(null, 'eggConfig', { rows: withInheritedConfig }),
      script: one(null, 'eggScript', { rows: withInheritedScript }),
    },
  },
  eggConfig: { resource: EggConfigResource, relations: {} },
  eggScript: { resource: EggScriptResource, relations: {} },
  eggVariable: { resource: EggVariableResource, relations: {} },
  server: {
    resource: ServerResource,
    relations: {
      allocations: many('allocations', 'allocation'),
      user: one('users', 'user'),
      subusers: many('users', 'subuser'),
      nest: one('nests', 'nest'),
      egg: one('eggs', 'egg'),
      variables: many('servers', 'serverVariable', { rows: variablesOf }),
      location: one('locations', 'location'),
      node: one('nodes', 'node'),
      databases: many('server_databases', 'database', { as: 'databases' }),
    },
  },
  serverVariable: { resource: ServerVariableResource, relations: {} },
  subuser: {
    resource: SubuserResource,
    relations: { user: one('users', 'user'), server: one('servers', 'server') },
  },
  database: {
    resource: DatabaseResource,
    relations: {
      host: one('database_hosts', 'databaseHost'),
      password: one(null, 'databasePassword', { rows: openedOf }),
    },
  },
  databasePassword: { resource: DatabasePasswordResource, relations: {} },
  databaseHost: {
    resource: DatabaseHostResource,
    relations: { databases: many('server_databases', 'database') },
  },
}

/** What was asked to be included and exists, split by whether the key may read it. */
export type Includes = { allowed: string[]; denied: string[] }

/** The relations that `include` asks for, split by the levels of the caller's key. Unknown names are ignored. */
export function includesOf(c: Context<HttpEnv>, kind: KindName): Includes {
  const { actor } = c.var.panel
  const asked = readIncludes(parseQuery(c.req.queries()).include)
  const includes: Includes = { allowed: [], denied: [] }
  for (const path of new Set(asked.flatMap(withParent))) {
    const [first = '', second] = path.split('.')
    const relation = ownRelation(kind, first)
    const last = second === undefined || !relation ? relation : ownRelation(relation.to, second)
    if (!relation || !last || (second !== undefined && !includes.allowed.includes(first))) continue
    const isReadable = last.acl === null || mayAccess(actor, last.acl, 'read')
    includes[isReadable ? 'allowed' : 'denied'].push(path)
  }
  return includes
}

const withParent = (path: string) => (path.includes('.') ? [path.split('.')[0] ?? '', path] : [path])

const ownRelation = (kind: KindName, name: string): Relation | null =>
  Object.hasOwn(kinds[kind].relations, name) ? (kinds[kind].relations[name] ?? null) : null

/** A row in its wire form with the relations that were included; the denied ones are null resources. */
export function presentOne(kind: KindName, row: object, includes: Includes, as?: string): Item<object> {
  const { resource } = kinds[kind]
  const attributes = resource.attributes(row as never)
  const related = relationshipsOf(kind, row as Record<string, unknown>, includes)
  return {
    object: as ?? resource.name,
    attributes: related ? { ...attributes, relationships: related } : attributes,
  }
}

/** Rows in their wire form, unpaged. */
export const presentList = (
  kind: KindName,
  rows: object[],
  includes: Includes,
  as?: string,
): List<object> => ({
  object: 'list',
  data: rows.map((row) => presentOne(kind, row, includes, as)),
})

/** One page of rows in their wire form. */
export const presentPage = (
  kind: KindName,
  page: Page<object>,
  includes: Includes,
  url: string,
): PageOf<object> => ({
  ...presentList(kind, page.rows, includes),
  meta: { pagination: paginationOf(page, url) },
})

function relationshipsOf(
  kind: KindName,
  row: Record<string, unknown>,
  includes: Includes,
): Record<string, unknown> | null {
  const top = (names: string[]) => names.filter((name) => !name.includes('.'))
  const allowed = top(includes.allowed).map(
    (name) => [name, presentRelation(kind, name, row, includes)] as const,
  )
  const denied = top(includes.denied).map((name) => [name, nullResource] as const)
  return allowed.length + denied.length > 0 ? Object.fromEntries([...allowed, ...denied]) : null
}

function presentRelation(
  kind: KindName,
  name: string,
  row: Record<string, unknown>,
  includes: Includes,
): object {
  const relation = ownRelation(kind, name)
  if (!relation) return nullResource
  const below = { allowed: namesBelow(includes.allowed, name), denied: namesBelow(includes.denied, name) }
  const related = relation.rows ? relation.rows(row as never) : row[name]
  if (relation.many) return presentList(relation.to, (related ?? []) as object[], below, relation.as)
  return related ? presentOne(relation.to, related as object, below, relation.as) : nullResource
}

const namesBelow = (names: string[], name: string) =>
  names.filter((path) => path.startsWith(`${name}.`)).map((path) => path.slice(name.length + 1))
