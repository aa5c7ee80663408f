import { and, eq, sql, type WithSubquery } from 'drizzle-orm'
import * as z from 'zod'
import { sessions, users } from '../../db/schema.ts'
import type { Session } from '../../db/tables/sessions.ts'
import type { User } from '../../db/tables/users.ts'
import { ApiError, displayError } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent, recordEventCte } from '../activity/record.ts'
import { boolean, untrimmed } from '../fields.ts'
import { digest, equalSecrets, randomText } from '../secrets.ts'
import { requireUnsuspended } from './caller.ts'
import { captchaFields, readCaptchaResponse, requireCaptcha } from './captcha.ts'
import { countLoginAttempt, countNetworkAttempt, refundLoginAttemptCtes } from './login-attempts.ts'
import { clearAttempts, consumeAttempt } from './attempt-limits.ts'
import { createKnownBrowserToken, type KnownBrowser } from './known-browsers.ts'
import { checkAndRehashPassword, withPasswordCheck } from './password-hash.ts'
import { consumeRecoveryToken, findRecoveryHashes } from './recovery-tokens.ts'
import { createGuestSession, createSession, type NewSession } from './sessions.ts'
import { consumeTotpCode } from './two-factor.ts'

/** Codes per account, over all of its challenges. */
const codeAttemptLimit = { maxAttempts: 15, windowSeconds: 900 }

/** How long a challenge of the two-factor checkpoint lasts, and how many codes it accepts. */
const challengeSeconds = 300
const maxTries = 5
const confirmationLength = 64

/** `user` is a user name, or an e-mail address when it contains `@`. Spec: postAuthLogin. */
export const LoginInput = () =>
  z.object({
    user: z.string().max(191, 'max'),
    password: untrimmed(z.string().max(1024, 'max')),
    remember: boolean().nullish(),
    ...captchaFields(),
  })
type LoginInput = z.output<ReturnType<typeof LoginInput>>

/** Needs a code or a recovery token. Spec: postAuthLoginCheckpoint. */
export const CheckpointInput = () =>
  z
    .object({
      confirmation_token: z.string().max(255, 'max'),
      authentication_code: z
        .preprocess(
          (value) => (typeof value === 'number' ? String(value).padStart(6, '0') : value),
          z.string().regex(/^\d+$/, 'numeric').max(16, 'max'),
        )
        .meta({ alsoAccepts: [{ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }] })
        .nullish(),
      recovery_token: z.string().max(255, 'max').nullish(),
    })
    .refine(({ authentication_code: code, recovery_token: token }) => (code ?? token ?? null) !== null, {
      path: ['authentication_code'],
      error: 'required_without',
    })
type CheckpointInput = z.output<ReturnType<typeof CheckpointInput>>

/** The user agent of a browser, the token of the session that it has, and the account that it signed in to before. */
export type ClientInfo = { userAgent: string; token: string | null; knownBrowser: KnownBrowser | null }

/** The result of a sign-in: a session, or one that waits for a second factor under `confirmationToken`. */
export type SignIn =
  | { complete: true; user: User; session: NewSession }
  | { complete: false; confirmationToken: string; session: NewSession }

const invalidCredentials = () => displayError('credentials_wrong', 'The user name or password is wrong.')
const invalidCode = () => displayError('code_wrong', 'The code is wrong or has been used already.')

/** 400: the challenge accepts no further code. The rule tells a client that this is not a wrong code. */
function challengeClosed(rule: 'expired' | 'too_many_tries') {
  const meta = { source_field: 'confirmation_token', rule, reason: 'sign_in_ended' } as const
  return new ApiError(400, [
    { code: 'DisplayException', detail: 'This sign-in has ended. Sign in again.', meta },
  ])
}

/**
 * Signs in with name and password to a new session, or begins the two-factor checkpoint. The refusal and
 * its work are the same for an unknown name, a wrong password, and an account with two-factor
 * authentication. Records `auth:success`, `auth:checkpoint` or `auth:fail`.
 *
 * Refuses with 403 while signing in with a password is switched off, with 400 wrong credentials and a
 * missing captcha, with 429 as `countLoginAttempt` does, with 503 as `withPasswordCheck` does. Spec: postAuthLogin.
 */
export const signIn = (panel: Panel, input: LoginInput, clientInfo: ClientInfo): Promise<SignIn> =>
  withPasswordCheck(() => signInWithPassword(panel, input, clientInfo))

async function signInWithPassword(panel: Panel, input: LoginInput, clientInfo: ClientInfo): Promise<SignIn> {
  // Counted before the check, so that parallel guesses cannot exceed the limit.
  const network = await countNetworkAttempt(panel, clientInfo.knownBrowser)
  if (network.isCaptchaSet) await requireCaptcha(panel, readCaptchaResponse(input))
  const user = await countLoginAttempt(panel, input.user, clientInfo.knownBrowser, network)
  const { isValid, newHash } = await checkAndRehashPassword(
    input.password,
    user?.passwordHash ?? null,
    panel.config.passwordCost,
  )
  if (!user || !isValid) {
    await recordEvent(panel, 'auth:fail', {
      ...(user ? { userId: user.id } : {}),
      properties: { method: 'password' },
    })
    throw invalidCredentials()
  }
  const additionalCtes = refundLoginAttemptCtes(panel, user, clientInfo.knownBrowser)
  if (newHash !== null) additionalCtes.push(rehashPasswordCte(panel, user, newHash))
  return completeFirstFactor(panel, user, clientInfo, {
    remember: input.remember ?? false,
    method: 'password',
    additionalCtes,
  })
}

/** `method` is recorded; `additionalCtes` become part of the statement that creates the session. */
type SignInOptions = { method: string; remember?: boolean; additionalCtes?: WithSubquery[] }

/**
 * Continues after a proven first factor: starts a session, or begins the two-factor checkpoint. One
 * statement. Refuses with 403 a user whose sign-in is suspended. Records `auth:success` or `auth:checkpoint`.
 */
export async function completeFirstFactor(
  panel: Panel,
  user: User,
  clientInfo: ClientInfo,
  options: SignInOptions,
): Promise<SignIn> {
  requireUnsuspended(user)
  if (user.totpEnabledAt === null) return startSession(panel, user, clientInfo, options)
  const { method, remember = false, additionalCtes = [] } = options
  const confirmationToken = randomText(confirmationLength)
  const challenge = {
    userId: user.id,
    authVersion: user.authVersion,
    tokenHash: digest(confirmationToken),
    expiresAt: new Date(panel.now().getTime() + challengeSeconds * 1000).toISOString(),
    tries: 0,
    remember,
  }
  const recordedCte = recordEventCte(panel, 'auth:checkpoint', { userId: user.id, properties: { method } })
  const session = await createGuestSession(
    panel,
    { challenge },
    {
      userAgent: clientInfo.userAgent,
      previous: clientInfo.token,
      additionalCtes: [recordedCte, ...additionalCtes],
    },
  )
  return { complete: false, confirmationToken, session }
}

/**
 * Completes the two-factor checkpoint of this session and signs in to a new one. A challenge allows five
 * tries in five minutes and works once; a code works once, a recovery token is deleted.
 *
 * Refuses with 400 a challenge of another session, an expired one, and a wrong code; the error names
 * `confirmation_token` when no further code is accepted. Refuses with 429 too many wrong codes for the
 * account, and a recovery token with 503 as `withPasswordCheck` does. Records `auth:success` and `auth:token` or `auth:recovery-token`, or `auth:fail`. Spec:
 * docs/accounts.md#checkpoint.
 */
export const completeCheckpoint = (
  panel: Panel,
  session: Session | null,
  input: CheckpointInput,
  clientInfo: ClientInfo,
): Promise<SignIn> => {
  const complete = () => passCheckpoint(panel, session, input, clientInfo)
  return input.authentication_code ? complete() : withPasswordCheck(complete)
}

async function passCheckpoint(
  panel: Panel,
  session: Session | null,
  input: CheckpointInput,
  clientInfo: ClientInfo,
): Promise<SignIn> {
  const challenge = session?.data.challenge
  if (!session || !challenge) throw challengeClosed('expired')
  const triesLeft = await countTry(panel, session, input.confirmation_token)
  if (triesLeft === null) throw challengeClosed(challenge.tries < maxTries ? 'expired' : 'too_many_tries')
  const key = `checkpoint:${challenge.userId}`
  await consumeAttempt(panel, key, codeAttemptLimit)
  const [user] = await panel.db.select().from(users).where(eq(users.id, challenge.userId))
  if (!user?.totpEnabledAt || user.authVersion !== challenge.authVersion) throw challengeClosed('expired')
  const consumeFactor = await prepareSecondFactor(panel, user, input)
  const outcome = await inTransaction(panel, async (tx) => {
    const proof = await consumeFactor(tx)
    if (!proof) return null
    // Of parallel requests one ends the challenge; the factors of the others are not used up.
    if (!(await endChallenge(tx, session))) throw challengeClosed('expired')
    await recordEvent(tx, proof, { userId: user.id })
    return startSession(tx, user, clientInfo, { method: 'two-factor', remember: challenge.remember })
  })
  if (!outcome) {
    await recordEvent(panel, 'auth:fail', { userId: user.id, properties: { method: 'two-factor' } })
    throw triesLeft > 0 ? invalidCode() : challengeClosed('too_many_tries')
  }
  await clearAttempts(panel, key)
  return outcome
}

/**
 * Counts a try of the challenge in one statement. Returns how many are left, or null when none was left or
 * the confirmation token is wrong.
 */
async function countTry(panel: Panel, session: Session, token: string): Promise<number | null> {
  const path = sql`${sessions.data} #>`
  const updated = await panel.db
    .update(sessions)
    .set({
      data: sql`jsonb_set(${sessions.data}, '{challenge,tries}', to_jsonb((${path}> '{challenge,tries}')::int + 1))`,
    })
    .where(
      and(
        eq(sessions.id, session.id),
        sql`(${path}> '{challenge,tries}')::int < ${maxTries}`,
        sql`(${path}> '{challenge,expiresAt}')::timestamptz > ${panel.now().toISOString()}::timestamptz`,
      ),
    )
    .returning({
      hash: sql<string>`${path}> '{challenge,tokenHash}'`,
      tries: sql<number>`(${path}> '{challenge,tries}')::int`,
    })
  const [counted] = updated
  return counted && equalSecrets(counted.hash, digest(token)) ? maxTries - counted.tries : null
}

/** Deletes the challenge with its session. Returns false when it was gone already. */
async function endChallenge(tx: Tx, session: Session): Promise<boolean> {
  const ended = await tx.db.delete(sessions).where(eq(sessions.id, session.id)).returning({ id: sessions.id })
  return ended.length > 0
}

type SecondFactorEvent = 'auth:token' | 'auth:recovery-token'

/** Returns a function that uses up the submitted factor in a transaction. The slow hashes are done before. */
async function prepareSecondFactor(
  panel: Panel,
  user: User,
  { authentication_code: code, recovery_token: token }: CheckpointInput,
): Promise<(tx: Tx) => Promise<SecondFactorEvent | null>> {
  if (code) return async (tx) => ((await consumeTotpCode(tx, user, code)) ? 'auth:token' : null)
  if (!token) return async () => null
  const hashes = await findRecoveryHashes(panel, user, token)
  return async (tx) => ((await consumeRecoveryToken(tx, user.id, hashes)) ? 'auth:recovery-token' : null)
}

/**
 * Starts a session for the user and deletes the browser's previous one; the browser is known to the account
 * from then on. One statement. Refuses with 403 a user whose sign-in is suspended. Records `auth:success`.
 */
export async function startSession(
  tx: Tx,
  user: User,
  clientInfo: ClientInfo,
  { method, remember = false, additionalCtes = [] }: SignInOptions,
): Promise<SignIn> {
  requireUnsuspended(user)
  const actor = { kind: 'user' as const, user, apiKey: null }
  const recordedCte = recordEventCte(tx, 'auth:success', {
    userId: user.id,
    properties: { method },
    actor,
  })
  const session = await createSession(tx, user, {
    userAgent: clientInfo.userAgent,
    remember,
    previous: clientInfo.token,
    additionalCtes: [recordedCte, ...additionalCtes],
  })
  const knownBrowserToken = await createKnownBrowserToken(tx, user)
  return { complete: true, user, session: { ...session, knownBrowserToken } }
}

/** Replaces an outdated hash of the same password, unless the password has changed meanwhile. */
const rehashPasswordCte = (panel: Panel, { id, passwordHash: before }: User, passwordHash: string) =>
  panel.db.$with('renewed').as(
    panel.db
      .update(users)
      .set({ passwordHash })
      .where(and(eq(users.id, id), eq(users.passwordHash, before ?? '')))
      .returning({ id: users.id }),
  )
