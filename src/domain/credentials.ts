import { and, eq, gt, isNull, lt, or, sql } from 'drizzle-orm'
import { isAllowedAddress } from '../addresses.ts'
import { type Database, prepared } from '../db/database.ts'
import { apiKeys, nodes, servers, sessions, subusers, transfers, users } from '../db/schema.ts'
import type { ApiKey } from '../db/tables/api-keys.ts'
import type { Node } from '../db/tables/nodes.ts'
import type { Server } from '../db/tables/servers.ts'
import type { User } from '../db/tables/users.ts'
import { badRequest, forbidden, unauthenticated } from '../errors.ts'
import type { Actor, Panel } from '../panel.ts'
import { record } from './activity.ts'
import { previousTokenPlace, tokenPlace } from './daemon-address.ts'
import { type GrantedPermissions, permissionsOn } from './permissions.ts'
import { requireSecondFactor, secondFactorSetting } from './second-factor-policy.ts'
import { digest, equalSecrets, open } from './secrets.ts'
import { serverNames } from './server-names.ts'
import { isSessionAlive, sessionId, touchSession } from './sessions.ts'

const identifierLength = 16
const keyLength = 48

/** A server as one caller reaches it. */
export type ReachedServer = {
  server: Server
  node: Node
  permissions: GrantedPermissions
  isOwner: boolean
  isTransferring: boolean
}

/** The token of an `Authorization: Bearer` header, or null without one. */
export function bearerToken(header: string | undefined): string | null {
  const match = /^bearer +(\S+)$/i.exec(header?.trim() ?? '')
  return match?.[1] ?? null
}

/**
 * Who holds this Client API key, and what he reaches of the server that the path names (a uuid or
 * its first eight characters), in one statement. `reached` is null for strangers.
 *
 * Refuses with 401 what is no valid key, with 403 Application keys and addresses the key does not
 * allow; the latter records `auth:ip-blocked`; with 400 somebody who must have a second factor and has none,
 * but where he sets it up (`exempt`). Spec: Authentication, 1 and 3.
 */
export async function identifyClient(
  panel: Panel,
  token: string | null,
  serverName: string | null,
  options: { exempt: boolean },
): Promise<{ actor: Actor; reached: ReachedServer | null }> {
  const { identifier, secretHash } = splitKey(token)
  const [row] = await clientStatement(panel.db).execute({
    identifier,
    secretHash,
    now: panel.now().toISOString(),
    ...serverNames(serverName),
  })
  const actor = await admit(panel, row, secretHash)
  if (row?.key.type !== 'account') throw forbidden('An Application key is not accepted here.')
  if (!options.exempt) requireSecondFactor(row.user, row.required)
  return { actor, reached: reachedIn(row) }
}

/**
 * The same for the session of a browser, by its token. Refuses with 401 one that is over or a guest's.
 * Spec: Authentication, 1 and 7.
 */
export async function identifySession(
  panel: Panel,
  token: string,
  serverName: string | null,
  options: { exempt: boolean },
): Promise<{ actor: Actor; reached: ReachedServer | null }> {
  const [row] = await sessionStatement(panel.db).execute({
    id: sessionId(token),
    now: panel.now().toISOString(),
    ...serverNames(serverName),
  })
  if (!row) throw unauthenticated()
  if (!options.exempt) requireSecondFactor(row.user, row.required)
  const actor: Actor = { kind: 'user', user: row.user, apiKey: null, session: { id: row.sessionId } }
  return { actor, reached: reachedIn(row) }
}

type ReachRow = {
  user: User
  server: Server | null
  node: Node | null
  permissions: string[] | null
  isTransferring: boolean
}

const reachedIn = (row: ReachRow): ReachedServer | null =>
  row.server && row.node ? reachedServer(row.user, row.server, row.node, row) : null

/**
 * Who holds this Application key. Refuses with 401 what is no valid key, with 403 account keys,
 * people who are no administrators, and addresses the key does not allow. Spec: Authentication, 2.
 */
export async function identifyApplication(panel: Panel, token: string | null): Promise<Actor> {
  const { identifier, secretHash } = splitKey(token)
  const [row] = await applicationStatement(panel.db).execute({
    identifier,
    secretHash,
    now: panel.now().toISOString(),
  })
  const actor = await admit(panel, row, secretHash)
  if (row?.key.type !== 'application') throw forbidden('This needs an Application key.')
  if (!row.user.rootAdmin) throw forbidden('This needs an administrator.')
  requireSecondFactor(row.user, row.required)
  return actor
}

/**
 * The node whose daemon calls. Refuses with 401 without a bearer token, with 400 one that is not
 * `<id>.<secret>`, with 403 an unknown or wrong one. For a while after a reset the pair before it is
 * accepted too: a daemon uses it until it restarts. Spec: Authentication, 4.
 */
export async function identifyNode(panel: Panel, header: string | undefined): Promise<Node> {
  const token = /^bearer\s+(.*)$/i.exec(header?.trim() ?? '')?.[1]
  if (!token) throw unauthenticated()
  const parts = token.split('.')
  const [tokenId, secret] = parts
  if (parts.length !== 2 || !tokenId || !secret) throw badRequest('The node credential is malformed.')
  const [node] = await nodeStatement(panel.db).execute({ tokenId, now: panel.now().toISOString() })
  const isPrevious = node !== undefined && node.daemonTokenId !== tokenId
  const sealed = isPrevious ? node.previousToken : node?.daemonToken
  const placeOf = isPrevious ? previousTokenPlace : tokenPlace
  const expected = node && sealed ? await open(panel, sealed, placeOf(node)) : ''
  const isEqual = equalSecrets(secret, expected)
  if (!node || !isEqual) throw forbidden('The node credential is not valid.', 'HttpForbiddenException')
  return node
}

function splitKey(token: string | null): { identifier: string; secretHash: string } {
  if (token === null || token.length !== keyLength || !/^[\w]+$/.test(token)) throw unauthenticated()
  return {
    identifier: token.slice(0, identifierLength),
    secretHash: digest(token.slice(identifierLength)),
  }
}

/** The actor of a key that was found, once secret, expiry and address are right. */
async function admit(
  panel: Panel,
  row: { key: ApiKey; user: User } | undefined,
  secretHash: string,
): Promise<Actor> {
  const isEqual = equalSecrets(row?.key.secretHash ?? '', secretHash)
  if (!row || !isEqual) throw unauthenticated()
  const { key, user } = row
  if (key.expiresAt && key.expiresAt <= panel.now()) throw unauthenticated()
  const actor: Actor = { kind: 'user', user, apiKey: { id: key.id, acl: key.acl } }
  if (!isAllowedAddress(panel.ip, key.allowedIps)) {
    const subjects = [{ type: 'api_key' as const, id: key.id }]
    const properties = { identifier: key.identifier }
    await record(panel, 'auth:ip-blocked', { userId: user.id, actor, subjects, properties })
    throw forbidden('This key may not be used from your address.')
  }
  return actor
}

function reachedServer(
  user: User,
  server: Server,
  node: Node,
  row: { permissions: string[] | null; isTransferring: boolean },
): ReachedServer | null {
  const permissions = permissionsOn(server, user, row.permissions)
  const isOwner = server.ownerId === user.id
  return permissions ? { server, node, permissions, isOwner, isTransferring: row.isTransferring } : null
}

const placeholder = sql.placeholder

/** Marks a key as used, at most once a minute; only the right secret counts. */
function touch(db: Database) {
  return db.$with('touched').as(
    db
      .update(apiKeys)
      .set({ lastUsedAt: sql`${placeholder('now')}::timestamptz` })
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

/** Columns with whoever asks and what he reaches of the server that the path names. */
const reach = () => ({
  user: users,
  required: secondFactorSetting(),
  server: servers,
  node: nodes,
  permissions: subusers.permissions,
  isTransferring: sql<boolean>`exists (select 1 from ${transfers} where ${transfers.serverId} = ${servers.id} and ${transfers.successful} is null)`,
})

const isNamed = () =>
  or(
    eq(servers.uuid, sql`${placeholder('uuid')}::uuid`),
    eq(servers.uuidShort, sql`${placeholder('short')}::text`),
  )

const applicationStatement = (db: Database) =>
  prepared(db, 'identify_application', (connection) =>
    connection
      .with(touch(connection))
      .select({ key: apiKeys, user: users, required: secondFactorSetting() })
      .from(apiKeys)
      .innerJoin(users, eq(users.id, apiKeys.userId))
      .where(eq(apiKeys.identifier, placeholder('identifier')))
      .prepare('identify_application'),
  )

const clientStatement = (db: Database) =>
  prepared(db, 'identify_client', (connection) =>
    connection
      .with(touch(connection))
      .select({ key: apiKeys, ...reach() })
      .from(apiKeys)
      .innerJoin(users, eq(users.id, apiKeys.userId))
      .leftJoin(servers, isNamed())
      .leftJoin(nodes, eq(nodes.id, servers.nodeId))
      .leftJoin(subusers, and(eq(subusers.serverId, servers.id), eq(subusers.userId, users.id)))
      .where(eq(apiKeys.identifier, placeholder('identifier')))
      .prepare('identify_client'),
  )

const sessionStatement = (db: Database) =>
  prepared(db, 'identify_session', (connection) =>
    connection
      .with(touchSession(connection))
      .select({ sessionId: sessions.id, ...reach() })
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .leftJoin(servers, isNamed())
      .leftJoin(nodes, eq(nodes.id, servers.nodeId))
      .leftJoin(subusers, and(eq(subusers.serverId, servers.id), eq(subusers.userId, users.id)))
      .where(isSessionAlive())
      .prepare('identify_session'),
  )

const nodeStatement = (db: Database) =>
  prepared(db, 'identify_node', (connection) =>
    connection
      .select()
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
      .prepare('identify_node'),
  )
