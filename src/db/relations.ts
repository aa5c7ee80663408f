import { getTableColumns } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import {
  allocations,
  announcementLocation,
  announcementNode,
  announcements,
  databaseHosts,
  databases,
  eggs,
  eggVariables,
  eggMount,
  locations,
  mountNode,
  mounts,
  mountServer,
  nests,
  nodeHeartbeats,
  nodes,
  roles,
  servers,
  serverStates,
  subusers,
  users,
} from './schema.ts'
import type { EggVariable } from './tables/egg-variables.ts'
import type { Egg } from './tables/eggs.ts'
import type { Location } from './tables/locations.ts'

/** The tables whose rows the Application API shows, by the kind of their rows. */
export const tables = {
  allocation: allocations,
  announcement: announcements,
  database: databases,
  databaseHost: databaseHosts,
  egg: eggs,
  eggVariable: eggVariables,
  location: locations,
  mount: mounts,
  nest: nests,
  node: nodes,
  nodeHeartbeat: nodeHeartbeats,
  role: roles,
  server: servers,
  serverState: serverStates,
  subuser: subusers,
  user: users,
}

type Tables = typeof tables
export type Kind = keyof Tables
type FieldOf<K extends Kind> = keyof Tables[K]['$inferSelect'] & string

/** Columns of related rows that no answer shows: secrets, and what is only for the panel itself. */
const unshown: { [K in Kind]?: FieldOf<K>[] } = {
  allocation: ['createdAt', 'updatedAt'],
  database: ['password'],
  databaseHost: ['password'],
  egg: ['documentLayout', 'seededChecksum'],
  node: ['daemonTokenId', 'daemonToken', 'previousToken', 'previousTokenId', 'previousTokenExpiresAt'],
  user: [
    'passwordHash',
    'totpSecret',
    'totpLastStep',
    'avatarKey',
    'emailVerifiedAt',
    'pendingEmail',
    'blurSensitiveData',
    'authVersion',
    'apiKeyCount',
  ],
}

/** How rows of another kind belong to a row: `field` of the row equals `relatedField` of each of them. */
export type Relation = {
  to: Kind
  isMany: boolean
  field: string
  relatedField: string
  /** Whether the rows of one parent can grow without bound: then an answer has the first of them. */
  isUnbounded: boolean
  /** Only rows in this state belong. */
  state?: 'ready'
  /** The rows without a value in this field come first where not all are shown. */
  nullsFirst?: string
  /** The table between them: the row's id is in its `field`, and what is in the related row's `relatedField` in its `key`. */
  through?: { table: PgTable; field: PgColumn; key: PgColumn }
  /** Names of the two relations that lead to the rows, in place of the columns. */
  via?: [string, string]
}

const one = <K extends Kind>(to: Kind, field: FieldOf<K>): Relation => ({
  to,
  isMany: false,
  field,
  relatedField: 'id',
  isUnbounded: false,
})
const many = <To extends Kind>(
  to: To,
  relatedField: FieldOf<To>,
  options: Partial<Pick<Relation, 'isUnbounded' | 'state' | 'nullsFirst' | 'through'>> = {},
): Relation => ({ to, isMany: true, field: 'id', relatedField, isUnbounded: false, ...options })
const via = (to: Kind, isMany: boolean, path: [string, string]): Relation => ({
  to,
  isMany,
  field: 'id',
  relatedField: 'id',
  isUnbounded: false,
  via: path,
})

const isUnbounded = true

/** The relations of each kind: the one list of what `include` can ask for. */
const relations = {
  allocation: {
    node: one<'allocation'>('node', 'nodeId'),
    server: one<'allocation'>('server', 'serverId'),
  },
  announcement: {
    author: one<'announcement'>('user', 'authorId'),
    locations: many('location', 'id', {
      isUnbounded,
      through: {
        table: announcementLocation,
        field: announcementLocation.announcementId,
        key: announcementLocation.locationId,
      },
    }),
    nodes: many('node', 'id', {
      isUnbounded,
      through: {
        table: announcementNode,
        field: announcementNode.announcementId,
        key: announcementNode.nodeId,
      },
    }),
  },
  database: { host: one<'database'>('databaseHost', 'databaseHostId') },
  databaseHost: { databases: many('database', 'databaseHostId', { isUnbounded, state: 'ready' }) },
  egg: {
    nest: one<'egg'>('nest', 'nestId'),
    servers: many('server', 'eggId', { isUnbounded }),
    variables: many('eggVariable', 'eggId'),
    config: one<'egg'>('egg', 'configFrom'),
    script: one<'egg'>('egg', 'copyScriptFrom'),
  },
  eggVariable: {},
  location: {
    nodes: many('node', 'locationId'),
    servers: many('server', 'nodeId', {
      isUnbounded,
      through: { table: nodes, field: nodes.locationId, key: nodes.id },
    }),
  },
  mount: {
    eggs: many('egg', 'id', {
      isUnbounded,
      through: { table: eggMount, field: eggMount.mountId, key: eggMount.eggId },
    }),
    nodes: many('node', 'id', {
      isUnbounded,
      through: { table: mountNode, field: mountNode.mountId, key: mountNode.nodeId },
    }),
    servers: many('server', 'id', {
      isUnbounded,
      through: { table: mountServer, field: mountServer.mountId, key: mountServer.serverId },
    }),
  },
  nest: {
    eggs: many('egg', 'nestId'),
    servers: many('server', 'eggId', {
      isUnbounded,
      through: { table: eggs, field: eggs.nestId, key: eggs.id },
    }),
  },
  node: {
    // Integrations look here for a free port.
    allocations: many('allocation', 'nodeId', { isUnbounded, nullsFirst: 'serverId' }),
    location: one<'node'>('location', 'locationId'),
    heartbeat: one<'node'>('nodeHeartbeat', 'id'),
    servers: many('server', 'nodeId', { isUnbounded }),
  },
  nodeHeartbeat: {},
  role: { users: many('user', 'roleId', { isUnbounded }) },
  server: {
    allocations: many('allocation', 'serverId'),
    user: one<'server'>('user', 'ownerId'),
    subusers: many('subuser', 'serverId'),
    nest: via('nest', false, ['egg', 'nest']),
    egg: one<'server'>('egg', 'eggId'),
    location: via('location', false, ['node', 'location']),
    node: one<'server'>('node', 'nodeId'),
    state: one<'server'>('serverState', 'id'),
    databases: many('database', 'serverId', { state: 'ready' }),
    variables: via('eggVariable', true, ['egg', 'variables']),
  },
  serverState: {},
  subuser: {
    user: one<'subuser'>('user', 'userId'),
    server: one<'subuser'>('server', 'serverId'),
  },
  user: { servers: many('server', 'ownerId', { isUnbounded }), role: one<'user'>('role', 'roleId') },
} satisfies { [K in Kind]: Record<string, Relation> }

/** The names of the relations that rows of a kind have. */
export type RelationName<K extends Kind> = keyof (typeof relations)[K] & string

/** Finds a relation of a kind by its name. */
export function findRelation(kind: Kind, name: string): Relation | null {
  const ofKind: Record<string, Relation> = relations[kind]
  return Object.hasOwn(ofKind, name) ? (ofKind[name] ?? null) : null
}

/** What a row has of its related rows where nothing included them, by the names of the fields; all others are left out. */
const keyFields: { [K in Kind]?: FieldOf<K>[] } = {
  egg: ['id', 'nestId'],
  eggVariable: ['id', 'eggId', 'envVariable', 'defaultValue'],
  location: ['id', 'short'],
  node: ['id', 'locationId'],
}

/** Relations that every form of a row needs, as far as `keyFields` says. */
export const requiredPaths: { [K in Kind]?: string[][] } = {
  server: [
    ['egg', 'variables'],
    ['node', 'location'],
  ],
}

/** Which columns of a row are read: all of them, those that answers show, or what other rows need of it. */
export type ColumnChoice = 'all' | 'shown' | 'keys'

/** Returns the chosen columns of a kind, by the names of their fields. */
export function columnsOf(kind: Kind, choice: ColumnChoice): [field: string, column: PgColumn][] {
  const columns = Object.entries(getTableColumns(tables[kind] as PgTable)) as [string, PgColumn][]
  const keys: string[] | undefined = choice === 'keys' ? keyFields[kind] : undefined
  const left: string[] = choice === 'all' ? [] : (unshown[kind] ?? [])
  return columns.filter(([field]) => (keys ? keys.includes(field) : !left.includes(field)))
}

/** The rows that every server has with it. */
export type ServerFields = {
  egg: Pick<Egg, 'nestId'> & { variables: EggVariable[] }
  node: { location: Pick<Location, 'short'> }
}
