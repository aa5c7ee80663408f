import { and, eq, sql } from 'drizzle-orm'
import * as z from 'zod'
import { prepared, single } from '../../db/database.ts'
import { activity, nodes, servers, sshKeys, subusers, throttles, users } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import type { User } from '../../db/tables/users.ts'
import { type ApiError, badRequest, forbidden } from '../../errors.ts'
import { canonicalAddress } from '../../ip-addresses.ts'
import type { Panel } from '../../panel.ts'
import { parsePublicKey } from '../accounts/ssh-public-key.ts'
import type { EventName } from '../activity/events.ts'
import { type ActivityDetails, activityRow, recordEvent } from '../activity/record.ts'
import { untrimmed } from '../fields.ts'
import { type GrantedPermissions, isGranted, resolvePermissions } from '../permissions.ts'
import { hasOpenTransfer, isSubuserOf } from '../servers/access.ts'
import { parseServerIdentifier } from '../servers/identifiers.ts'
import { refuseConflict } from '../servers/state.ts'
import { matchesServerIdentifier } from '../servers/identifiers.ts'
import { attemptSubject, nameDigest, accountWaitUntilColumn } from './account-attempts.ts'
import { countAttempt, countAttemptStatement, throttledUntilColumn } from './attempt-limits.ts'
import { verifyPassword, withPasswordCheck } from './password-hash.ts'
import {
  countSftpAttemptCtes,
  failureLimit,
  refundSftpAttempt,
  requireSftpAttempt,
  type SftpKeys,
  sftpKeys,
} from './sftp-attempts.ts'

const maxUsernameLength = 255
/** Characters of a password or key line: more than the longest RSA key in use. */
const maxPasswordLength = 16_384
const shortLength = 8

/**
 * A login at a daemon's SFTP server. `password` is a public key line when `type` is `public_key`; `ip` is
 * the client's address and port as the daemon sees them. Spec: postRemoteSftpAuth. Wings: POST /sftp/auth.
 */
export const SftpLogin = () =>
  z.object({
    type: z.enum(['password', 'public_key']).nullish(),
    username: z.string().max(maxUsernameLength, 'max'),
    password: untrimmed(z.string().max(maxPasswordLength, 'max')),
    ip: z.string().nullish(),
  })
type SftpLogin = z.output<ReturnType<typeof SftpLogin>>

/** The user, the server, and what the user may do on it. */
export type SftpSession = { user: User; server: Server; permissions: GrantedPermissions }

/**
 * Authenticates an SFTP login to a server of the node. The user name is `<user>.<server>`.
 *
 * Refuses with 400 a user name without a server behind its last dot; with 429, before anything is hashed,
 * after five refused logins of one name and client in a minute, not counting unknown keys, and passwords
 * after 60 wrong ones in a minute from one site, 300 that one node asks about, or during a wait
 * for the account, as in a browser; with the same 403 an unknown or suspended user, an unknown server, a wrong password and a missing permission; with 409 a server whose state
 * does not allow file access; with 503, which the daemon's user may repeat, as `withPasswordCheck` does. Records `auth:sftp.fail` for a wrong password of an existing account and
 * `server:sftp.denied` for a login without `file.sftp`. Spec: docs/files.md#sftp.
 */
export const authenticateSftp = (panel: Panel, node: Node, login: SftpLogin): Promise<SftpSession> =>
  login.type === 'public_key'
    ? openSftpSession(panel, node, login)
    : withPasswordCheck(() => openSftpSession(panel, node, login))

async function openSftpSession(panel: Panel, node: Node, login: SftpLogin): Promise<SftpSession> {
  const { username, name } = parseUsername(login.username)
  const client = (login.ip ? parseAddress(login.ip) : null) ?? panel.ip
  const isPassword = login.type !== 'public_key'
  const publicKey = isPassword ? null : parsePublicKey(login.password)
  const keys = sftpKeys(`${username}.${name.slice(0, shortLength)}`, client, node)
  const attempt = { panel: { ...panel, ip: client }, key: keys.name, isCounted: isPassword || !publicKey }
  const fingerprint = publicKey?.fingerprint ?? null
  const found = await findLogin(panel, { node, username, name, keys, fingerprint, isPassword })
  const { user, server } = found
  const counts = { ...found, userId: user?.id ?? null, hits: found.account?.hits ?? null }
  await requireSftpAttempt(panel, counts, isPassword)
  const isValid = isPassword
    ? await verifyPassword(login.password, user?.passwordHash ?? null, panel.config.passwordCost)
    : found.hasKey
  if (!isValid) throw await recordRefusal(attempt, isPassword && user ? passwordFailure(user) : null)
  if (!user || !server || user.signInSuspendedAt) throw await recordRefusal(attempt, null)
  const permissions = resolvePermissions(server, user, found.permissions) ?? []
  if (!isGranted(permissions, 'file.sftp'))
    throw await recordRefusal(attempt, permissionFailure(user, server))
  if (isPassword) await refundSftpAttempt(panel, keys, counts)
  refuseConflict({ server, node, isTransferring: found.isTransferring })
  return { user, server, permissions }
}

/** Splits the user name at its last dot; `name` is the short id or the uuid of the server. */
function parseUsername(text: string): { username: string; name: string } {
  const dot = text.lastIndexOf('.')
  const name = text.slice(dot + 1).toLowerCase()
  const { uuid, short } = parseServerIdentifier(name)
  if (dot < 0 || (uuid === null && short === null))
    throw badRequest('callback_refused', 'The user name must end with a dot and the id of a server.')
  return { username: text.slice(0, dot).toLowerCase(), name }
}

/** Returns the address of `198.51.100.7:51234` or `[2001:db8::7]:51234`, or null. */
const parseAddress = (text: string): string | null =>
  canonicalAddress(text) ?? canonicalAddress(text.trim().replace(/:\d{1,5}$/, ''))

type Attempt = { panel: Panel; key: string; isCounted: boolean }
type FailureEvent = { event: EventName; details: ActivityDetails }

const passwordFailure = (user: User): FailureEvent => ({
  event: 'auth:sftp.fail',
  details: { userId: user.id, properties: { method: 'password' }, source: 'sftp' },
})

const permissionFailure = (user: User, server: Server): FailureEvent => ({
  event: 'server:sftp.denied',
  details: { serverId: server.id, actor: { kind: 'user', user, apiKey: null }, source: 'sftp' },
})

/** Counts and records the refusal in one statement. Returns an error that does not tell the reason. */
async function recordRefusal(
  { panel, key, isCounted }: Attempt,
  failure: FailureEvent | null,
): Promise<ApiError> {
  if (isCounted && failure) {
    const counting = countAttemptStatement(panel, panel.db, key, failureLimit).returning({
      key: throttles.key,
    })
    await panel.db
      .with(panel.db.$with('counted').as(counting))
      .insert(activity)
      .values(activityRow(panel, failure.event, failure.details))
  } else if (isCounted) await countAttempt(panel, key, failureLimit)
  else if (failure) await recordEvent(panel, failure.event, failure.details)
  return forbidden('callback_refused', 'The login is not valid.', { code: 'HttpForbiddenException' })
}

type LoginQuery = {
  node: Node
  username: string
  name: string
  keys: SftpKeys
  fingerprint: string | null
  isPassword: boolean
}

/** Counts the password and finds who logs in, and where. One statement. */
async function findLogin(panel: Panel, { node, name, keys, ...query }: LoginQuery) {
  return single(
    await loginStatement(panel).execute({
      ...query,
      nameKey: keys.name,
      siteKey: keys.site,
      nodeKey: keys.node,
      nameDigest: nameDigest(query.username),
      node: node.id,
      ...parseServerIdentifier(name),
      now: panel.now().toISOString(),
    }),
  )
}

const { placeholder } = sql

const matchesUsername = eq(sql`lower(${users.username})`, placeholder('username'))

// Selects from the node, so that there is a row even when the user or the server is unknown.
const loginStatement = (panel: Panel) =>
  prepared(panel.db, 'sftp_login', (connection) => {
    const now = placeholder('now')
    const accountId = sql`select ${users.id} from ${users} where ${matchesUsername}`
    const subject = attemptSubject(accountId, placeholder('nameDigest'))
    const throttledUntil = throttledUntilColumn(placeholder('nameKey'), now, failureLimit)
    const { site, asking, account } = countSftpAttemptCtes(panel, connection, {
      site: sql`${placeholder('siteKey')}`,
      node: sql`${placeholder('nodeKey')}`,
      subject,
      now,
      when: sql`${placeholder('isPassword')}::boolean and ${throttledUntil} is null`,
    })
    return connection
      .with(site, asking, account)
      .select({
        user: users,
        server: servers,
        permissions: subusers.permissions,
        hasKey: sql<boolean>`exists (select 1 from ${sshKeys} where ${sshKeys.userId} = ${users.id} and ${sshKeys.fingerprint} = ${placeholder('fingerprint')}::text)`,
        isTransferring: hasOpenTransfer(),
        throttledUntil,
        site: { hits: site.hits, resetsAt: site.resetsAt },
        asking: { hits: asking.hits, resetsAt: asking.resetsAt },
        account: { hits: account.hits },
        subject: sql<string>`${subject}`,
        waitUntil: accountWaitUntilColumn(subject),
      })
      .from(nodes)
      .leftJoin(users, matchesUsername)
      .leftJoin(servers, and(eq(servers.nodeId, nodes.id), matchesServerIdentifier()))
      .leftJoin(subusers, isSubuserOf(servers.id, users.id))
      .leftJoin(site, sql`true`)
      .leftJoin(asking, sql`true`)
      .leftJoin(account, sql`true`)
      .where(eq(nodes.id, placeholder('node')))
      .prepare('sftp_login')
  })
