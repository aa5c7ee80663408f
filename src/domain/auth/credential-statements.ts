import { and, type DriverValueDecoder, eq, gt, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import type { PgSelect } from 'drizzle-orm/pg-core'
import { type Database, prepared } from '../../db/database.ts'
import type { DataColumn } from '../../db/data-column.ts'
import { rowColumn } from '../../db/embed.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { apiKeys, nodes, servers, sessions, subusers, users } from '../../db/schema.ts'
import { hasOpenTransfer, isSubuserOf } from '../servers/access.ts'
import { matchesServerIdentifier } from '../servers/identifiers.ts'
import { isSessionAlive, touchSessionCte } from './sessions.ts'
import { twoFactorSettingColumn } from './two-factor-policy.ts'

const placeholder = sql.placeholder

/** Updates `last_used_at` at most once a minute, and only when the secret is right. */
function touchApiKeyCte(db: Database) {
  return db.$with('touched').as(
    db
      .update(apiKeys)
      // A use is no change.
      .set({ lastUsedAt: sql`${placeholder('now')}::timestamptz`, updatedAt: sql`${apiKeys.updatedAt}` })
      .where(
        and(
          eq(apiKeys.identifier, placeholder('identifier')),
          eq(apiKeys.secretHash, placeholder('secretHash')),
          or(
            isNull(apiKeys.lastUsedAt),
            lt(apiKeys.lastUsedAt, sql`${placeholder('now')}::timestamptz - interval '1 minute'`),
          ),
        ),
      )
      .returning({ id: apiKeys.id }),
  )
}

/** Columns for the caller. */
const callerColumns = () => ({ user: rowColumn(users), required: twoFactorSettingColumn() })

/** Columns for their access to the server in the path, if there is one. */
const accessColumns = (hasServer: boolean): AccessColumns =>
  hasServer
    ? {
        server: rowColumn(servers),
        node: rowColumn(nodes),
        permissions: sql<string[] | null>`${subusers.permissions}`.mapWith(subusers.permissions),
        isTransferring: hasOpenTransfer(),
      }
    : { server: none, node: none, permissions: none, isTransferring: sql`false` }

type AccessColumns = {
  server: SQL<Server | null>
  node: SQL<Node | null>
  permissions: SQL<string[] | null>
  isTransferring: SQL<boolean>
}

const none = sql<null>`null`

/** Joins the server in the path, its node, and the caller as its subuser. */
function joinServer<Query extends PgSelect>(query: Query): Query {
  return query
    .leftJoin(servers, matchesServerIdentifier())
    .leftJoin(nodes, eq(nodes.id, servers.nodeId))
    .leftJoin(subusers, isSubuserOf(servers.id, users.id)) as unknown as Query
}

/**
 * What a statement of a credential does besides: notes that the credential was used, finds the server that the
 * placeholders `uuid` and `short` name, and reads the column of a route.
 */
export type StatementOptions = {
  writesUse: boolean
  hasServer?: boolean
  column: DataColumn<unknown> | null
}

/** Returns the statement of a credential, which is built once for each set of options. */
function credentialStatement<Statement>(
  db: Database,
  credential: string,
  { writesUse, hasServer = false, column }: StatementOptions,
  build: (connection: Database, name: string) => Statement,
): Statement {
  const name = [
    credential,
    ...(hasServer ? ['server'] : []),
    ...(writesUse ? [] : ['reading']),
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

/** Finds an Application key with its owner; notes at most once a minute that it was used. */
export const applicationStatement = (db: Database, options: StatementOptions) =>
  credentialStatement(db, 'identify_application', options, (connection, name) =>
    connection
      .with(...(options.writesUse ? [touchApiKeyCte(connection)] : []))
      .select({ key: rowColumn(apiKeys), ...callerColumns(), data: dataForHolder(options.column) })
      .from(apiKeys)
      .innerJoin(users, eq(users.id, apiKeys.userId))
      .where(eq(apiKeys.identifier, placeholder('identifier')))
      .prepare(name),
  )

/** Finds a key with its owner and their access to a server; notes at most once a minute that it was used. */
export const clientStatement = (db: Database, options: StatementOptions) =>
  credentialStatement(db, 'identify_client', options, (connection, name) => {
    const { writesUse, hasServer = false, column } = options
    const query = connection
      .with(...(writesUse ? [touchApiKeyCte(connection)] : []))
      .select({
        key: rowColumn(apiKeys),
        ...callerColumns(),
        ...accessColumns(hasServer),
        data: dataForHolder(column),
      })
      .from(apiKeys)
      .innerJoin(users, eq(users.id, apiKeys.userId))
      .where(eq(apiKeys.identifier, placeholder('identifier')))
      .$dynamic()
    return (hasServer ? joinServer(query) : query).prepare(name)
  })

/** Finds a live session with its user and their access to a server, and extends it. */
export const sessionStatement = (db: Database, options: StatementOptions) =>
  credentialStatement(db, 'identify_session', options, (connection, name) => {
    const { writesUse, hasServer = false, column } = options
    const query = connection
      .with(...(writesUse ? [touchSessionCte(connection)] : []))
      .select({
        sessionId: sql<string>`${sessions.id}`,
        ...callerColumns(),
        ...accessColumns(hasServer),
        data: column?.column() ?? none,
      })
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .where(isSessionAlive())
      .$dynamic()
    return (hasServer ? joinServer(query) : query).prepare(name)
  })

/** Finds the node of a token, or of the one before the last reset while that is accepted. */
export const nodeStatement = (db: Database, column: StatementOptions['column']) =>
  credentialStatement(db, 'identify_node', { writesUse: true, column }, (connection, name) =>
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
