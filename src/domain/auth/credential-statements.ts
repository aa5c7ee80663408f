import { and, type DriverValueDecoder, eq, gt, or, type SQL, sql } from 'drizzle-orm'
import type { PgSelect } from 'drizzle-orm/pg-core'
import { type Database, prepared } from '../../db/database.ts'
import type { DataColumn } from '../../db/data-column.ts'
import { rowColumn } from '../../db/embed.ts'
import type { ApiKey } from '../../db/tables/api-keys.ts'
import type { Server } from '../../db/tables/servers.ts'
import { apiKeys, nodes, servers, sessions, subusers, users } from '../../db/schema.ts'
import { sharedRow, type SharedRows } from '../../db/shared-json.ts'
import { type AccessNode, accessNodeColumns, hasOpenTransfer, isSubuserOf } from '../servers/access.ts'
import { matchesShort } from '../servers/identifiers.ts'
import { roleAclColumn } from './administrators.ts'
import { toUses, type WriteUses } from './noted-uses.ts'
import { actingAdministratorColumn, isSessionAlive } from './sessions.ts'
import { twoFactorSettingColumn } from './two-factor-policy.ts'

const placeholder = sql.placeholder

/** Notes when keys were used. Keys that another statement has locked are left to it. */
export const writeKeyUses: WriteUses<number> = (db, uses) =>
  db.execute(sql`
    update ${apiKeys} set last_used_at = used.at from (
      select k.id, u.at from ${toUses(uses)} as u (id int, at timestamptz) join ${apiKeys} k on k.id = u.id
      where k.last_used_at is null or k.last_used_at < u.at - interval '1 minute'
      for no key update of k skip locked
    ) used where ${apiKeys.id} = used.id`)

/** Columns of a key that its credential is checked by. */
const keyColumns = [
  'id',
  'type',
  'identifier',
  'secretHash',
  'allowedIps',
  'acl',
  'lastUsedAt',
  'expiresAt',
] as const satisfies (keyof ApiKey)[]
export type CredentialKey = Pick<ApiKey, (typeof keyColumns)[number]>

/** Columns for the caller. */
const callerColumns = () => ({ user: rowColumn(users), required: twoFactorSettingColumn() })

/** Nodes of the servers of any request. */
const accessNodes: SharedRows<AccessNode | null> = new Map()

/** Columns for their access to the server in the path, if there is one. */
const accessColumns = (server: StatementOptions['server']): AccessColumns =>
  server
    ? {
        server: rowColumn(servers),
        node: sharedRow(rowColumn(nodes, accessNodeColumns), accessNodes),
        permissions: grantedPermissions(),
        isTransferring: hasOpenTransfer(),
      }
    : { server: none, node: none, permissions: none, isTransferring: sql`false` }

type AccessColumns = {
  server: SQL<Server | null>
  node: SQL<AccessNode | null>
  permissions: SQL<string[] | null>
  isTransferring: SQL<boolean>
}

const none = sql<null>`null`

/**
 * Selects the permissions of the caller as a subuser; an owner needs none. Joined, PostgreSQL could read all that the
 * caller is a subuser of.
 */
function grantedPermissions(): SQL<string[] | null> {
  const granted = sql`select ${subusers.permissions} from ${subusers} where ${isSubuserOf(servers.id, users.id)}`
  return sql<string[] | null>`case when ${servers.ownerId} <> ${users.id} then (${granted}) end`.mapWith(
    subusers.permissions,
  )
}

/** Joins the server in the path, and its node. */
function joinServer<Query extends PgSelect>(query: Query, by: 'uuid' | 'short'): Query {
  return query
    .leftJoin(servers, matchesIdentifier(by))
    .leftJoin(nodes, eq(nodes.id, servers.nodeId)) as unknown as Query
}

/** Matches by one of both columns: then PostgreSQL expects one row. */
const matchesIdentifier = (by: 'uuid' | 'short'): SQL =>
  by === 'uuid'
    ? eq(servers.uuid, sql`${placeholder('uuid')}::uuid`)
    : matchesShort(sql`${placeholder('short')}::text`)

/**
 * What a statement of a credential does besides: finds the server that the placeholder `uuid` or `short` names, and
 * reads the column of a route.
 */
export type StatementOptions = {
  /** By what the path names the server; null without one. */
  server?: 'uuid' | 'short' | null
  column: DataColumn<unknown> | null
}

/** Returns the statement of a credential, which is built once for each set of options. */
function credentialStatement<Statement>(
  db: Database,
  credential: string,
  { server = null, column }: StatementOptions,
  build: (connection: Database, name: string) => Statement,
): Statement {
  const name = [
    credential,
    ...(server ? [`server_${server}`] : []),
    ...(column?.name ? [column.name] : []),
  ].join('_')
  // Without a name a connection keeps nothing: the text is another one each time.
  return column?.name === null ? build(db, '') : prepared(db, name, (connection) => build(connection, name))
}

/** Selects the column of a route for the holder of the secret only: wrong keys make the database read no more than before. */
function dataForHolder(column: StatementOptions['column']): SQL<unknown> {
  if (!column) return none
  const data = column.column()
  const { decoder } = data as unknown as { decoder: DriverValueDecoder<unknown, unknown> }
  const isHolder = eq(apiKeys.secretHash, placeholder('secretHash'))
  return sql`case when ${isHolder} then ${data} end`.mapWith(decoder)
}

/** Finds an Application key with its owner. */
export const applicationStatement = (db: Database, options: StatementOptions) =>
  credentialStatement(db, 'identify_application', options, (connection, name) =>
    connection
      .select({
        key: rowColumn(apiKeys, keyColumns),
        ...callerColumns(),
        roleAcl: roleAclColumn(),
        data: dataForHolder(options.column),
      })
      .from(apiKeys)
      .innerJoin(users, eq(users.id, apiKeys.userId))
      .where(eq(apiKeys.identifier, placeholder('identifier')))
      .prepare(name),
  )

/** Finds a key with its owner and their access to a server. */
export const clientStatement = (db: Database, options: StatementOptions) =>
  credentialStatement(db, 'identify_client', options, (connection, name) => {
    const { server = null, column } = options
    const query = connection
      .select({
        key: rowColumn(apiKeys, keyColumns),
        ...callerColumns(),
        ...accessColumns(server),
        data: dataForHolder(column),
      })
      .from(apiKeys)
      .innerJoin(users, eq(users.id, apiKeys.userId))
      .where(eq(apiKeys.identifier, placeholder('identifier')))
      .$dynamic()
    return (server ? joinServer(query, server) : query).prepare(name)
  })

/** Finds a live session with its user and their access to a server. */
export const sessionStatement = (db: Database, options: StatementOptions) =>
  credentialStatement(db, 'identify_session', options, (connection, name) => {
    const { server = null, column } = options
    const query = connection
      .select({
        sessionId: sql<string>`${sessions.id}`,
        lastActiveAt: sessions.lastActiveAt,
        administrator: actingAdministratorColumn(),
        ...callerColumns(),
        ...accessColumns(server),
        data: column?.column() ?? none,
      })
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .where(isSessionAlive())
      .$dynamic()
    return (server ? joinServer(query, server) : query).prepare(name)
  })

/** Finds a live session with its user; the column of a route is over the user alone. */
export const administratorStatement = (db: Database, options: StatementOptions) =>
  credentialStatement(db, 'identify_administrator', options, (connection, name) =>
    connection
      .select({
        sessionId: sql<string>`${sessions.id}`,
        lastActiveAt: sessions.lastActiveAt,
        isActing: sql<boolean>`${sessions.administratorId} is not null`,
        ...callerColumns(),
        roleAcl: roleAclColumn(),
        data: options.column?.column() ?? none,
      })
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .where(isSessionAlive())
      .prepare(name),
  )

/** Finds the node of a token, or of the one before the last reset while that is accepted. */
export const nodeStatement = (db: Database, column: StatementOptions['column']) =>
  credentialStatement(db, 'identify_node', { column }, (connection, name) =>
    connection
      .select({ node: rowColumn(nodes), data: column?.column() ?? none })
      .from(nodes)
      .where(
        or(
          eq(nodes.daemonTokenId, placeholder('tokenId')),
          and(
            eq(nodes.previousTokenId, placeholder('tokenId')),
            gt(nodes.previousTokenExpiresAt, sql`${placeholder('now')}::timestamptz`),
          ),
        ),
      )
      .limit(1)
      .prepare(name),
  )
