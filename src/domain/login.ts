import { and, eq, sql, type WithSubquery } from 'drizzle-orm'
import * as z from 'zod'
import { recoveryTokens, sessions, users } from '../db/schema.ts'
import type { Session } from '../db/tables/sessions.ts'
import type { User } from '../db/tables/users.ts'
import { ApiError, displayError } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { recoveryTokenHash } from './account/recovery-tokens.ts'
import { spendTotpCode } from './account/two-factor.ts'
import { record, recording } from './activity.ts'
import { captchaFields, captchaResponse, requireCaptcha } from './captcha.ts'
import { boolean } from './fields.ts'
import { forgettingLoginAttempts, takeLoginAttempt, takeNetworkAttempt } from './login-attempts.ts'
import { checkPassword } from './password-hash.ts'
import { digest, equalSecrets, randomText } from './secrets.ts'
import { type OpenedSession, openGuestSession, openSession, type SessionData } from './sessions.ts'
import { clearThrottle, takeAttempt } from './throttles.ts'

/** Wrong codes for one account, over all of its challenges. */
const wrongCodes = { failures: 15, seconds: 900 }
/** How long somebody may look for his authenticator, and how often he may mistype. */
const challengeSeconds = 300
const mostTries = 5
const confirmationLength = 64

/** Spec: Browser authentication, login. `user` is a name, or an address when it has an `@`. */
export const LoginInput = () =>
  z.object({
    user: z.string().max(191, 'max'),
    password: z.string().max(1024, 'max'),
    remember: boolean().nullish(),
    ...captchaFields(),
  })
type LoginInput = z.output<ReturnType<typeof LoginInput>>

/** Spec: Browser authentication, checkpoint: one of the two. */
export const CheckpointInput = () =>
  z
    .object({
      confirmation_token: z.string().max(255, 'max'),
      authentication_code: z
        .preprocess(
          (value) => (typeof value === 'number' ? String(value).padStart(6, '0') : value),
          z.string().regex(/^\d+$/, 'numeric').max(16, 'max'),
        )
        .nullish(),
      recovery_token: z.string().max(255, 'max').nullish(),
    })
    .refine(({ authentication_code: code, recovery_token: token }) => (code ?? token ?? null) !== null, {
      path: ['authentication_code'],
      error: 'required_without',
    })
type CheckpointInput = z.output<ReturnType<typeof CheckpointInput>>

/** Whose browser asks: what it calls itself, and the token of the session it has. */
export type Visitor = { userAgent: string; token: string | null }

/** A session that is signed in, or one that waits for a code under `confirmationToken`. */
export type SignIn =
  | { complete: true; user: User; session: OpenedSession }
  | { complete: false; confirmationToken: string; session: OpenedSession }

const wrongCredentials = () => displayError('No account matches this name and password.')
const wrongCode = () => displayError('The code is not valid, or no longer.')

/** The challenge takes no further code; the rule tells pages apart from a wrong code what to say. */
function challengeOver(rule: 'expired' | 'too_many_tries') {
  const meta = { source_field: 'confirmation_token', rule }
  return new ApiError(400, [{ code: 'DisplayException', detail: 'This sign-in is over. Begin again.', meta }])
}

/**
 * Somebody who knows name and password is signed in to a new session, or asked for his second factor in one.
 * Whether the name exists, the password is wrong, or there is a second factor: the refusal, its work and its
 * bound are the same. Records `auth:success`, `auth:checkpoint` or `auth:fail`.
 *
 * Refuses with 403 while passwords are switched off, with 400, also without the captcha where one is set, and
 * with 429 after five wrong passwords for the name from one network, known or not.
 * Spec: Browser authentication, login.
 */
export async function signIn(panel: Panel, input: LoginInput, visitor: Visitor): Promise<SignIn> {
  // Counted first: of guesses that are made at once, no more get through.
  const { isCaptchaSet } = await takeNetworkAttempt(panel)
  if (isCaptchaSet) await requireCaptcha(panel, captchaResponse(input))
  const user = await takeLoginAttempt(panel, input.user)
  const { isRight, renewed } = await checkPassword(input.password, user?.passwordHash ?? null)
  if (!user || !isRight) {
    await record(panel, 'auth:fail', {
      ...(user ? { userId: user.id } : {}),
      properties: { method: 'password' },
    })
    throw wrongCredentials()
  }
  const alongside: WithSubquery[] = [forgettingLoginAttempts(panel, input.user)]
  if (renewed !== null) alongside.push(renewing(panel, user, renewed))
  return admit(panel, user, visitor, { remember: input.remember ?? false, method: 'password', alongside })
}

/** How somebody signs in, and what else the statement does that opens his session. */
type Way = { method: string; remember?: boolean; alongside?: WithSubquery[] }

/**
 * Somebody who has proven his first factor, whichever it was: signed in, or asked for the second one. One
 * statement. Records `auth:success` or `auth:checkpoint`.
 */
export async function admit(panel: Panel, user: User, visitor: Visitor, way: Way): Promise<SignIn> {
  if (user.totpEnabledAt === null) return complete(panel, user, visitor, way)
  const { method, remember = false, alongside = [] } = way
  const confirmationToken = randomText(confirmationLength)
  const challenge = {
    userId: user.id,
    authVersion: user.authVersion,
    tokenHash: digest(confirmationToken),
    expiresAt: new Date(panel.now().getTime() + challengeSeconds * 1000).toISOString(),
    tries: 0,
    remember,
  }
  const recorded = recording(panel, 'auth:checkpoint', { userId: user.id, properties: { method } })
  const session = await openGuestSession(
    panel,
    { challenge },
    { userAgent: visitor.userAgent, previous: visitor.token, alongside: [recorded, ...alongside] },
  )
  return { complete: false, confirmationToken, session }
}

/**
 * Who was asked for his second factor and has it is signed in to a new session. A challenge takes five tries
 * in five minutes and works once; a code of the authenticator works once, a recovery token is gone.
 * Refuses with 400 a challenge of another session, an ended one, and a wrong code: when no further code is
 * taken, the refusal is about `confirmation_token`. With 429 too many wrong codes. Records `auth:success` and
 * `auth:token` or `auth:recovery-token`. Spec: Browser authentication.
 */
export async function passCheckpoint(
  panel: Panel,
  session: Session | null,
  input: CheckpointInput,
  visitor: Visitor,
): Promise<SignIn> {
  const challenge = (session?.data as SessionData | undefined)?.challenge
  if (!session || !challenge) throw challengeOver('expired')
  const triesLeft = await takeTry(panel, session, input.confirmation_token)
  if (triesLeft === null) throw challengeOver(challenge.tries < mostTries ? 'expired' : 'too_many_tries')
  const key = `checkpoint:${challenge.userId}`
  await takeAttempt(panel, key, wrongCodes)
  const [user] = await panel.db.select().from(users).where(eq(users.id, challenge.userId))
  if (!user?.totpEnabledAt || user.authVersion !== challenge.authVersion) throw challengeOver('expired')
  const spend = await proofOf(user, input)
  const outcome = await inTransaction(panel, async (panel) => {
    const proof = await spend(panel)
    if (!proof) return null
    // Whatever else was shown for this challenge at the same moment is not spent.
    if (!(await endChallenge(panel, session))) throw challengeOver('expired')
    await record(panel, proof, { userId: user.id })
    return complete(panel, user, visitor, { method: 'two-factor', remember: challenge.remember })
  })
  if (!outcome) {
    await record(panel, 'auth:fail', { userId: user.id, properties: { method: 'two-factor' } })
    throw triesLeft > 0 ? wrongCode() : challengeOver('too_many_tries')
  }
  await clearThrottle(panel, key)
  return outcome
}

/** Takes one of the challenge's tries, in one statement: how many are left; null for none, or another's token. */
async function takeTry(panel: Panel, session: Session, token: string): Promise<number | null> {
  const path = sql`${sessions.data} #>`
  const taken = await panel.db
    .update(sessions)
    .set({
      data: sql`jsonb_set(${sessions.data}, '{challenge,tries}', to_jsonb((${path}> '{challenge,tries}')::int + 1))`,
    })
    .where(
      and(
        eq(sessions.id, session.id),
        sql`(${path}> '{challenge,tries}')::int < ${mostTries}`,
        sql`(${path}> '{challenge,expiresAt}')::timestamptz > ${panel.now().toISOString()}::timestamptz`,
      ),
    )
    .returning({
      hash: sql<string>`${path}> '{challenge,tokenHash}'`,
      tries: sql<number>`(${path}> '{challenge,tries}')::int`,
    })
  const [now] = taken
  return now && equalSecrets(now.hash, digest(token)) ? mostTries - now.tries : null
}

/** The challenge is over, with its session; false when it was so already. */
async function endChallenge(panel: Panel, session: Session): Promise<boolean> {
  const ended = await panel.db
    .delete(sessions)
    .where(eq(sessions.id, session.id))
    .returning({ id: sessions.id })
  return ended.length > 0
}

type Proof = 'auth:token' | 'auth:recovery-token'

/** How the second factor that was shown is spent; the slow half is done before the transaction begins. */
async function proofOf(
  user: User,
  { authentication_code: code, recovery_token: token }: CheckpointInput,
): Promise<(panel: Panel) => Promise<Proof | null>> {
  if (code) return async (panel) => ((await spendTotpCode(panel, user, code)) ? 'auth:token' : null)
  if (!token) return async () => null
  const tokenHash = await recoveryTokenHash(user, token)
  return async (panel) => {
    const spent = await panel.db
      .delete(recoveryTokens)
      .where(and(eq(recoveryTokens.userId, user.id), eq(recoveryTokens.tokenHash, tokenHash)))
      .returning({ id: recoveryTokens.id })
    return spent.length > 0 ? 'auth:recovery-token' : null
  }
}

/**
 * Signs in to a new session: the one before, with whatever it waited for, is gone. One statement. Records
 * `auth:success`.
 */
export async function complete(
  panel: Panel,
  user: User,
  visitor: Visitor,
  { method, remember = false, alongside = [] }: Way,
): Promise<SignIn> {
  const actor = { kind: 'user' as const, user, apiKey: null }
  const recorded = recording(panel, 'auth:success', { userId: user.id, properties: { method }, actor })
  const session = await openSession(panel, user, {
    userAgent: visitor.userAgent,
    remember,
    previous: visitor.token,
    alongside: [recorded, ...alongside],
  })
  return { complete: true, user, session }
}

/** The account's hash gives way to another of the same password, unless it has a new password meanwhile. */
const renewing = (panel: Panel, { id, passwordHash: before }: User, passwordHash: string) =>
  panel.db.$with('renewed').as(
    panel.db
      .update(users)
      .set({ passwordHash })
      .where(and(eq(users.id, id), eq(users.passwordHash, before ?? '')))
      .returning({ id: users.id }),
  )
