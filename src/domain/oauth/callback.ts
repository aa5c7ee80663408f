import { and, eq } from 'drizzle-orm'
import * as z from 'zod'
import type { ProvidedIdentity } from '../../adapters/oauth.ts'
import { identities, users } from '../../db/schema.ts'
import type { Session } from '../../db/tables/sessions.ts'
import type { User } from '../../db/tables/users.ts'
import type { Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { admit, type Visitor } from '../login.ts'
import { openGuestSession, rememberInSession } from '../sessions.ts'
import { logFailure, signInPage, silenceOf, type Step, takeAttemptOf } from './attempts.ts'
import { keepConfirmationToken } from './checkpoint.ts'
import { linkIdentity } from './identities.ts'
import { type OpenProvider, openProvider, type ProviderId } from './providers.ts'

/** What providers send along. Whatever it is, the person gets a page, so nothing is refused here. */
export const ProviderAnswer = () => z.object({ code: parameter(), state: parameter(), error: parameter() })
type ProviderAnswer = z.output<ReturnType<typeof ProviderAnswer>>

const parameter = () => z.string().max(4096, 'max').nullish().catch(null)

/** Who comes back: what the surface knows of his browser. */
type Browser = { session: Session | null; visitor: Visitor }

/** The same, with the page that he wanted when he set out. */
type Returning = Browser & { intended?: string | undefined }

/**
 * Somebody comes back from a provider. Whoever set out to sign in is signed in, or asked for his second
 * factor, when a user linked this identity before: by provider, issuer and subject, and by nothing else. He goes
 * on to the page that he wanted. Whoever set out to link has it linked. Everybody else goes back to where he came
 * from, and the page says why, once.
 * Records `auth:success` or `auth:checkpoint`, `user:identity.create`, or `auth:fail`.
 * Spec: GET /auth/oauth/{provider}/callback.
 */
export async function finishAttempt(
  panel: Panel,
  provider: ProviderId,
  answer: ProviderAnswer,
  browser: Browser,
): Promise<Step> {
  const opened = await openProvider(panel, provider)
  const attempt = await takeAttemptOf(panel, browser.session, provider, answer.state ?? null)
  if (!attempt) {
    return turnBack(panel, browser, 'This attempt has ended, or was begun in another browser. Begin again.')
  }
  const returning = { ...browser, intended: attempt.intended }
  if (answer.error || !answer.code) {
    return turnBack(panel, returning, `${opened.name} did not tell who you are: it was not allowed to.`)
  }
  const identity = await panel.oauth.identify(opened, answer.code, attempt).catch(logFailure(opened))
  if (!identity) return turnBack(panel, returning, silenceOf(opened))
  if (attempt.purpose === 'login') return enter(panel, opened, identity, returning)
  const refusal = await linkIdentity(panel, provider, identity)
  return refusal === null
    ? leaveNote(panel, returning, { notice: `Your account at ${opened.name} is linked.` })
    : turnBack(panel, returning, refusal)
}

async function enter(
  panel: Panel,
  { provider, name }: OpenProvider,
  identity: ProvidedIdentity,
  returning: Returning,
): Promise<Step> {
  const user = await findLinked(panel, provider, identity)
  if (!user) {
    await record(panel, 'auth:fail', { properties: { method: provider } })
    const detail = `Nobody has linked this account at ${name}. Sign in another way and link it first.`
    return turnBack(panel, returning, detail)
  }
  const outcome = await admit(panel, user, returning.visitor, { method: provider })
  const { intended } = returning
  if (outcome.complete) return { location: intended ?? '/', session: outcome.session }
  await keepConfirmationToken(panel, outcome.session, outcome.confirmationToken)
  return { location: signInPage({ oauth: 'checkpoint', intended }), session: outcome.session }
}

/** The account to which the identity is linked; it counts as used. */
async function findLinked(
  panel: Panel,
  provider: ProviderId,
  { issuer, subject }: ProvidedIdentity,
): Promise<User | null> {
  const [used] = await panel.db
    .update(identities)
    .set({ lastUsedAt: panel.now() })
    .where(
      and(eq(identities.provider, provider), eq(identities.issuer, issuer), eq(identities.subject, subject)),
    )
    .returning({ userId: identities.userId })
  if (!used) return null
  const [user] = await panel.db.select().from(users).where(eq(users.id, used.userId))
  return user ?? null
}

const turnBack = (panel: Panel, returning: Returning, error: string): Promise<Step> =>
  leaveNote(panel, returning, { error })

/** The page that he sees next says it, once. */
async function leaveNote(
  panel: Panel,
  { session, visitor, intended }: Returning,
  note: { notice: string } | { error: string },
): Promise<Step> {
  const location = panel.actor.kind === 'user' ? '/account/sign-in' : signInPage({ intended })
  if (session) {
    await rememberInSession(panel, session, note)
    return { location, session: null }
  }
  const options = { userAgent: visitor.userAgent, previous: visitor.token }
  return { location, session: await openGuestSession(panel, note, options) }
}
