import { and, eq, lt, or, sql } from 'drizzle-orm'
import { passkeys, users } from '../../db/schema.ts'
import type { Passkey } from '../../db/tables/passkeys.ts'
import type { Session } from '../../db/tables/sessions.ts'
import type { User } from '../../db/tables/users.ts'
import { displayError } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { admit, type SignIn, type Visitor } from '../login.ts'
import { equalSecrets } from '../secrets.ts'
import { type OpenedSession, openGuestSession, rememberInSession } from '../sessions.ts'
import { openChallenge, takeChallenge } from './challenge.ts'
import { requirePasskeys } from './relying-party.ts'
import {
  type AssertionInput,
  handleOf,
  type RequestOptions,
  requestOptions,
  verifyAssertion,
} from './webauthn.ts'

/**
 * A guest's session waits for a passkey; `session` is the one he has from now on, or null while he keeps his.
 * Refuses with 403 while passkeys cannot be used. Spec: POST /auth/passkeys/options.
 */
export async function askForPasskey(
  panel: Panel,
  session: Session | null,
  visitor: Visitor,
): Promise<{ options: RequestOptions; session: OpenedSession | null }> {
  const options = await requestOptions(await requirePasskeys(panel))
  const waiting = openChallenge(panel, 'login', options)
  if (session) {
    await rememberInSession(panel, session, waiting)
    return { options, session: null }
  }
  const opened = await openGuestSession(panel, waiting, {
    userAgent: visitor.userAgent,
    previous: visitor.token,
  })
  return { options, session: opened }
}

/**
 * Whoever holds a passkey is signed in to a new session, or asked for his second factor in one. The passkey was
 * asked for in this session, belongs to the account that it names, and its counter has gone on. Refuses
 * everything else with 400, alike, and with 403 while passkeys cannot be used. Records `auth:success`,
 * `auth:checkpoint` or `auth:fail`. Spec: POST /auth/passkeys/login.
 */
export async function signInWithPasskey(
  panel: Panel,
  session: Session | null,
  input: AssertionInput,
  visitor: Visitor,
): Promise<SignIn> {
  const party = await requirePasskeys(panel)
  const challenge = await takeChallenge(panel, session, 'login')
  const found = await findPasskey(panel, input.id)
  if (!found || !equalSecrets(input.response.userHandle, handleOf(found.user))) {
    throw await refused(panel, found?.user ?? null)
  }
  const { passkey, user } = found
  const counter = await verifyAssertion(party, challenge, input, passkey)
  if (counter === null) throw await refused(panel, user)
  // A copy of the passkey is about, or an old answer.
  if (!(await advance(panel, passkey, counter))) throw await refused(panel, user, { reason: 'counter' })
  return admit(panel, user, visitor, { method: 'passkey' })
}

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

/** The passkey was used; false when its counter did not go on. Passkeys that do not count stay at zero. */
async function advance(panel: Panel, { id }: Passkey, counter: number): Promise<boolean> {
  const countsNothing = counter === 0 ? eq(passkeys.counter, 0) : sql`false`
  const used = await panel.db
    .update(passkeys)
    .set({ counter, lastUsedAt: panel.now() })
    .where(and(eq(passkeys.id, id), or(lt(passkeys.counter, counter), countsNothing)))
    .returning({ id: passkeys.id })
  return used.length > 0
}

async function refused(panel: Panel, user: User | null, why: { reason?: string } = {}): Promise<Error> {
  const account = user ? { userId: user.id } : {}
  await record(panel, 'auth:fail', { ...account, properties: { method: 'passkey', ...why } })
  return displayError('The passkey was not accepted.')
}
