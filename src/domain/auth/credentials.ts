import { and, eq, sql } from 'drizzle-orm'
import { type DataColumn, readColumn } from '../../db/data-column.ts'
import { nodes, servers, users } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import type { User } from '../../db/tables/users.ts'
import { badRequest, forbidden, unauthenticated } from '../../errors.ts'
import { isAllowedAddress } from '../../ip-addresses.ts'
import type { Actor, Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { previousTokenLocation, tokenLocation } from '../nodes/daemon-address.ts'
import { resolvePermissions } from '../permissions.ts'
import { decryptKept, digest, equalDigests, equalSecrets } from '../secrets.ts'
import type { AccessNode, ServerAccess, ServerOnNode } from '../servers/access.ts'
import { parseServerIdentifier } from '../servers/identifiers.ts'
import { effectiveAcl, sharedLevels } from './access-levels.ts'
import { administratorAcl, isAdministrator } from './administrators.ts'
import {
  administratorStatement,
  applicationStatement,
  type CredentialKey,
  clientStatement,
  nodeStatement,
  sessionStatement,
  writeKeyUses,
} from './credential-statements.ts'
import { requireCaller, requireUnsuspended } from './caller.ts'
import { keepNode } from './known-nodes.ts'
import { noteUse } from './noted-uses.ts'
import { noteSessionUse, sessionId } from './sessions.ts'
import { requireTwoFactor } from './two-factor-policy.ts'

const identifierLength = 16
const keyLength = 48

/** Returns the token of an `Authorization: Bearer` header, or null without one. */
export function bearerToken(header: string | undefined): string | null {
  const match = /^bearer +(\S+)$/i.exec(header?.trim() ?? '')
  return match?.[1] ?? null
}

/**
 * The server to look up, by its UUID or the first eight characters; the check to leave out; and a column to read in the
 * same statement, over the caller (`users`) and that server with its node (`servers`, `nodes`).
 */
export type AccessTarget = {
  server?: string | undefined
  skipTwoFactorCheck?: boolean
  column?: DataColumn<unknown> | null
}

/** The caller, their access to the server, and the value of the column. */
type Authenticated = { actor: Actor; access: ServerAccess | null; data: unknown }

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
  { server, skipTwoFactorCheck = false, column = null }: AccessTarget,
): Promise<Authenticated> {
  const { identifier, secretHash } = parseApiKey(token)
  const named = parseServerIdentifier(server ?? null)
  const values = {
    identifier,
    secretHash,
    now: panel.now().toISOString(),
    ...named,
    ...column?.values,
  }
  const [row] = await clientStatement(panel.db, { server: columnOf(server, named), column }).execute(values)
  const actor = await verifyApiKey(panel, row, secretHash)
  if (row?.key.type !== 'account')
    throw forbidden('application_key_refused', 'An Application key is not accepted here.')
  if (!skipTwoFactorCheck) requireTwoFactor(row.user, row.required)
  return { actor, access: toServerAccess(row), data: row.data }
}

/**
 * Does the same for the session token of a browser. Refuses with 401 an expired session and one of a guest.
 * Spec: docs/api.md#browser-sessions.
 */
export async function authenticateSession(
  panel: Panel,
  token: string,
  { server, skipTwoFactorCheck = false, column = null }: AccessTarget,
): Promise<Authenticated> {
  const named = parseServerIdentifier(server ?? null)
  const values = {
    id: sessionId(token),
    now: panel.now().toISOString(),
    ...named,
    ...column?.values,
  }
  const [row] = await sessionStatement(panel.db, { server: columnOf(server, named), column }).execute(values)
  if (!row) throw unauthenticated()
  const { user, administrator } = row
  const session = { id: row.sessionId }
  if (!administrator) noteSessionUse(panel, { ...session, lastActiveAt: row.lastActiveAt })
  if (!skipTwoFactorCheck && !administrator) requireTwoFactor(user, row.required)
  const actor: Actor = { kind: 'user', user, apiKey: null, session, ...(administrator && { administrator }) }
  return { actor, access: toServerAccess(row), data: row.data }
}

/** Returns by which column to look up the server; null without one. */
const columnOf = (server: string | undefined, { uuid }: { uuid: string | null }) =>
  server === undefined ? null : uuid === null ? ('short' as const) : ('uuid' as const)

type AccessRow = {
  user: User
  server: Server | null
  node: AccessNode | null
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
 * Authenticates an Application key, and reads a column over the caller (`users`) in the same statement. Refuses with 401
 * an invalid key; with 403 an account key, an owner who is not an administrator, and an address that the key does not
 * allow. The levels of the key are bounded by those that its owner has now. Spec: docs/api.md#application-credentials.
 */
export async function authenticateApplication(
  panel: Panel,
  token: string | null,
  column: DataColumn<unknown> | null = null,
): Promise<{ actor: Actor; data: unknown }> {
  const { identifier, secretHash } = parseApiKey(token)
  const values = { identifier, secretHash, now: panel.now().toISOString(), ...column?.values }
  const [row] = await applicationStatement(panel.db, { column }).execute(values)
  const actor = await verifyApiKey(panel, row, secretHash)
  if (row?.key.type !== 'application')
    throw forbidden('application_key_required', 'This needs an Application key.')
  requireAdministrator(row.user, row.required)
  const acl = sharedLevels(effectiveAcl(row.key.acl), administratorAcl(row.user, row.roleAcl))
  return { actor: { ...actor, acl }, data: row.data }
}

/**
 * Does the same for the session token of an administrator's browser, which has the levels of root or of their role. Refuses with 401 an
 * expired session and one of a guest, with 403 a user who is not an administrator, and acting for a user.
 * Spec: docs/api.md#application-credentials.
 */
export async function authenticateAdministrator(
  panel: Panel,
  token: string,
  column: DataColumn<unknown> | null = null,
): Promise<{ actor: Actor; data: unknown }> {
  const values = { id: sessionId(token), now: panel.now().toISOString(), ...column?.values }
  const [row] = await administratorStatement(panel.db, { column }).execute(values)
  if (!row) throw unauthenticated()
  if (row.isActing) throw forbidden('acting_not_left', 'Leave the account of the user first.')
  const session = { id: row.sessionId }
  noteSessionUse(panel, { ...session, lastActiveAt: row.lastActiveAt })
  requireAdministrator(row.user, row.required)
  const acl = administratorAcl(row.user, row.roleAcl)
  return { actor: { kind: 'user', user: row.user, apiKey: null, session, acl }, data: row.data }
}

/** Refuses with 403 a user who is not an administrator, with 400 one without a required second factor. */
export function requireAdministrator(user: User, required: unknown): void {
  if (!isAdministrator(user)) throw forbidden('administrator_required', 'This needs an administrator.')
  requireTwoFactor(user, required)
}

/**
 * Authenticates the daemon of a node, and reads a column over the node (`nodes`) in the same statement. Refuses with 401
 * a missing bearer token, with 400 one that is not `<id>.<secret>`, with 403 an unknown or wrong one. After a reset with
 * grace the previous pair is accepted until the daemon uses the new one, for an hour at most.
 * Spec: docs/api.md#node-credentials.
 */
export async function authenticateNode(
  panel: Panel,
  header: string | undefined,
  column: DataColumn<unknown> | null = null,
): Promise<{ node: Node; data: unknown }> {
  const token = /^bearer\s+(.*)$/i.exec(header?.trim() ?? '')?.[1]
  if (!token) throw unauthenticated()
  const parts = token.split('.')
  const [tokenId, secret] = parts
  if (parts.length !== 2 || !tokenId || !secret)
    throw badRequest('callback_refused', 'The node credential is malformed.')
  const values = { tokenId, now: panel.now().toISOString(), ...column?.values }
  const [row] = await nodeStatement(panel.db, column).execute(values)
  const node = row?.node
  const isPrevious = node !== undefined && node.daemonTokenId !== tokenId
  const encrypted = isPrevious ? node.previousToken : node?.daemonToken
  const locationOf = isPrevious ? previousTokenLocation : tokenLocation
  const expected = node && encrypted ? await decryptKept(panel, encrypted, locationOf(node)) : ''
  const isEqual = equalSecrets(secret, expected)
  if (!node || !isEqual)
    throw forbidden('callback_refused', 'The node credential is not valid.', {
      code: 'HttpForbiddenException',
    })
  if (!isPrevious && node.previousTokenId !== null) await forgetPreviousToken(panel, node)
  if (!isPrevious) keepNode(panel, node)
  return { node, data: row?.data }
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

/** Checks secret, expiry, owner and address of the key, and returns its actor. */
async function verifyApiKey(
  panel: Panel,
  row: { key: CredentialKey; user: User } | undefined,
  secretHash: string,
): Promise<Extract<Actor, { kind: 'user' }>> {
  const isEqual = equalDigests(row?.key.secretHash, secretHash)
  if (!row || !isEqual) throw unauthenticated()
  const { key, user } = row
  const firstUse = noteUse(panel, { id: key.id, notedAt: key.lastUsedAt }, writeKeyUses)
  if (firstUse) await firstUse
  if (key.expiresAt && key.expiresAt <= panel.now()) throw unauthenticated()
  requireUnsuspended(user)
  const actor = { kind: 'user' as const, user, apiKey: { id: key.id } }
  if (!isAllowedAddress(panel.ip, key.allowedIps)) {
    const subjects = [{ type: 'api_key' as const, id: key.id }]
    const properties = { identifier: key.identifier }
    await recordEvent(panel, 'auth:ip-blocked', { userId: user.id, actor, subjects, properties })
    throw forbidden('key_refuses_address', 'This key may not be used from your address.')
  }
  return actor
}

/** Reads a column over the caller (`users`) alone, for a request that could not say before what it needs. */
export const readForCaller = <Data>(panel: Panel, column: DataColumn<Data>): Promise<Data> =>
  readColumn(panel.db, column, {
    name: 'for_caller',
    source: sql`(select * from ${users} where ${users.id} = ${sql.placeholder('callerId')}) ${users}`,
    values: { callerId: requireCaller(panel).id },
  })

/** Does the same over the caller and a server with its node (`servers`, `nodes`). */
export const readForServer = <Data>(
  panel: Panel,
  { server }: ServerOnNode,
  column: DataColumn<Data>,
): Promise<Data> =>
  readColumn(panel.db, column, {
    name: 'for_server',
    source: sql`(select * from ${users} where ${users.id} = ${sql.placeholder('callerId')}) ${users}
      left join ${servers} on ${servers.id} = ${sql.placeholder('serverId')}
      left join ${nodes} on ${nodes.id} = ${servers.nodeId}`,
    values: { callerId: requireCaller(panel).id, serverId: server.id },
  })

/** Does the same over a node (`nodes`). */
export const readForNode = <Data>(panel: Panel, { id }: Node, column: DataColumn<Data>): Promise<Data> =>
  readColumn(panel.db, column, {
    name: 'for_node',
    source: sql`(select * from ${nodes} where ${nodes.id} = ${sql.placeholder('callerNodeId')}) ${nodes}`,
    values: { callerNodeId: id },
  })
