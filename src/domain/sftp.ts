import { and, eq, or, sql } from 'drizzle-orm'
import * as z from 'zod'
import { canonicalAddress } from '../addresses.ts'
import { type Database, only, prepared } from '../db/database.ts'
import { activity, nodes, servers, sshKeys, subusers, throttles, transfers, users } from '../db/schema.ts'
import type { Node } from '../db/tables/nodes.ts'
import type { Server } from '../db/tables/servers.ts'
import type { User } from '../db/tables/users.ts'
import { badRequest, forbidden, tooManyRequests } from '../errors.ts'
import type { Panel } from '../panel.ts'
import { entryOf, type EventName, type Occurrence, record } from './activity.ts'
import { verifyPassword } from './password-hash.ts'
import { type GrantedPermissions, isGranted, permissionsOn } from './permissions.ts'
import { refuseConflict } from './server-state.ts'
import { readPublicKey } from './ssh-key-material.ts'
import { countFailure, countingFailure, networkOf, secondsUntil, throttledUntil } from './throttles.ts'

const longestUsername = 255
/** Characters: enough for the longest RSA key anybody uses, and a bound for what is hashed. */
const longestPassword = 16_384
const failureLimit = { failures: 5, seconds: 60 }
const shortLength = 8
const serverPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?$/

/**
 * What somebody logs in with. The password is the line of the public key when `type` says so; `ip` is the
 * client's address and port as the daemon sees them. Spec: Remote API, SFTP. Wings: POST /sftp/auth.
 */
export const SftpLogin = () =>
  z.object({
    type: z.enum(['password', 'public_key']).nullish(),
    username: z.string().max(longestUsername, 'max'),
    password: z.string().max(longestPassword, 'max'),
    ip: z.string().nullish(),
  })
type SftpLogin = z.output<ReturnType<typeof SftpLogin>>

/** Who has logged in, where, and what he may do there. */
export type SftpSession = { user: User; server: Server; permissions: GrantedPermissions }

/**
 * Who may open an SFTP session on which server of the node. Refuses with 400 a username without a server
 * behind its last dot; with 429, before anything is hashed, once five logins of one name and client were
 * refused within a minute, unknown keys not counted; with the same 403 whatever is unknown, wrong or not
 * permitted; with 409 a server whose state allows no files. Records `auth:sftp.fail` for a wrong password of
 * an existing account and `server:sftp.denied` for a right login without `file.sftp`. Spec: Authentication, 8.
 */
export async function openSftpSession(panel: Panel, node: Node, login: SftpLogin): Promise<SftpSession> {
  const { username, name } = splitUsername(login.username)
  const client = (login.ip ? addressOf(login.ip) : null) ?? panel.ip
  const isPassword = login.type !== 'public_key'
  const publicKey = isPassword ? null : readPublicKey(login.password)
  const key = `sftp:${username}.${name.slice(0, shortLength)}:${networkOf(client)}`
  const attempt = { panel: { ...panel, ip: client }, key, counts: isPassword || publicKey === null }
  const fingerprint = publicKey?.fingerprint ?? null
  const { user, server, ...found } = await findLogin(panel, { node, username, name, key, fingerprint })
  if (found.throttledUntil) {
    throw tooManyRequests(secondsUntil(panel, found.throttledUntil), {}, 'TooManyRequestsHttpException')
  }
  const isRight = isPassword ? await verifyPassword(login.password, user?.passwordHash ?? null) : found.hasKey
  if (!isRight) return refuse(attempt, isPassword && user ? wrongPassword(user) : null)
  if (!user || !server) return refuse(attempt, null)
  const permissions = permissionsOn(server, user, found.permissions) ?? []
  if (!isGranted(permissions, 'file.sftp')) return refuse(attempt, missingPermission(user, server))
  refuseConflict({ server, node, isTransferring: found.isTransferring })
  return { user, server, permissions }
}

/** `name` is the short id or the uuid of the server. */
function splitUsername(text: string): { username: string; name: string } {
  const dot = text.lastIndexOf('.')
  const name = text.slice(dot + 1).toLowerCase()
  if (dot < 0 || !serverPattern.test(name)) throw badRequest('The username does not name a server.')
  return { username: text.slice(0, dot).toLowerCase(), name }
}

/** The address in what a daemon writes as `198.51.100.7:51234` or `[2001:db8::7]:51234`; null when there is none. */
const addressOf = (text: string): string | null =>
  canonicalAddress(text) ?? canonicalAddress(text.trim().replace(/:\d{1,5}$/, ''))

type Attempt = { panel: Panel; key: string; counts: boolean }
type Occasion = { event: EventName; occurrence: Occurrence }

const wrongPassword = (user: User): Occasion => ({
  event: 'auth:sftp.fail',
  occurrence: { userId: user.id, properties: { method: 'password' }, source: 'sftp' },
})

const missingPermission = (user: User, server: Server): Occasion => ({
  event: 'server:sftp.denied',
  occurrence: { serverId: server.id, actor: { kind: 'user', user, apiKey: null }, source: 'sftp' },
})

/** Counts and records in one statement, then says nothing about why. */
async function refuse({ panel, key, counts }: Attempt, occasion: Occasion | null): Promise<never> {
  if (counts && occasion) {
    const counting = countingFailure(panel, panel.db, key, failureLimit).returning({ key: throttles.key })
    await panel.db
      .with(panel.db.$with('counted').as(counting))
      .insert(activity)
      .values(entryOf(panel, occasion.event, occasion.occurrence))
  } else if (counts) await countFailure(panel, key, failureLimit)
  else if (occasion) await record(panel, occasion.event, occasion.occurrence)
  throw forbidden('The login is not valid.', 'HttpForbiddenException')
}

type Wanted = { node: Node; username: string; name: string; key: string; fingerprint: string | null }

async function findLogin(panel: Panel, { node, name, ...wanted }: Wanted) {
  const isShort = name.length === shortLength
  return only(
    await loginStatement(panel.db).execute({
      ...wanted,
      node: node.id,
      uuid: isShort ? null : name,
      short: isShort ? name : null,
      now: panel.now().toISOString(),
    }),
  )
}

const { placeholder } = sql

// From the node, which is there, so that a row comes back whoever and whatever is unknown.
const loginStatement = (db: Database) =>
  prepared(db, 'sftp_login', (connection) =>
    connection
      .select({
        user: users,
        server: servers,
        permissions: subusers.permissions,
        hasKey: sql<boolean>`exists (select 1 from ${sshKeys} where ${sshKeys.userId} = ${users.id} and ${sshKeys.fingerprint} = ${placeholder('fingerprint')}::text)`,
        isTransferring: sql<boolean>`exists (select 1 from ${transfers} where ${transfers.serverId} = ${servers.id} and ${transfers.successful} is null)`,
        throttledUntil: throttledUntil(placeholder('key'), placeholder('now'), failureLimit),
      })
      .from(nodes)
      .leftJoin(users, eq(sql`lower(${users.username})`, placeholder('username')))
      .leftJoin(
        servers,
        and(
          eq(servers.nodeId, nodes.id),
          or(
            eq(servers.uuid, sql`${placeholder('uuid')}::uuid`),
            eq(servers.uuidShort, sql`${placeholder('short')}::text`),
          ),
        ),
      )
      .leftJoin(subusers, and(eq(subusers.serverId, servers.id), eq(subusers.userId, users.id)))
      .where(eq(nodes.id, placeholder('node')))
      .prepare('sftp_login'),
  )
