import { and, eq, isNotNull, ne, sql } from 'drizzle-orm'
import * as z from 'zod'
import { uniqueViolation } from '../../db/database.ts'
import { users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { displayError } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { lockCaller, requireCaller } from '../auth/caller.ts'
import { currentPasswordField, requireCurrentPassword } from '../auth/current-password.ts'
import { consumeAttempt } from '../auth/attempt-limits.ts'
import { cancelPasswordResets } from '../auth/password-reset-tokens.ts'
import { email } from '../fields.ts'
import { enqueueEmailVerification, enqueueMail } from '../mail/enqueue.ts'
import { invalidField } from '../validation.ts'
import {
  deleteInvitations,
  isReleasedEmail,
  isSameEmail,
  lockClaimants,
  otherHolder,
  retryOnEmailConflict,
  storeVerifiedEmail,
} from './email-claims.ts'
import { cancelEmailLinks, consumeEmailLink, findEmailLink } from './email-links.ts'
import { isEmailVerificationOn } from './email-policy.ts'

/** Spec: docs/accounts.md#e-mail-address. */
const emailChangeLimit = { maxAttempts: 3, windowSeconds: 86_400 }
/** Mails with a link that an account requests again. */
const resendLimit = { maxAttempts: 5, windowSeconds: 3600 }

/** Spec: putClientAccountEmail. */
export const EmailInput = () => z.object({ email: z.string(), password: currentPasswordField() })
type EmailInput = z.output<ReturnType<typeof EmailInput>>

/** The token of a mailed link. Spec: docs/accounts.md#verified-addresses. */
export const EmailTokenInput = () => z.object({ token: z.string().max(255, 'max') })

/** 400 for every link that does not work, so that the reason reveals nothing about other accounts. */
const invalidLink = () =>
  displayError('link_invalid', 'The link is not valid or has expired. Request a new one.')

/**
 * Changes the account's e-mail address at once, with a mail to both addresses, or when the link that is mailed to
 * the new one is followed, where addresses must be verified. The same address in another case changes nothing.
 *
 * Refuses with 400 a wrong password, with the same 422 an invalid address and one of another account, with 429 the
 * fourth attempt in 24 hours. Records `user:account.email-changed` or `user:account.email-change-requested`.
 */
export async function changeEmail(panel: Panel, input: EmailInput): Promise<void> {
  const user = requireCaller(panel)
  const address = email().safeParse(input.email)
  if (!address.success || isReleasedEmail(address.data)) throw unusableEmail()
  await requireCurrentPassword(panel, user, input.password)
  if (isSameEmail(address.data, user.email)) return
  await consumeAttempt(panel, `email-change:${user.id}`, emailChangeLimit)
  try {
    await inTransaction(panel, async (tx) =>
      (await isEmailVerificationOn(tx)) ? storePendingEmail(tx, address.data) : storeEmail(tx, address.data),
    )
  } catch (error) {
    throw uniqueViolation(error) === null ? error : unusableEmail()
  }
}

/** The same for an invalid and a taken address: the answer must not reveal who has an account. */
const unusableEmail = () =>
  invalidField('email', 'email', 'The email field must be an address that can be used.', {
    reason: 'email_unusable',
  })

async function storeEmail(tx: Tx, address: string): Promise<void> {
  const user = await lockCaller(tx)
  const { id, email: old } = user
  await tx.db
    .update(users)
    .set({ email: address, emailVerifiedAt: null, pendingEmail: null, updatedAt: tx.now() })
    .where(eq(users.id, id))
  await deleteInvitations(tx, user)
  await announceChange(tx, id, old, address)
}

/** What follows every change of the address by its owner. */
async function announceChange(tx: Tx, userId: number, old: string, address: string): Promise<void> {
  // Pending links were sent to the old address.
  await cancelPasswordResets(tx, userId)
  await recordEvent(tx, 'user:account.email-changed', { userId, properties: { old, new: address } })
  for (const to of [old, address]) await enqueueMail(tx, { template: 'email-changed', userId, to })
}

async function storePendingEmail(tx: Tx, address: string): Promise<void> {
  const user = await lockCaller(tx)
  // Unverified accounts with the address do not count: they lose it when the link is followed.
  const [verified] = await tx.db
    .select({ id: users.id })
    .from(users)
    .where(
      and(
        eq(sql`lower(${users.email})`, address.toLowerCase()),
        isNotNull(users.emailVerifiedAt),
        ne(users.id, user.id),
      ),
    )
  if (verified) throw unusableEmail()
  if (user.pendingEmail !== null) await cancelEmailLinks(tx, user.id, user.pendingEmail)
  await tx.db.update(users).set({ pendingEmail: address, updatedAt: tx.now() }).where(eq(users.id, user.id))
  await recordEvent(tx, 'user:account.email-change-requested', {
    userId: user.id,
    properties: { new: address },
  })
  await enqueueEmailVerification(tx, user.id)
}

/** Returns the address that a link would verify, the pending one before the current one; null when none waits. */
export function unverifiedEmailOf({ email: current, emailVerifiedAt, pendingEmail }: User): string | null {
  if (pendingEmail !== null) return pendingEmail
  return emailVerifiedAt === null && !isReleasedEmail(current) ? current : null
}

/**
 * Mails another link for the address that waits for one. Refuses with 400 when no address does, with 429 the sixth
 * request in an hour.
 */
export async function resendEmailVerification(panel: Panel): Promise<void> {
  const { id } = requireCaller(panel)
  await consumeAttempt(panel, `email-verification:${id}`, resendLimit)
  await inTransaction(panel, async (tx) => {
    if (unverifiedEmailOf(await lockCaller(tx)) === null)
      throw displayError('email_already_verified', 'Your e-mail address is verified already.')
    await enqueueEmailVerification(tx, id)
  })
}

/**
 * Cancels the pending change of the address; its links stop working. Does nothing when there is none. Records
 * `user:account.email-change-cancelled`.
 */
export async function cancelEmailChange(panel: Panel): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const { id: userId, pendingEmail } = await lockCaller(tx)
    if (pendingEmail === null) return
    await tx.db.update(users).set({ pendingEmail: null, updatedAt: tx.now() }).where(eq(users.id, userId))
    await cancelEmailLinks(tx, userId, pendingEmail)
    await recordEvent(tx, 'user:account.email-change-cancelled', {
      userId,
      properties: { new: pendingEmail },
    })
  })
}

/**
 * Verifies an address of the caller by a mailed link: the pending one, which becomes the account's address, or the
 * current one. Unverified accounts with the address lose it. A link works once, within 24 hours, and only for the
 * account that it was mailed for: the holder of a mailbox must not verify it for another user's account by mistake.
 *
 * Refuses with 400 a link that does not work any more. Records `user:account.email-verified`, and
 * `user:account.email-changed` for a pending address. Spec: docs/accounts.md#verified-addresses.
 */
export async function verifyEmail(panel: Panel, token: string): Promise<void> {
  const caller = requireCaller(panel)
  await retryOnEmailConflict(() =>
    inTransaction(panel, async (tx) => {
      const link = await findEmailLink(tx, caller, token)
      if (!link) throw invalidLink()
      const claimants = await lockClaimants(tx, link.email, caller.id)
      const user = claimants.find(({ id }) => id === caller.id)
      if (!user || !(await consumeEmailLink(tx, link))) throw invalidLink()
      const isCurrent = isSameEmail(user.email, link.email)
      const isPending = user.pendingEmail !== null && isSameEmail(user.pendingEmail, link.email)
      if (!isCurrent && !isPending) throw invalidLink()
      if (otherHolder(claimants, link.email, user.id)?.emailVerifiedAt) throw invalidLink()
      await storeVerifiedEmail(tx, user, link.email, claimants)
      if (!isCurrent) await announceChange(tx, user.id, user.email, link.email)
    }),
  )
}
