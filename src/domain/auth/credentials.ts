import { and, eq, gt, isNull, lt, or, sql } from 'drizzle-orm'
import { type Database, prepared } from '../../db/database.ts'
import { apiKeys, nodes, servers, sessions, subusers, users } from '../../db/schema.ts'
import { readEvenIfFull } from '../../db/write-failures.ts'
import type { ApiKey } from '../../db/tables/api-keys.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import type { User } from '../../db/tables/users.ts'
import { badRequest, forbidden, unauthenticated } from '../../errors.ts'
import { isAllowedAddress } from '../../ip-addresses.ts'
import type { Actor, Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { previousTokenLocation, tokenLocation } from '../nodes/daemon-address.ts'
import { resolvePermissions } from '../permissions.ts'
import { decrypt, digest, equalSecrets } from '../secrets.ts'
import { hasOpenTransfer, isSubuserOf, type ServerAccess } from '../servers/access.ts'
import { parseServerIdentifier } from '../servers/identifiers.ts'
import { effectiveAcl } from './access-levels.ts'
import { isSessionAlive, sessionId, touchSessionCte } from './sessions.ts'
import { requireTwoFactor, twoFactorSettingColumn } from './two-factor-policy.ts'

const identifierLength = 16
const keyLength = 48

/** Returns the token of an `Authorization: Bearer` header, or null without one. */
export function bearerToken(header: string | undefined): string | null {
  const match = /^bearer +(\S+)$/i.exec(header?.trim() ?? '')
  return match?.[1] ?? null
}

/** The server to look up, by its UUID or the first eight characters, and the check to leave out. */
export type AccessTarget = { server?: string | undefined; skipTwoFactorCheck?: boolean }

type Authenticated = { actor: Actor; access: ServerAccess | null }

/**
 * Authenticates a Client API key and resolves the caller's access to the server in the path (a uuid or its
 * first eight characters), in one statement. `access` is null without a server, and when the caller has no
 * access to it.
 *
 * Refuses with 401 an invalid key; with 403 an Application key, and an address that the key does not allow,
 * which records `auth:ip-blocked`; with 400 an account without a required second factor, unless
 * `skipTwoFactorCheck` is set. Spec: docs/api.md#client-credentials.
 */
export async function authenticateClient(
  panel: Panel,
  token: string | null,
  { server, skipTwoFactorCheck = false }: AccessTarget,
): Promise<Authenticated> {
  const { identifier, secretHash } = parseApiKey(token)
  const values = {
    identifier,
    secretHash,
    now: panel.now().toISOString(),
    ...parseServerIdentifier(server ?? null),
  }
  const [row] = await readEvenIfFull(panel.db, (writesUse) =>
    clientStatement(panel.db, writesUse).execute(values),
  )
  const actor = await verifyApiKey(panel, row, secretHash)
  if (row?.key.type !== 'account') throw forbidden('An Application key is not accepted here.')
  if (!skipTwoFactorCheck) requireTwoFactor(row.user, row.required)
  return { actor, access: toServerAccess(row) }
}

/**
 * Does the same for the session token of a browser. Refuses with 401 an expired session and one of a guest.
 * Spec: docs/api.md#browser-sessions.
 */
export async function authenticateSession(
  panel: Panel,
  token: string,
  { server, skipTwoFactorCheck = false }: AccessTarget,
): Promise<Authenticated> {
  const values = {
    id: sessionId(token),
    now: panel.now().toISOString(),
    ...parseServerIdentifier(server ?? null),
  }
  const [row] = await readEvenIfFull(panel.db, (writesUse) =>
    sessionStatement(panel.db, writesUse).execute(values),
  )
  if (!row) throw unauthenticated()
  if (!skipTwoFactorCheck) requireTwoFactor(row.user, row.required)
  const actor: Actor = { kind: 'user', user: row.user, apiKey: null, session: { id: row.sessionId } }
  return { actor, access: toServerAccess(row) }
}

type AccessRow = {
  user: User
  server: Server | null
  node: Node | null
  permissions: string[] | null
  isTransferring: boolean
}

function toServerAccess({ user, server, node, ...row }: AccessRow): ServerAccess | null {
  if (!server || !node) return null
  const permissions = resolvePermissions(server, user, row.permissions)
  const isOwner = server.ownerId === user.id
  return permissions ? { server, node, permissions, isOwner, isTransferring: row.isTransferring } : null
}

/**
 * Authenticates an Application key. Refuses with 401 an invalid key; with 403 an account key, an owner who
 * is not an administrator, and an address that the key does not allow. Spec:
 * docs/api.md#application-credentials.
 */
export async function authenticateApplication(panel: Panel, token: string | null): Promise<Actor> {
  const { identifier, secretHash } = parseApiKey(token)
  const values = { identifier, secretHash, now: panel.now().toISOString() }
  const [row] = await readEvenIfFull(panel.db, (writesUse) =>
    applicationStatement(panel.db, writesUse).execute(values),
  )
  const actor = await verifyApiKey(panel, row, secretHash)
  if (row?.key.type !== 'application') throw forbidden('This needs an Application key.')
  if (!row.user.rootAdmin) throw forbidden('This needs an administrator.')
  requireTwoFactor(row.user, row.required)
  return actor
}

/**
 * Authenticates the daemon of a node. Refuses with 401 a missing bearer token, with 400 one that is not
 * `<id>.<secret>`, with 403 an unknown or wrong one. After a reset with grace the previous pair is accepted
 * until the daemon uses the new one, for an hour at most. Spec: docs/api.md#node-credentials.
 */
export async function authenticateNode(panel: Panel, header: string | undefined): Promise<Node> {
  const token = /^bearer\s+(.*)$/i.exec(header?.trim() ?? '')?.[1]
  if (!token) throw unauthenticated()
  const parts = token.split('.')
  const [tokenId, secret] = parts
  if (parts.length !== 2 || !tokenId || !secret) throw badRequest('The node credential is malformed.')
  const [node] = await nodeStatement(panel.db).execute({ tokenId, now: panel.now().toISOString() })
  const isPrevious = node !== undefined && node.daemonTokenId !== tokenId
  const encrypted = isPrevious ? node.previousToken : node?.daemonToken
  const locationOf = isPrevious ? previousTokenLocation : tokenLocation
  const expected = node && encrypted ? await decrypt(panel, encrypted, locationOf(node)) : ''
  const isEqual = equalSecrets(secret, expected)
  if (!node || !isEqual) throw forbidden('The node credential is not valid.', 'HttpForbiddenException')
  if (!isPrevious && node.previousTokenId !== null) await forgetPreviousToken(panel, node)
  return node
}

/** Removes the token before the last reset; a reset at the same time keeps its own. */
async function forgetPreviousToken({ db }: Panel, { id, daemonTokenId }: Node): Promise<void> {
  await db
    .update(nodes)
    .set({ previousTokenId: null, previousToken: null, previousTokenExpiresAt: null })
    .where(and(eq(nodes.id, id), eq(nodes.daemonTokenId, daemonTokenId)))
}

function parseApiKey(token: string | null): { identifier: string; secretHash: string } {
  if (token === null || token.length !== keyLength || !/^[\w]+$/.test(token)) throw unauthenticated()
  return {
    identifier: token.slice(0, identifierLength),
    secretHash: digest(token.slice(identifierLength)),
  }
}

/** Checks secret, expiry and address of the key, and returns its actor. */
async function verifyApiKey(
  panel: Panel,
  row: { key: ApiKey; user: User } | undefined,
  secretHash: string,
): Promise<Actor> {
  const isEqual = equalSecrets(row?.key.secretHash ?? '', secretHash)
  if (!row || !isEqual) throw unauthenticated()
  const { key, user } = row
  if (key.expiresAt && key.expiresAt <= panel.now()) throw unauthenticated()
  const actor: Actor = { kind: 'user', user, apiKey: { id: key.id, acl: effectiveAcl(key.acl) } }
  if (!isAllowedAddress(panel.ip, key.allowedIps)) {
    const subjects = [{ type: 'api_key' as const, id: key.id }]
    const properties = { identifier: key.identifier }
    await recordEvent(panel, 'auth:ip-blocked', { userId: user.id, actor, subjects, properties })
    throw forbidden('This key may not be used from your address.')
  }
  return actor
}

const placeholder = sql.placeholder

/** Updates `last_used_at` at most once a minute, and only when the secret is right. */
function touchApiKeyCte(db: Database) {
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

/** Columns for the caller and their access to the server in the path. */
const accessColumns = () => ({
  user: users,
  required: twoFactorSettingColumn(),
  server: servers,
  node: nodes,
  permissions: subusers.permissions,
  isTransferring: hasOpenTransfer(),
})

/** Matches the server that the placeholders `uuid` and `short` of a prepared statement name. */
export const matchesIdentifier = () =>
  or(
    eq(servers.uuid, sql`${placeholder('uuid')}::uuid`),
    eq(servers.uuidShort, sql`${placeholder('short')}::text`),
  )

/** Names a statement; without the write that notes the use it is another one. */
const nameOf = (name: string, writesUse: boolean) => (writesUse ? name : `${name}_reading`)

const applicationStatement = (db: Database, writesUse: boolean) =>
  prepared(db, nameOf('identify_application', writesUse), (connection) =>
    connection
      .with(...(writesUse ? [touchApiKeyCte(connection)] : []))
      .select({ key: apiKeys, user: users, required: twoFactorSettingColumn() })
      .from(apiKeys)
      .innerJoin(users, eq(users.id, apiKeys.userId))
      .where(eq(apiKeys.identifier, placeholder('identifier')))
      .prepare(nameOf('identify_application', writesUse)),
  )

const clientStatement = (db: Database, writesUse: boolean) =>
  prepared(db, nameOf('identify_client', writesUse), (connection) =>
    connection
      .with(...(writesUse ? [touchApiKeyCte(connection)] : []))
      .select({ key: apiKeys, ...accessColumns() })
      .from(apiKeys)
      .innerJoin(users, eq(users.id, apiKeys.userId))
      .leftJoin(servers, matchesIdentifier())
      .leftJoin(nodes, eq(nodes.id, servers.nodeId))
      .leftJoin(subusers, isSubuserOf(servers.id, users.id))
      .where(eq(apiKeys.identifier, placeholder('identifier')))
      .prepare(nameOf('identify_client', writesUse)),
  )

const sessionStatement = (db: Database, writesUse: boolean) =>
  prepared(db, nameOf('identify_session', writesUse), (connection) =>
    connection
      .with(...(writesUse ? [touchSessionCte(connection)] : []))
      .select({ sessionId: sessions.id, ...accessColumns() })
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .leftJoin(servers, matchesIdentifier())
      .leftJoin(nodes, eq(nodes.id, servers.nodeId))
      .leftJoin(subusers, isSubuserOf(servers.id, users.id))
      .where(isSessionAlive())
      .prepare(nameOf('identify_session', writesUse)),
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
