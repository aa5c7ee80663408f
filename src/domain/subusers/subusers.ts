import { and, eq, sql, type SQL } from 'drizzle-orm'
import * as z from 'zod'
import { activity, subusers, users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { displayError, forbidden, notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { type EntryKey, recordEvent } from '../activity/record.ts'
import { requireCaller } from '../auth/caller.ts'
import type { ServerAccess } from '../servers/access.ts'
import { email } from '../fields.ts'
import { enqueueInvitation } from '../mail/enqueue.ts'
import { notifyUser } from '../notifications/notify.ts'
import { enqueueRevocation, type NodeRevocation, tryDeliverRevocations } from '../nodes/access-revocations.ts'
import { allPermissions, type GrantedPermissions, type Permission } from '../permissions.ts'
import { randomText } from '../secrets.ts'
import { lockServer } from '../servers/lock.ts'

/**
 * A subuser: the user and their permissions on the server, which one who is `pending` does not have before they
 * verify their address.
 */
export type SubuserWithUser = { user: User; permissions: string[]; pending: boolean }

const permissionNames = () => z.array(z.string()).max(100, 'max')

/** Spec: docs/servers.md#subusers. */
export const SubuserInput = () => z.object({ email: email(), permissions: permissionNames() })
/** Replaces all permissions of an existing subuser. */
export const SubuserChanges = () => z.object({ permissions: permissionNames() })
type SubuserInput = z.output<ReturnType<typeof SubuserInput>>
type SubuserChanges = z.output<ReturnType<typeof SubuserChanges>>

/** Delay of the revocation job, during which the request notifies the node itself. */
const jobDelaySeconds = 30
/** Granted to every subuser. */
const basePermission: Permission = 'websocket.connect'
/** Other spellings that clients use for permissions of the catalogue. */
const permissionAliases: Readonly<Record<string, Permission>> = {
  'database.view-password': 'database.view_password',
}

type Target = Pick<ServerAccess, 'server' | 'permissions'>

/** Lists the subusers of the server, oldest first. One statement. Spec: docs/servers.md#subusers. */
export const listSubusers = (panel: Panel, { server }: Target): Promise<SubuserWithUser[]> =>
  selectSubusers(panel, eq(subusers.serverId, server.id)).orderBy(subusers.id)

/**
 * Finds a subuser by the uuid of their account. Refuses with 404 an unknown one, with 403 the caller's own
 * record.
 */
export async function findSubuser(
  panel: Panel,
  { server }: Target,
  userUuid: string,
): Promise<SubuserWithUser> {
  const [subuser] = await selectSubusers(panel, hasUserUuid(server, userUuid))
  return requireOtherUser(panel, subuser)
}

/**
 * Invites a subuser by e-mail address, case-insensitively, and sends them a mail. An account is created
 * when there is none. While the account has not verified the address the subuser is pending, without access.
 * Refuses with 400 the owner and an existing subuser, with 403 permissions that the
 * caller does not have. Records `server:subuser.create`. Spec: docs/servers.md#subusers.
 */
export async function addSubuser(panel: Panel, { server, permissions }: Target, input: SubuserInput) {
  const granted = resolveGrantedPermissions(permissions, input.permissions)
  return inTransaction(panel, async (tx): Promise<SubuserWithUser> => {
    const { id: serverId, ownerId } = await lockServer(tx, server.id)
    const user = (await findUserByEmail(tx, input.email)) ?? (await createInvitedUser(tx, input.email))
    if (user.id === ownerId)
      throw displayError('subuser_is_owner', 'The owner already has access to the server.', {
        code: 'UserIsServerOwnerException',
      })
    // The user of the account need not have the address that is invited.
    const pending = user.emailVerifiedAt === null
    const [added] = await tx.db
      .insert(subusers)
      .values({ serverId, userId: user.id, permissions: granted, pending })
      .onConflictDoNothing()
      .returning({ id: subusers.id })
    if (!added)
      throw displayError('subuser_exists', 'This user already has access to the server.', {
        code: 'ServerSubuserExistsException',
      })
    await recordEvent(tx, 'server:subuser.create', {
      ...eventDetails(server, user),
      properties: { email: user.email, permissions: granted },
    })
    await notifyUser(tx, 'server.invited', user.id, { serverId })
    await enqueueInvitation(tx, { userId: user.id, serverId })
    return { user, permissions: granted, pending }
  })
}

/**
 * Replaces the permissions of a subuser, and ends their consoles, SFTP sessions and tokens on the node: at
 * once, or by a job when the node is not available. The same permissions in another order change nothing.
 * Refuses as `findSubuser` and `addSubuser` do. Records `server:subuser.update`, whose `revoked` is true
 * when the node confirmed at once.
 */
export async function changeSubuser(
  panel: Panel,
  { server, permissions }: Target,
  userUuid: string,
  input: SubuserChanges,
): Promise<SubuserWithUser> {
  const granted = resolveGrantedPermissions(permissions, input.permissions)
  const { subuser, enqueued } = await inTransaction(panel, async (tx) => {
    const before = await lockSubuser(tx, server, userUuid)
    if (hasSamePermissions(before.permissions, granted)) return { subuser: before, enqueued: null }
    const { user } = before
    await tx.db
      .update(subusers)
      .set({ permissions: granted, updatedAt: tx.now() })
      .where(isSubuserRow(server, user))
    const entry = await recordEvent(tx, 'server:subuser.update', {
      ...eventDetails(server, user),
      properties: { email: user.email, old: before.permissions, new: granted, revoked: false },
    })
    return {
      subuser: { ...before, permissions: granted },
      enqueued: await enqueueAccessRevocation(tx, server, user, entry),
    }
  })
  if (enqueued) await deliverAccessRevocation(panel, enqueued)
  return subuser
}

/**
 * Removes a subuser; their account stays. Revokes access on the node as `changeSubuser` does. Refuses with
 * 404 an unknown subuser, with 403 the caller's own record. Records `server:subuser.delete`.
 */
export async function removeSubuser(panel: Panel, { server }: Target, userUuid: string): Promise<void> {
  const enqueued = await inTransaction(panel, async (tx) => {
    const { user } = await lockSubuser(tx, server, userUuid)
    await tx.db.delete(subusers).where(isSubuserRow(server, user))
    const entry = await recordEvent(tx, 'server:subuser.delete', {
      ...eventDetails(server, user),
      properties: { email: user.email, revoked: false },
    })
    return enqueueAccessRevocation(tx, server, user, entry)
  })
  await deliverAccessRevocation(panel, enqueued)
}

const selectSubusers = (tx: Tx, where: SQL | undefined) =>
  tx.db
    .select({ user: users, permissions: subusers.permissions, pending: subusers.pending })
    .from(subusers)
    .innerJoin(users, eq(users.id, subusers.userId))
    .where(where)

const hasUserUuid = (server: { id: number }, userUuid: string) =>
  and(eq(subusers.serverId, server.id), eq(users.uuid, userUuid))

const isSubuserRow = (server: { id: number }, user: { id: number }) =>
  and(eq(subusers.serverId, server.id), eq(subusers.userId, user.id))

async function lockSubuser(tx: Tx, server: { id: number }, userUuid: string): Promise<SubuserWithUser> {
  const [subuser] = await selectSubusers(tx, hasUserUuid(server, userUuid)).for('update', { of: subusers })
  return requireOtherUser(tx, subuser)
}

function requireOtherUser(tx: Tx, subuser: SubuserWithUser | undefined): SubuserWithUser {
  const caller = requireCaller(tx)
  if (!subuser) throw notFound()
  if (subuser.user.id === caller.id) throw forbidden('own_access', 'You cannot change your own access.')
  return subuser
}

/**
 * Returns the permissions to store: names of the catalogue, each once, in the given order, with the base
 * permission last. Refuses with 403 a name, known or not, that the caller does not have.
 */
function resolveGrantedPermissions(ownPermissions: GrantedPermissions, names: string[]): Permission[] {
  const resolved = names.map((name) => permissionAliases[name] ?? name)
  if (!ownPermissions.includes('*') && resolved.some((name) => !ownPermissions.includes(name)))
    throw forbidden('permissions_beyond_own', 'You can only grant permissions that you have yourself.', {
      code: 'HttpForbiddenException',
    })
  const known = resolved.filter((name): name is Permission => allPermissions.includes(name as Permission))
  return [...new Set(known.filter((name) => name !== basePermission)), basePermission]
}

const hasSamePermissions = (one: string[], other: string[]) =>
  JSON.stringify(one.toSorted()) === JSON.stringify(other.toSorted())

const eventDetails = (server: { id: number }, user: { id: number }) => ({
  serverId: server.id,
  subjects: [{ type: 'user' as const, id: user.id }],
})

/** Locks the row against deletion until the transaction ends. */
async function findUserByEmail(tx: Tx, address: string): Promise<User | undefined> {
  const [user] = await tx.db
    .select()
    .from(users)
    .where(eq(sql`lower(${users.email})`, address.toLowerCase()))
    .for('key share')
  return user
}

/** Creates an account for an invited user, without a password and with a generated user name. */
async function createInvitedUser(tx: Tx, address: string): Promise<User> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const [created] = await tx.db
      .insert(users)
      .values({ email: address, username: generateUsername(address), firstName: 'Invited', lastName: 'User' })
      .onConflictDoNothing()
      .returning()
    // A parallel request may have created the account; otherwise the user name was taken.
    const user = created ?? (await findUserByEmail(tx, address))
    if (user) return user
  }
  throw new Error('No free user name was found for an invited user.')
}

/** User names begin and end with a letter or digit. */
function generateUsername(address: string): string {
  const local = address.slice(0, address.lastIndexOf('@')).toLowerCase()
  const stem = local.replace(/[^\w.-]/g, '').replace(/^[^a-z\d]+/, '')
  return (stem.slice(0, 64) || 'user') + randomText(4).toLowerCase()
}

type EnqueuedRevocation = { entry: EntryKey; revocations: NodeRevocation[] }

async function enqueueAccessRevocation(
  tx: Tx,
  server: { id: number },
  user: User,
  entry: EntryKey,
): Promise<EnqueuedRevocation> {
  const revocation = { userUuid: user.uuid, userId: user.id, serverIds: [server.id] }
  return { entry, revocations: await enqueueRevocation(tx, revocation, { delaySeconds: jobDelaySeconds }) }
}

/** Sets `revoked` of the entry when the node confirmed: the entry was written before the node was called. */
async function deliverAccessRevocation(
  panel: Panel,
  { entry, revocations }: EnqueuedRevocation,
): Promise<void> {
  const failures = await tryDeliverRevocations(panel, revocations)
  if (failures.length > 0) return
  await panel.db
    .update(activity)
    .set({ properties: sql`${activity.properties} || '{"revoked": true}'::jsonb` })
    .where(and(eq(activity.id, entry.id), eq(activity.timestamp, entry.timestamp)))
}
