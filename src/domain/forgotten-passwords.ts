import { and, eq, gt, inArray, sql } from 'drizzle-orm'
import * as z from 'zod'
import { passwordResets, throttles, users } from '../db/schema.ts'
import type { User } from '../db/tables/users.ts'
import { displayError, forbidden } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { isConfirmed, newPassword, replacePassword, unconfirmed } from './account/password.ts'
import { record } from './activity.ts'
import { captchaFields, captchaResponse, requireCaptcha } from './captcha.ts'
import { email } from './fields.ts'
import { complete, type Visitor } from './login.ts'
import { enqueuePasswordReset } from './mail/orders.ts'
import { hashPassword } from './password-hash.ts'
import { tryRevocations } from './revocations.ts'
import { digest } from './secrets.ts'
import type { OpenedSession } from './sessions.ts'
import { setting } from './settings.ts'
import { countingFailure, networkOf, takeAttempt } from './throttles.ts'

/** Requests for a link from one network. Spec: Browser authentication, password. */
const requests = { failures: 2, seconds: 60 }
/** Mails to one account. */
const mails = { failures: 1, seconds: 60 }
/** Tokens that are shown, from one network for any account, and for one account. */
const triesOfNetwork = { failures: 30, seconds: 900 }
const tries = { failures: 10, seconds: 900 }

/** Spec: Browser authentication, password. */
export const ForgottenPasswordInput = () => z.object({ email: email(), ...captchaFields() })
type ForgottenPasswordInput = z.output<ReturnType<typeof ForgottenPasswordInput>>

/** Spec: Browser authentication, password/reset. */
export const PasswordResetInput = () =>
  z
    .object({ token: z.string().max(255, 'max'), email: email(), ...newPassword() })
    .refine(isConfirmed, unconfirmed)
type PasswordResetInput = z.output<ReturnType<typeof PasswordResetInput>>

/**
 * Whoever has the address has a mail with a link to a new password, at most one a minute. Whether somebody
 * has it, and whether there was one just now, nobody learns: answer and work are the same. Refuses with 403
 * while passwords are switched off, with 400 without the captcha where one is set, with 429 the third request of
 * a network in a minute. Records `event:password-reset`. Spec: Browser authentication, password.
 */
export async function requestPasswordReset(panel: Panel, input: ForgottenPasswordInput): Promise<void> {
  await requirePasswords(panel)
  await takeAttempt(panel, `forgotten-password:${networkOf(panel.ip)}`, requests)
  await requireCaptcha(panel, captchaResponse(input))
  const address = input.email.toLowerCase()
  await inTransaction(panel, async (inner) => {
    const [user] = await inner.db
      .select({ id: users.id })
      .from(users)
      .where(eq(sql`lower(${users.email})`, address))
    if (!(await isMailDue(inner, address))) return
    await record(inner, 'event:password-reset', user ? { userId: user.id } : {})
    await enqueuePasswordReset(inner, address, user?.id ?? null)
  })
}

/** Counted by address, so that it is the same for one that nobody has. */
async function isMailDue(panel: Panel, address: string): Promise<boolean> {
  const counting = countingFailure(panel, panel.db, `password-mail:${digest(address)}`, mails)
  const [taken] = await counting.returning({ hits: throttles.hits })
  return taken !== undefined && taken.hits <= mails.failures
}

/**
 * The holder of a link from a mail has chosen another password, as `replacePassword` says, and is signed in to
 * a new session; null where his account asks for a second factor, with which he has to sign in himself. A link
 * works once, for its own address, until it ends.
 *
 * Refuses with 403 while passwords are switched off, with 400 what is no such link, in the same words whatever
 * is wrong with it, with 429 too many tries. Records `auth:reset-password`. Spec: Browser authentication,
 * password/reset.
 */
export async function resetPassword(
  panel: Panel,
  input: PasswordResetInput,
  visitor: Visitor,
): Promise<OpenedSession | null> {
  await requirePasswords(panel)
  const network = networkOf(panel.ip)
  const address = input.email.toLowerCase()
  await takeAttempt(panel, `password-reset-network:${network}`, triesOfNetwork)
  await takeAttempt(panel, `password-reset:${digest(address)}:${network}`, tries)
  const passwordHash = await hashPassword(input.password)
  const { session, revocations } = await inTransaction(panel, async (inner) => {
    const user = await spendToken(inner, address, input.token)
    const actor = { kind: 'user' as const, user, apiKey: null }
    await record(inner, 'auth:reset-password', { userId: user.id, actor })
    const revocations = await replacePassword(inner, user, passwordHash)
    return { session: await openOwnSession(inner, user, visitor), revocations }
  })
  await tryRevocations(panel, revocations)
  return session
}

/** The account whose token it was, locked; it is gone. One statement, whoever asks. */
async function spendToken(panel: Panel, address: string, token: string): Promise<User> {
  // Locked first, as everybody does who changes a password.
  const owner = panel.db.$with('owner').as(
    panel.db
      .select({ id: users.id })
      .from(users)
      .where(eq(sql`lower(${users.email})`, address))
      .for('update'),
  )
  const [spent] = await panel.db
    .with(owner)
    .delete(passwordResets)
    .where(
      and(
        eq(passwordResets.tokenHash, digest(token)),
        gt(passwordResets.expiresAt, panel.now()),
        inArray(passwordResets.userId, panel.db.select({ id: owner.id }).from(owner)),
      ),
    )
    .returning({ userId: passwordResets.userId })
  const [user] = spent ? await panel.db.select().from(users).where(eq(users.id, spent.userId)) : []
  if (!user) throw displayError('The link is not valid, or no longer.')
  return user
}

/** Null where a second factor is asked for. */
async function openOwnSession(panel: Panel, user: User, visitor: Visitor): Promise<OpenedSession | null> {
  if (user.totpEnabledAt !== null) return null
  const [current = user] = await panel.db.select().from(users).where(eq(users.id, user.id))
  return (await complete(panel, current, visitor, { method: 'password-reset' })).session
}

async function requirePasswords(panel: Panel): Promise<void> {
  if (!(await setting(panel, 'sign_in.password'))) throw forbidden('Signing in with a password is off.')
}
