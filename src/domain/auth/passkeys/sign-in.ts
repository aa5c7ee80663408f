import { and, eq, lt, or, sql } from 'drizzle-orm'
import { passkeys, users } from '../../../db/schema.ts'
import type { Passkey } from '../../../db/tables/passkeys.ts'
import type { Session } from '../../../db/tables/sessions.ts'
import type { User } from '../../../db/tables/users.ts'
import { displayError } from '../../../errors.ts'
import { networkOf } from '../../../ip-addresses.ts'
import type { Panel } from '../../../panel.ts'
import { recordEvent } from '../../activity/record.ts'
import { equalSecrets } from '../../secrets.ts'
import { clearAttemptsCte, consumeAttempt } from '../attempt-limits.ts'
import { type ClientInfo, completeFirstFactor, type SignIn } from '../login.ts'
import { type NewSession, storeInSession } from '../sessions.ts'
import { consumeChallenge, createChallenge } from './challenge.ts'
import { requirePasskeys } from './relying-party.ts'
import {
  type AssertionInput,
  requestOptions,
  type RequestOptions,
  toUserHandle,
  verifyAssertion,
} from './webauthn.ts'

/** Refused attempts with one passkey from one network. */
const attemptLimit = { maxAttempts: 10, windowSeconds: 900 }

/**
 * Begins a sign-in with a passkey. `session` is the browser's new guest session, or null when it keeps its
 * own. Refuses with 403 while passkeys cannot be used. Spec: postAuthPasskeysOptions.
 */
export async function beginPasskeySignIn(
  panel: Panel,
  session: Session | null,
  clientInfo: ClientInfo,
): Promise<{ options: RequestOptions; session: NewSession | null }> {
  const options = await requestOptions(await requirePasskeys(panel))
  const newSession = await storeInSession(panel, session, createChallenge(panel, 'login', options), {
    userAgent: clientInfo.userAgent,
    previous: clientInfo.token,
  })
  return { options, session: newSession }
}

/**
 * Signs in with a passkey to a new session, or begins the two-factor checkpoint. The passkey must answer
 * the challenge of this session, belong to the account that it names, and have a higher counter than
 * before. Refuses everything else with the same 400, with 403 while passkeys cannot be used, and with 429
 * the eleventh attempt with one passkey from one network in 15 minutes; attempts with passwords do not
 * count. Records `auth:success`, `auth:checkpoint` or `auth:fail`. Spec: postAuthPasskeysLogin.
 */
export async function signInWithPasskey(
  panel: Panel,
  session: Session | null,
  input: AssertionInput,
  clientInfo: ClientInfo,
): Promise<SignIn> {
  const relyingParty = await requirePasskeys(panel)
  const challenge = await consumeChallenge(panel, session, 'login')
  const found = await findPasskey(panel, input.id)
  if (!found || !equalSecrets(input.response.userHandle, userHandleOf(found))) {
    throw await recordRefusal(panel, found?.user ?? null)
  }
  const { passkey, user } = found
  const attemptKey = `login-passkey:${passkey.id}:${networkOf(panel.ip)}`
  await consumeAttempt(panel, attemptKey, attemptLimit)
  const counter = await verifyAssertion(relyingParty, challenge, input, passkey)
  if (counter === null) throw await recordRefusal(panel, user)
  // The counter did not increase: the passkey was copied, or the answer is an old one.
  if (!(await advanceCounter(panel, passkey, counter)))
    throw await recordRefusal(panel, user, { reason: 'counter' })
  const additionalCtes = [clearAttemptsCte(panel, attemptKey)]
  return completeFirstFactor(panel, user, clientInfo, { method: 'passkey', additionalCtes })
}

/** One that moved in from another panel names the account as that panel did. */
const userHandleOf = ({ passkey, user }: { passkey: Passkey; user: User }): string =>
  passkey.userHandle ?? toUserHandle(user)

async function findPasskey(
  panel: Panel,
  credentialId: string,
): Promise<{ passkey: Passkey; user: User } | null> {
  const [found] = await panel.db
    .select({ passkey: passkeys, user: users })
    .from(passkeys)
    .innerJoin(users, eq(users.id, passkeys.userId))
    .where(eq(passkeys.credentialId, credentialId))
  return found ?? null
}

/**
 * Stores the counter of the passkey. Returns false when it did not increase. Passkeys without a counter
 * stay at 0.
 */
async function advanceCounter(panel: Panel, { id }: Passkey, counter: number): Promise<boolean> {
  const hasNoCounter = counter === 0 ? eq(passkeys.counter, 0) : sql`false`
  const used = await panel.db
    .update(passkeys)
    .set({ counter, lastUsedAt: panel.now() })
    .where(and(eq(passkeys.id, id), or(lt(passkeys.counter, counter), hasNoCounter)))
    .returning({ id: passkeys.id })
  return used.length > 0
}

/** Records `auth:fail` and returns the error, which is the same for every reason. */
async function recordRefusal(
  panel: Panel,
  user: User | null,
  details: { reason?: string } = {},
): Promise<Error> {
  const account = user ? { userId: user.id } : {}
  await recordEvent(panel, 'auth:fail', { ...account, properties: { method: 'passkey', ...details } })
  return displayError('passkey_refused', 'The passkey was not accepted.')
}
