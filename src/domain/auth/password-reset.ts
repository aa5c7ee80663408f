import { and, eq, gt, inArray, isNull, or, sql } from 'drizzle-orm'
import * as z from 'zod'
import { passwordResets, throttles, users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { displayError, forbidden } from '../../errors.ts'
import { networkOf } from '../../ip-addresses.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { lockClaimants, storeVerifiedEmail } from '../accounts/email-claims.ts'
import { recordEvent } from '../activity/record.ts'
import { email } from '../fields.ts'
import { enqueuePasswordReset } from '../mail/enqueue.ts'
import { tryDeliverRevocations } from '../nodes/access-revocations.ts'
import { digest } from '../secrets.ts'
import { getSetting } from '../settings/settings.ts'
import { consumeAttempt, countAttemptStatement } from './attempt-limits.ts'
import { captchaFields, readCaptchaResponse, requireCaptcha } from './captcha.ts'
import { removeClaimedCredentials } from './claimed-account.ts'
import { createKnownBrowserToken } from './known-browsers.ts'
import { type ClientInfo, startSession } from './login.ts'
import { hashPassword, withPasswordCheck } from './password-hash.ts'
import { isPasswordConfirmed, newPasswordFields, replacePassword, unconfirmedPassword } from './password.ts'
import type { NewSession } from './sessions.ts'

/** Requests for a link from one network. Spec: postAuthPassword. */
const requestLimit = { maxAttempts: 2, windowSeconds: 60 }
/** Mails to one address. */
const mailLimit = { maxAttempts: 1, windowSeconds: 60 }
/** Tokens from one network for any account. */
const networkAttemptLimit = { maxAttempts: 30, windowSeconds: 900 }
/** Tokens from one network for one account. */
const attemptLimit = { maxAttempts: 10, windowSeconds: 900 }

/** Spec: postAuthPassword. */
export const ForgottenPasswordInput = () => z.object({ email: email(), ...captchaFields() })
type ForgottenPasswordInput = z.output<ReturnType<typeof ForgottenPasswordInput>>

/** Spec: postAuthPasswordReset. */
export const PasswordResetInput = () =>
  z
    .object({ token: z.string().max(255, 'max'), email: email(), ...newPasswordFields() })
    .refine(isPasswordConfirmed, unconfirmedPassword)
type PasswordResetInput = z.output<ReturnType<typeof PasswordResetInput>>

/**
 * Sends a mail with a link that sets a new password, at most one a minute. The answer and the work are the
 * same whether or not the account exists or a mail was sent just now. Refuses with 403 while signing in
 * with a password is switched off, with 400 a missing captcha, with 429 the third request of a network in a
 * minute. Records `event:password-reset`. Spec: postAuthPassword.
 */
export async function requestPasswordReset(panel: Panel, input: ForgottenPasswordInput): Promise<void> {
  await requirePasswordSignIn(panel)
  await consumeAttempt(panel, `forgotten-password:${networkOf(panel.ip)}`, requestLimit)
  await requireCaptcha(panel, readCaptchaResponse(input))
  const address = input.email.toLowerCase()
  await inTransaction(panel, async (tx) => {
    const [user] = await tx.db
      .select({ id: users.id })
      .from(users)
      .where(eq(sql`lower(${users.email})`, address))
    if (!(await countResetMail(tx, address))) return
    await recordEvent(tx, 'event:password-reset', user ? { userId: user.id } : {})
    await enqueuePasswordReset(tx, address, user?.id ?? null)
  })
}

/** Counted by address, so that an unknown one behaves the same. */
async function countResetMail(tx: Tx, address: string): Promise<boolean> {
  const counting = countAttemptStatement(tx, tx.db, `password-mail:${digest(address)}`, mailLimit)
  const [taken] = await counting.returning({ hits: throttles.hits })
  return taken !== undefined && taken.hits <= mailLimit.maxAttempts
}

/** The session is null for an account with two-factor authentication; its browser is known all the same. */
export type ResetOutcome = { session: NewSession | null; knownBrowserToken: string }

/**
 * Sets the password with a link from a mail and signs in to a new session, except to an account with
 * two-factor authentication, which signs in itself. The browser is known to the account from then on. A
 * link works once, for its own address, until it expires.
 *
 * The link was mailed, so it verifies the address. Until then another user may have used the account: what
 * could still sign in to it is removed.
 *
 * Refuses with 403 while signing in with a password is switched off, with 400 and always the same error a
 * link that does not work, with 429 too many tries, with 503 as `withPasswordCheck` does. Records
 * `auth:reset-password`, and `user:account.email-verified`. Spec: postAuthPasswordReset.
 */
export const resetPassword = (
  panel: Panel,
  input: PasswordResetInput,
  clientInfo: ClientInfo,
): Promise<ResetOutcome> => withPasswordCheck(() => setByLink(panel, input, clientInfo))

async function setByLink(
  panel: Panel,
  input: PasswordResetInput,
  clientInfo: ClientInfo,
): Promise<ResetOutcome> {
  await requirePasswordSignIn(panel)
  const network = networkOf(panel.ip)
  const address = input.email.toLowerCase()
  await consumeAttempt(panel, `password-reset-network:${network}`, networkAttemptLimit)
  await consumeAttempt(panel, `password-reset:${digest(address)}:${network}`, attemptLimit)
  const passwordHash = await hashPassword(input.password, panel.config.passwordCost)
  const { revocations, ...outcome } = await inTransaction(panel, async (tx) => {
    const user = await consumeToken(tx, address, input.token)
    const actor = { kind: 'user' as const, user, apiKey: null }
    await recordEvent(tx, 'auth:reset-password', { userId: user.id, actor })
    const revocations = await replacePassword(tx, user, passwordHash)
    if (user.emailVerifiedAt === null) await takeOverAccount({ ...tx, actor }, user)
    return { ...(await startOwnSession(tx, user, clientInfo)), revocations }
  })
  await tryDeliverRevocations(panel, revocations)
  return outcome
}

/** Gives an account whose address was only claimed to the holder of the address. */
async function takeOverAccount(tx: Tx, user: User): Promise<void> {
  await removeClaimedCredentials(tx, user)
  await storeVerifiedEmail(tx, user, user.email, await lockClaimants(tx, user.email, user.id))
}

/**
 * Deletes the token and returns its account, locked. Refuses with 400. One statement for a wrong token, two
 * for a right one.
 */
async function consumeToken(tx: Tx, address: string, token: string): Promise<User> {
  const isOwner = eq(sql`lower(${users.email})`, address)
  // Locks the account first, as other password changes do, in the order of `lockClaimants`.
  const owner = tx.db.$with('owner').as(
    tx.db
      .select({ id: users.id, isOwner: sql<boolean>`${isOwner}`.as('is_owner') })
      .from(users)
      .where(or(isOwner, eq(sql`lower(${users.pendingEmail})`, address)))
      .orderBy(users.id)
      .for('update'),
  )
  const [consumed] = await tx.db
    .with(owner)
    .delete(passwordResets)
    .where(
      and(
        eq(passwordResets.tokenHash, digest(token)),
        gt(passwordResets.expiresAt, tx.now()),
        inArray(
          passwordResets.userId,
          tx.db
            .select({ id: owner.id })
            .from(owner)
            .where(sql`${owner.isOwner}`),
        ),
        // A mail that was being sent while the address changed went to another one.
        or(isNull(passwordResets.email), eq(sql`lower(${passwordResets.email})`, address)),
      ),
    )
    .returning({ userId: passwordResets.userId })
  const [user] = consumed ? await tx.db.select().from(users).where(eq(users.id, consumed.userId)) : []
  if (!user) throw displayError('link_invalid', 'The link is not valid or has expired. Request a new one.')
  return user
}

async function startOwnSession(tx: Tx, user: User, clientInfo: ClientInfo): Promise<ResetOutcome> {
  const [current = user] = await tx.db.select().from(users).where(eq(users.id, user.id))
  const knownBrowserToken = await createKnownBrowserToken(tx, current)
  if (user.totpEnabledAt !== null) return { session: null, knownBrowserToken }
  const { session } = await startSession(tx, current, clientInfo, { method: 'password-reset' })
  return { session, knownBrowserToken }
}

async function requirePasswordSignIn(panel: Panel): Promise<void> {
  if (!(await getSetting(panel, 'sign_in.password')))
    throw forbidden('passwords_off', 'Signing in with a password is switched off.')
}
