import { and, eq, inArray, or, sql } from 'drizzle-orm'
import { servers, subusers, users } from '../../db/schema.ts'
import { uniqueViolation } from '../../db/database.ts'
import type { User } from '../../db/tables/users.ts'
import type { Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { cancelPasswordResets } from '../auth/password-reset-tokens.ts'
import { enqueueMail } from '../mail/enqueue.ts'
import { cancelEmailLinks } from './email-links.ts'

/** How often a change is tried that others may claim the address for meanwhile. */
const maxTries = 3
/** Reserved by RFC 2606: no mail server has it. */
const releasedDomain = 'released.invalid'

/** Tells whether two spellings are the same address. */
export const isSameEmail = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

/** Tells whether the account lost its address, and has only the placeholder of `releaseEmail`. */
export const isReleasedEmail = (email: string): boolean => email.endsWith(`@${releasedDomain}`)

/** Returns the address of an account as its owner and administrators see it. */
export const describeEmail = ({ email, emailVerifiedAt, pendingEmail }: User) => {
  const unverified = isReleasedEmail(email) ? ('released' as const) : ('unverified' as const)
  return { email, status: emailVerifiedAt ? ('verified' as const) : unverified, pending_email: pendingEmail }
}

const isEmail = (email: string) => eq(sql`lower(${users.email})`, email.toLowerCase())
const isPendingEmail = (email: string) => eq(sql`lower(${users.pendingEmail})`, email.toLowerCase())

/**
 * Locks the account, if it exists already, and every other one that has or wants the address, until the
 * transaction ends. All changes of verified addresses lock in this order, so that none waits for another.
 */
export function lockClaimants(tx: Tx, email: string, userId: number | null): Promise<User[]> {
  const isOwn = userId === null ? undefined : eq(users.id, userId)
  return tx.db
    .select()
    .from(users)
    .where(or(isOwn, isEmail(email), isPendingEmail(email)))
    .orderBy(users.id)
    .for('update')
}

/** Returns the account that has the address, if it is another one. */
export const otherHolder = (claimants: User[], email: string, userId: number | null): User | null =>
  claimants.find((user) => user.id !== userId && isSameEmail(user.email, email)) ?? null

/**
 * Takes the address from every account but this one: a pending change to it ends, and an account that has it
 * unverified gets a placeholder. Call it with all claimants, locked, and only when no other account has
 * verified the address. Records `user:account.email-released` on each, and sends a mail to those with an address
 * of their own.
 */
export async function releaseEmail(
  tx: Tx,
  email: string,
  claimants: User[],
  userId: number | null,
): Promise<void> {
  for (const user of claimants) {
    if (user.id === userId) continue
    const isHolder = isSameEmail(user.email, email)
    await tx.db
      .update(users)
      .set(isHolder ? { email: `${user.uuid}@${releasedDomain}` } : { pendingEmail: null })
      .where(eq(users.id, user.id))
    await cancelEmailLinks(tx, user.id, email)
    if (isHolder) await cancelPasswordResets(tx, user.id)
    await recordEvent(tx, 'user:account.email-released', { userId: user.id, properties: { email } })
    if (!isHolder) await enqueueMail(tx, { template: 'email-released', userId: user.id, email })
  }
}

/**
 * Stores the address as verified, for an account that is locked with all claimants. Gives it the invitations
 * that were made to the address, and deletes those to the address that it leaves. Records
 * `user:account.email-verified`.
 */
export async function storeVerifiedEmail(
  tx: Tx,
  user: User,
  email: string,
  claimants: User[],
): Promise<void> {
  const invited = otherHolder(claimants, email, user.id)
  await releaseEmail(tx, email, claimants, user.id)
  const isNew = !isSameEmail(user.email, email)
  const isPending = user.pendingEmail !== null && isSameEmail(user.pendingEmail, email)
  await tx.db
    .update(users)
    .set({
      email,
      emailVerifiedAt: tx.now(),
      updatedAt: tx.now(),
      ...(isNew || isPending ? { pendingEmail: null } : {}),
    })
    .where(eq(users.id, user.id))
  await cancelEmailLinks(tx, user.id, email)
  if (isNew) await deleteInvitations(tx, user)
  await acceptInvitations(tx, invited ?? user, user)
  await recordEvent(tx, 'user:account.email-verified', { userId: user.id, properties: { email } })
}

/** Gives `user` access where the address of `invited` was invited; both may be the same account. */
export async function acceptInvitations(
  tx: Tx,
  invited: Pick<User, 'id'>,
  user: Pick<User, 'id'>,
): Promise<void> {
  const isInvitation = and(eq(subusers.userId, invited.id), eq(subusers.pending, true))
  if (invited.id !== user.id) {
    const owned = tx.db.select({ id: servers.id }).from(servers).where(eq(servers.ownerId, user.id))
    const shared = tx.db.select({ id: subusers.serverId }).from(subusers).where(eq(subusers.userId, user.id))
    const hasAccess = or(inArray(subusers.serverId, owned), inArray(subusers.serverId, shared))
    await tx.db.delete(subusers).where(and(isInvitation, hasAccess))
  }
  const accepted = { userId: user.id, pending: false, updatedAt: tx.now() }
  await tx.db.update(subusers).set(accepted).where(isInvitation)
}

/** Deletes the invitations that wait for an address which the account leaves. Records `server:subuser.delete`. */
export async function deleteInvitations(tx: Tx, user: Pick<User, 'id' | 'email'>): Promise<void> {
  const deleted = await tx.db
    .delete(subusers)
    .where(and(eq(subusers.userId, user.id), eq(subusers.pending, true)))
    .returning({ serverId: subusers.serverId })
  for (const { serverId } of deleted) {
    await recordEvent(tx, 'server:subuser.delete', {
      serverId,
      properties: { email: user.email, revoked: false },
      subjects: [{ type: 'user', id: user.id }],
    })
  }
}

/**
 * Runs a transaction that stores a verified address, and repeats it when an account got the same address
 * meanwhile: an unverified one then loses it, a verified one makes the transaction refuse.
 */
export async function retryOnEmailConflict<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transaction()
    } catch (error) {
      if (tries === maxTries || !uniqueViolation(error)?.includes('users_email')) throw error
    }
  }
}
