import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { type PgTable, QueryBuilder } from 'drizzle-orm/pg-core'
import type { Database } from './database.ts'
import { embedMany, embedOne } from './embed.ts'
import {
  allocations,
  databases,
  databaseHosts,
  eggs,
  eggVariables,
  locations,
  nests,
  nodes,
  servers,
  subusers,
  users,
} from './schema.ts'

type Fields = Record<string, SQL>
type Relation = { kind: Kind; many: boolean; on: (parent: never, child: never) => SQL | undefined }
type KindOf = { table: PgTable; fields: (source: never) => Fields; relations: Record<string, Relation> }

const none = () => ({})

const many = <P extends PgTable, C extends PgTable>(
  kind: Kind,
  on: (parent: P, child: C) => SQL | undefined,
): Relation => ({
  kind,
  many: true,
  on: on as Relation['on'],
})

const one = <P extends PgTable, C extends PgTable>(
  kind: Kind,
  on: (parent: P, child: C) => SQL | undefined,
): Relation => ({
  kind,
  many: false,
  on: on as Relation['on'],
})

type Locations = typeof locations
type Nodes = typeof nodes
type Allocations = typeof allocations
type Servers = typeof servers
type Users = typeof users
type Eggs = typeof eggs
type Nests = typeof nests

/** Ids of the nodes of a location, to reach its servers. */
const nodesOf = (location: Locations) =>
  new QueryBuilder({ casing: 'snake_case' })
    .select({ id: nodes.id })
    .from(nodes)
    .where(eq(nodes.locationId, location.id))

const eggsOf = (nest: Nests) =>
  new QueryBuilder({ casing: 'snake_case' })
    .select({ id: eggs.id })
    .from(eggs)
    .where(eq(eggs.nestId, nest.id))

/** In a statement over one table drizzle drops that table's name from columns it sees; here they keep it. */
const apart = <T>(value: SQL<T>): SQL<T> => sql<T>`${value}`

/** What a server's row cannot say of itself, though every form of it needs it. */
const serverFields = (server: Servers) => ({
  nestId: apart(sql<number>`(select ${eggs.nestId} from ${eggs} where ${eggs.id} = ${server.eggId})`),
  locationShort: apart(
    sql<string>`(select ${locations.short} from ${nodes} inner join ${locations} on ${locations.id} = ${nodes.locationId} where ${nodes.id} = ${server.nodeId})`,
  ),
  eggVariables: embedMany(eggVariables, { where: (variable) => eq(variable.eggId, server.eggId) }),
})

/** What the Application API can show, and how one leads to the other. */
const kinds = {
  location: {
    table: locations,
    fields: none,
    relations: {
      nodes: many('node', (location: Locations, node: Nodes) => eq(node.locationId, location.id)),
      servers: many('server', (location: Locations, server: Servers) =>
        inArray(server.nodeId, nodesOf(location)),
      ),
    },
  },
  node: {
    table: nodes,
    fields: none,
    relations: {
      allocations: many('allocation', (node: Nodes, allocation: Allocations) =>
        eq(allocation.nodeId, node.id),
      ),
      location: one('location', (node: Nodes, location: Locations) => eq(location.id, node.locationId)),
      servers: many('server', (node: Nodes, server: Servers) => eq(server.nodeId, node.id)),
    },
  },
  allocation: {
    table: allocations,
    fields: none,
    relations: {
      node: one('node', (allocation: Allocations, node: Nodes) => eq(node.id, allocation.nodeId)),
      server: one('server', (allocation: Allocations, server: Servers) => eq(server.id, allocation.serverId)),
    },
  },
  user: {
    table: users,
    fields: none,
    relations: { servers: many('server', (user: Users, server: Servers) => eq(server.ownerId, user.id)) },
  },
  nest: {
    table: nests,
    fields: none,
    relations: {
      eggs: many('egg', (nest: Nests, egg: Eggs) => eq(egg.nestId, nest.id)),
      servers: many('server', (nest: Nests, server: Servers) => inArray(server.eggId, eggsOf(nest))),
    },
  },
  egg: {
    table: eggs,
    fields: none,
    relations: {
      nest: one('nest', (egg: Eggs, nest: Nests) => eq(nest.id, egg.nestId)),
      servers: many('server', (egg: Eggs, server: Servers) => eq(server.eggId, egg.id)),
      variables: many('eggVariable', (egg: Eggs, variable: typeof eggVariables) =>
        eq(variable.eggId, egg.id),
      ),
      config: one('egg', (egg: Eggs, parent: Eggs) => eq(parent.id, egg.configFrom)),
      script: one('egg', (egg: Eggs, parent: Eggs) => eq(parent.id, egg.copyScriptFrom)),
    },
  },
  eggVariable: { table: eggVariables, fields: none, relations: {} },
  subuser: {
    table: subusers,
    fields: none,
    relations: {
      user: one('user', (subuser: typeof subusers, user: Users) => eq(user.id, subuser.userId)),
      server: one('server', (subuser: typeof subusers, server: Servers) => eq(server.id, subuser.serverId)),
    },
  },
  database: {
    table: databases,
    fields: none,
    relations: {
      host: one('databaseHost', (row: typeof databases, host: typeof databaseHosts) =>
        eq(host.id, row.databaseHostId),
      ),
    },
  },
  databaseHost: {
    table: databaseHosts,
    fields: none,
    relations: {
      databases: many('database', (host: typeof databaseHosts, row: typeof databases) =>
        and(eq(row.databaseHostId, host.id), eq(row.state, 'ready')),
      ),
    },
  },
  server: {
    table: servers,
    fields: serverFields,
    relations: {
      allocations: many('allocation', (server: Servers, allocation: Allocations) =>
        eq(allocation.serverId, server.id),
      ),
      user: one('user', (server: Servers, user: Users) => eq(user.id, server.ownerId)),
      subusers: many('subuser', (server: Servers, subuser: typeof subusers) =>
        eq(subuser.serverId, server.id),
      ),
      nest: one(
        'nest',
        (server: Servers, nest: Nests) =>
          sql`${nest.id} = (select ${eggs.nestId} from ${eggs} where ${eggs.id} = ${server.eggId})`,
      ),
      egg: one('egg', (server: Servers, egg: Eggs) => eq(egg.id, server.eggId)),
      location: one(
        'location',
        (server: Servers, location: Locations) =>
          sql`${location.id} = (select ${nodes.locationId} from ${nodes} where ${nodes.id} = ${server.nodeId})`,
      ),
      node: one('node', (server: Servers, node: Nodes) => eq(node.id, server.nodeId)),
      databases: many('database', (server: Servers, row: typeof databases) =>
        and(eq(row.serverId, server.id), eq(row.state, 'ready')),
      ),
    },
  },
} satisfies Record<string, unknown>

export type Kind =
  | 'location'
  | 'node'
  | 'allocation'
  | 'user'
  | 'nest'
  | 'egg'
  | 'eggVariable'
  | 'subuser'
  | 'database'
  | 'databaseHost'
  | 'server'

const kindOf = (kind: Kind) => (kinds as unknown as Record<Kind, KindOf>)[kind]

/** What every row of a server carries beside its columns. */
export type ServerFields = {
  [K in keyof ReturnType<typeof serverFields>]: ReturnType<typeof serverFields>[K] extends SQL<infer V>
    ? V
    : never
}

/**
 * Columns that a statement over `source` adds to a row: what its kind always needs, and one per
 * included relation, which holds rows of the related kind. `servers.user` reaches two levels.
 */
export function fieldsOf(kind: Kind, source: PgTable, include: readonly string[] = []): Fields {
  const { fields, relations } = kindOf(kind)
  const columns: Fields = { ...fields(source as never) }
  for (const name of new Set(include.map((path) => path.split('.')[0] ?? ''))) {
    const relation = relations[name]
    if (!relation) continue
    const below = include
      .filter((path) => path.startsWith(`${name}.`))
      .map((path) => path.slice(name.length + 1))
    const embed = relation.many ? embedMany : embedOne
    columns[name] = embed(kindOf(relation.kind).table, {
      where: (child: PgTable) => relation.on(source as never, child as never),
      with: (child: PgTable) => fieldsOf(relation.kind, child, below),
    })
  }
  return columns
}

/** The one row of a kind for which `where` holds, with its further columns, or null. One statement. */
export async function findRow<T extends PgTable>(
  db: Database,
  kind: Kind,
  table: T,
  where: SQL | undefined,
  include: readonly string[] = [],
): Promise<T['$inferSelect'] | null> {
  const selection = { row: table as PgTable, ...wrapped(fieldsOf(kind, table, include)) }
  const [found] = (await db
    .select(selection as never)
    .from(table as PgTable)
    .where(where)
    .limit(1)) as { row: object; fields?: object }[]
  return found ? ({ ...found.row, ...found.fields } as T['$inferSelect']) : null
}

/** Drizzle cannot select an empty object. */
const wrapped = (fields: Fields) => (Object.keys(fields).length > 0 ? { fields } : {})
