import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { type PgTable, QueryBuilder } from 'drizzle-orm/pg-core'
import type { Database } from './database.ts'
import { embedMany, embedOne } from './embed.ts'
import {
  allocations,
  databaseHosts,
  databases,
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

/** The tables whose rows the Application API shows, by the kind of their rows. */
const tables = {
  allocation: allocations,
  database: databases,
  databaseHost: databaseHosts,
  egg: eggs,
  eggVariable: eggVariables,
  location: locations,
  nest: nests,
  node: nodes,
  server: servers,
  subuser: subusers,
  user: users,
}

type Tables = typeof tables
export type Kind = keyof Tables

/** Rows of another kind that belong to a row: which kind, whether there are many, and how they are joined. */
type Relation<Parent = never> = {
  to: Kind
  isMany: boolean
  on: (parent: Parent, child: never) => SQL | undefined
}

type Join<Parent, To extends Kind> = (parent: Parent, child: Tables[To]) => SQL | undefined

const many = <Parent, To extends Kind>(to: To, on: Join<Parent, To>): Relation<Parent> => ({
  to,
  isMany: true,
  on,
})
const one = <Parent, To extends Kind>(to: To, on: Join<Parent, To>): Relation<Parent> => ({
  to,
  isMany: false,
  on,
})

/** Selects the ids of the nodes of a location, to find its servers. */
const nodesOf = (location: Tables['location']) =>
  new QueryBuilder({ casing: 'snake_case' })
    .select({ id: nodes.id })
    .from(nodes)
    .where(eq(nodes.locationId, location.id))

/** Selects the ids of the eggs of a nest, to find its servers. */
const eggsOf = (nest: Tables['nest']) =>
  new QueryBuilder({ casing: 'snake_case' })
    .select({ id: eggs.id })
    .from(eggs)
    .where(eq(eggs.nestId, nest.id))

/** Keeps the table's name on columns: in a statement over one table drizzle drops it from those it sees. */
const qualified = <T>(value: SQL<T>): SQL<T> => sql<T>`${value}`

/** Columns beside its own that every form of a server needs. */
const serverFields = (server: Tables['server']) => ({
  nestId: qualified(sql<number>`(select ${eggs.nestId} from ${eggs} where ${eggs.id} = ${server.eggId})`),
  locationShort: qualified(
    sql<string>`(select ${locations.short} from ${nodes} inner join ${locations} on ${locations.id} = ${nodes.locationId} where ${nodes.id} = ${server.nodeId})`,
  ),
  eggVariables: embedMany(eggVariables, { where: (variable) => eq(variable.eggId, server.eggId) }),
})

/** The relations of each kind: the one list of what `include` can ask for. */
const relations = {
  allocation: {
    node: one('node', (allocation, node) => eq(node.id, allocation.nodeId)),
    server: one('server', (allocation, server) => eq(server.id, allocation.serverId)),
  },
  database: {
    host: one('databaseHost', (database, host) => eq(host.id, database.databaseHostId)),
  },
  databaseHost: {
    databases: many('database', (host, database) =>
      and(eq(database.databaseHostId, host.id), eq(database.state, 'ready')),
    ),
  },
  egg: {
    nest: one('nest', (egg, nest) => eq(nest.id, egg.nestId)),
    servers: many('server', (egg, server) => eq(server.eggId, egg.id)),
    variables: many('eggVariable', (egg, variable) => eq(variable.eggId, egg.id)),
    config: one('egg', (egg, parent) => eq(parent.id, egg.configFrom)),
    script: one('egg', (egg, parent) => eq(parent.id, egg.copyScriptFrom)),
  },
  eggVariable: {},
  location: {
    nodes: many('node', (location, node) => eq(node.locationId, location.id)),
    servers: many('server', (location, server) => inArray(server.nodeId, nodesOf(location))),
  },
  nest: {
    eggs: many('egg', (nest, egg) => eq(egg.nestId, nest.id)),
    servers: many('server', (nest, server) => inArray(server.eggId, eggsOf(nest))),
  },
  node: {
    allocations: many('allocation', (node, allocation) => eq(allocation.nodeId, node.id)),
    location: one('location', (node, location) => eq(location.id, node.locationId)),
    servers: many('server', (node, server) => eq(server.nodeId, node.id)),
  },
  server: {
    allocations: many('allocation', (server, allocation) => eq(allocation.serverId, server.id)),
    user: one('user', (server, user) => eq(user.id, server.ownerId)),
    subusers: many('subuser', (server, subuser) => eq(subuser.serverId, server.id)),
    nest: one(
      'nest',
      (server, nest) =>
        sql`${nest.id} = (select ${eggs.nestId} from ${eggs} where ${eggs.id} = ${server.eggId})`,
    ),
    egg: one('egg', (server, egg) => eq(egg.id, server.eggId)),
    location: one(
      'location',
      (server, location) =>
        sql`${location.id} = (select ${nodes.locationId} from ${nodes} where ${nodes.id} = ${server.nodeId})`,
    ),
    node: one('node', (server, node) => eq(node.id, server.nodeId)),
    databases: many('database', (server, database) =>
      and(eq(database.serverId, server.id), eq(database.state, 'ready')),
    ),
  },
  subuser: {
    user: one('user', (subuser, user) => eq(user.id, subuser.userId)),
    server: one('server', (subuser, server) => eq(server.id, subuser.serverId)),
  },
  user: { servers: many('server', (user, server) => eq(server.ownerId, user.id)) },
} satisfies { [K in Kind]: Record<string, Relation<Tables[K]>> }

/** The names of the relations that rows of a kind have. */
export type RelationName<K extends Kind> = keyof (typeof relations)[K] & string

/** Finds a relation of a kind by its name. */
export function findRelation(kind: Kind, name: string): Relation | null {
  const ofKind: Record<string, Relation> = relations[kind]
  return Object.hasOwn(ofKind, name) ? (ofKind[name] ?? null) : null
}

/** The values of `serverFields` on a row. */
export type ServerFields = {
  [K in keyof ReturnType<typeof serverFields>]: ReturnType<typeof serverFields>[K] extends SQL<infer V>
    ? V
    : never
}

/**
 * Builds the columns that a statement over `source` adds to each row: those its kind always needs, and one per
 * included relation, which holds the related rows. `servers.user` includes two levels.
 */
export function fieldsOf(kind: Kind, source: PgTable, include: readonly string[] = []): Fields {
  const columns: Fields = kind === 'server' ? { ...serverFields(source as Tables['server']) } : {}
  for (const name of new Set(include.map((path) => path.split('.')[0] ?? ''))) {
    const relation = findRelation(kind, name)
    if (!relation) continue
    const nestedIncludes = include
      .filter((path) => path.startsWith(`${name}.`))
      .map((path) => path.slice(name.length + 1))
    const embed = relation.isMany ? embedMany : embedOne
    columns[name] = embed(tables[relation.to] as PgTable, {
      where: (child) => relation.on(source as never, child as never),
      with: (child) => fieldsOf(relation.to, child, nestedIncludes),
    })
  }
  return columns
}

/** Finds the row of a kind for which `where` holds, with the columns of `fieldsOf`, or null. One statement. */
export async function findRow<T extends PgTable>(
  db: Database,
  kind: Kind,
  table: T,
  where: SQL | undefined,
  include: readonly string[] = [],
): Promise<T['$inferSelect'] | null> {
  const selection = { row: table as PgTable, ...nonEmptyFields(fieldsOf(kind, table, include)) }
  const [found] = (await db
    .select(selection as never)
    .from(table as PgTable)
    .where(where)
    .limit(1)) as { row: object; fields?: object }[]
  return found ? ({ ...found.row, ...found.fields } as T['$inferSelect']) : null
}

/** Drizzle cannot select an empty object. */
const nonEmptyFields = (fields: Fields) => (Object.keys(fields).length > 0 ? { fields } : {})
