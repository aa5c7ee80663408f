import { and, eq, type SQL, sql } from 'drizzle-orm'
import * as z from 'zod'
import { activity, subusers, users } from '../db/schema.ts'
import type { User } from '../db/tables/users.ts'
import { displayError, forbidden, notFound, unauthenticated } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { type EntryKey, record } from './activity.ts'
import type { ReachedServer } from './credentials.ts'
import { email } from './fields.ts'
import { enqueueInvitation } from './mail/orders.ts'
import { allPermissions, type GrantedPermissions, type Permission } from './permissions.ts'
import { enqueueRevocation, type NodeRevocation, tryRevocations } from './revocations.ts'
import { randomText } from './secrets.ts'
import { lockServer } from './servers/lock.ts'

/** Somebody who was let into a server, with what he may do there. */
export type Member = { user: User; permissions: string[] }

const permissionNames = () => z.array(z.string()).max(100, 'max')

/** Spec: Client API, subusers. */
export const SubuserInput = () => z.object({ email: email(), permissions: permissionNames() })
/** The same for somebody who is there already: the list is replaced. */
export const SubuserChanges = () => z.object({ permissions: permissionNames() })
type SubuserInput = z.output<ReturnType<typeof SubuserInput>>
type SubuserChanges = z.output<ReturnType<typeof SubuserChanges>>

/** Seconds which the request that takes access away has to tell the node itself. */
const headStart = 30
/** What everybody who was let in may do. */
const alwaysGranted: Permission = 'websocket.connect'
/** Spellings which clients of the ecosystem use for permissions of the catalogue. */
const aliases: Readonly<Record<string, Permission>> = { 'database.view-password': 'database.view_password' }

type Target = Pick<ReachedServer, 'server' | 'permissions'>

/** Everybody who was let into the server, in the order in which they were. One statement. Spec: Client API, subusers. */
export const listSubusers = (panel: Panel, { server }: Target): Promise<Member[]> =>
  memberRows(panel, eq(subusers.serverId, server.id)).orderBy(subusers.id)

/** One of them, by the uuid of his account. Refuses with 404 others, with 403 the caller himself. */
export async function findSubuser(panel: Panel, { server }: Target, userUuid: string): Promise<Member> {
  const [member] = await memberRows(panel, memberOf(server, userUuid))
  return requireOther(panel, member)
}

/**
 * Lets somebody in, by the e-mail address of his account in whatever case; where nobody has it, an account
 * is made. A mail tells him. Records `server:subuser.create`. Refuses with 400 the owner and whoever is in
 * already, with 403 permissions that the caller does not hold. Spec: Client API, subusers.
 */
export async function addSubuser(panel: Panel, { server, permissions }: Target, input: SubuserInput) {
  const granted = grantable(permissions, input.permissions)
  return inTransaction(panel, async (inner): Promise<Member> => {
    const { id: serverId, ownerId } = await lockServer(inner, server.id)
    const user = (await findAccount(inner, input.email)) ?? (await openAccount(inner, input.email))
    if (user.id === ownerId)
      throw displayError('The owner needs no invitation to the server.', 'UserIsServerOwnerException')
    const [added] = await inner.db
      .insert(subusers)
      .values({ serverId, userId: user.id, permissions: granted })
      .onConflictDoNothing()
      .returning({ id: subusers.id })
    if (!added)
      throw displayError('This person has access to the server already.', 'ServerSubuserExistsException')
    await record(inner, 'server:subuser.create', {
      ...about(server, user),
      properties: { email: user.email, permissions: granted },
    })
    await enqueueInvitation(inner, { userId: user.id, serverId })
    return { user, permissions: granted }
  })
}

/**
 * Replaces what somebody may do. Consoles, SFTP sessions and tokens which he holds end on the node: at once,
 * or by a job when it is back. Records `server:subuser.update`, whose `revoked` tells whether it was at once.
 * The same permissions in any order change nothing. Refuses as `findSubuser` and `addSubuser` do.
 */
export async function changeSubuser(
  panel: Panel,
  { server, permissions }: Target,
  userUuid: string,
  input: SubuserChanges,
): Promise<Member> {
  const granted = grantable(permissions, input.permissions)
  const { member, ended } = await inTransaction(panel, async (inner) => {
    const before = await lockMember(inner, server, userUuid)
    if (isSame(before.permissions, granted)) return { member: before, ended: null }
    const { user } = before
    await inner.db
      .update(subusers)
      .set({ permissions: granted, updatedAt: inner.now() })
      .where(memberRow(server, user))
    const entry = await record(inner, 'server:subuser.update', {
      ...about(server, user),
      properties: { email: user.email, old: before.permissions, new: granted, revoked: false },
    })
    return { member: { user, permissions: granted }, ended: await endAccess(inner, server, user, entry) }
  })
  if (ended) await tellNode(panel, ended)
  return member
}

/**
 * Somebody is let in no more; his account stays. Ends what he holds on the node as `changeSubuser` does, and
 * records `server:subuser.delete`. Refuses with 404 who was not let in, with 403 the caller himself.
 */
export async function removeSubuser(panel: Panel, { server }: Target, userUuid: string): Promise<void> {
  const ended = await inTransaction(panel, async (inner) => {
    const { user } = await lockMember(inner, server, userUuid)
    await inner.db.delete(subusers).where(memberRow(server, user))
    const entry = await record(inner, 'server:subuser.delete', {
      ...about(server, user),
      properties: { email: user.email, revoked: false },
    })
    return endAccess(inner, server, user, entry)
  })
  await tellNode(panel, ended)
}

const memberRows = (panel: Panel, where: SQL | undefined) =>
  panel.db
    .select({ user: users, permissions: subusers.permissions })
    .from(subusers)
    .innerJoin(users, eq(users.id, subusers.userId))
    .where(where)

const memberOf = (server: { id: number }, userUuid: string) =>
  and(eq(subusers.serverId, server.id), eq(users.uuid, userUuid))

const memberRow = (server: { id: number }, user: { id: number }) =>
  and(eq(subusers.serverId, server.id), eq(subusers.userId, user.id))

async function lockMember(panel: Panel, server: { id: number }, userUuid: string): Promise<Member> {
  const [member] = await memberRows(panel, memberOf(server, userUuid)).for('update', { of: subusers })
  return requireOther(panel, member)
}

function requireOther({ actor }: Panel, member: Member | undefined): Member {
  if (actor.kind !== 'user') throw unauthenticated()
  if (!member) throw notFound()
  if (member.user.id === actor.user.id) throw forbidden('Your own access is for others to change.')
  return member
}

/**
 * The list as it is stored: names of the catalogue, each once, as given, and what everybody may do last.
 * Refuses with 403 any name, also one that nobody knows, which the caller does not hold.
 */
function grantable(held: GrantedPermissions, names: string[]): Permission[] {
  const spelt = names.map((name) => aliases[name] ?? name)
  if (!held.includes('*') && spelt.some((name) => !held.includes(name)))
    throw forbidden('You can only hand out permissions that you hold yourself.', 'HttpForbiddenException')
  const known = spelt.filter((name): name is Permission => allPermissions.includes(name as Permission))
  return [...new Set(known.filter((name) => name !== alwaysGranted)), alwaysGranted]
}

const isSame = (one: string[], other: string[]) =>
  JSON.stringify(one.toSorted()) === JSON.stringify(other.toSorted())

const about = (server: { id: number }, user: { id: number }) => ({
  serverId: server.id,
  subjects: [{ type: 'user' as const, id: user.id }],
})

/** The account stays until the transaction ends. */
async function findAccount(panel: Panel, address: string): Promise<User | undefined> {
  const [user] = await panel.db
    .select()
    .from(users)
    .where(eq(sql`lower(${users.email})`, address.toLowerCase()))
    .for('key share')
  return user
}

/** An account for somebody who knows nothing of it yet: he has no password, and no name but his address. */
async function openAccount(panel: Panel, address: string): Promise<User> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const [made] = await panel.db
      .insert(users)
      .values({ email: address, username: usernameFor(address), firstName: 'Invited', lastName: 'User' })
      .onConflictDoNothing()
      .returning()
    // Somebody else may have made it meanwhile; if not, the user name was taken.
    const user = made ?? (await findAccount(panel, address))
    if (user) return user
  }
  throw new Error('No free user name was found.')
}

/** User names begin and end with a letter or digit. */
function usernameFor(address: string): string {
  const local = address.slice(0, address.lastIndexOf('@')).toLowerCase()
  const stem = local.replace(/[^\w.-]/g, '').replace(/^[^a-z\d]+/, '')
  return (stem.slice(0, 64) || 'user') + randomText(4).toLowerCase()
}

type EndedAccess = { entry: EntryKey; revocations: NodeRevocation[] }

async function endAccess(
  panel: Panel,
  server: { id: number },
  user: User,
  entry: EntryKey,
): Promise<EndedAccess> {
  const revocation = { userUuid: user.uuid, userId: user.id, serverIds: [server.id] }
  return { entry, revocations: await enqueueRevocation(panel, revocation, { headStart }) }
}

/** The entry is written with the change, so it learns afterwards that the node agreed. */
async function tellNode(panel: Panel, { entry, revocations }: EndedAccess): Promise<void> {
  const failures = await tryRevocations(panel, revocations)
  if (failures.length > 0) return
  await panel.db
    .update(activity)
    .set({ properties: sql`${activity.properties} || '{"revoked": true}'::jsonb` })
    .where(and(eq(activity.id, entry.id), eq(activity.timestamp, entry.timestamp)))
}
