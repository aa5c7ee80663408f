import type * as z from 'zod'
import { unauthenticated, unavailable } from '../../errors.ts'
import type { Session } from '../../db/tables/sessions.ts'
import { causeOf, log } from '../../log.ts'
import type { Panel } from '../../panel.ts'
import { callersAccount } from '../account/caller.ts'
import { type PasswordProof, requirePassword } from '../account/current-password.ts'
import { intendedPath } from '../intended-path.ts'
import type { Visitor } from '../login.ts'
import { equalSecrets, randomText } from '../secrets.ts'
import {
  type OpenedSession,
  openGuestSession,
  rememberInSession,
  type SessionData,
  takeFromSession,
} from '../sessions.ts'
import { type OpenProvider, openProvider, type ProviderId } from './providers.ts'

/** What somebody set out to do at a provider, as his session remembers it. */
export type Attempt = NonNullable<SessionData['oauth']>

/** Where the browser goes next, and the session it has from now on; null leaves it the one it has. */
export type Step = { location: string; session: OpenedSession | null }

/** Minutes within which somebody has to come back from the provider. */
const attemptMinutes = 10

/**
 * A guest is on his way to the provider, with a new session that knows him when he comes back, and the page
 * of ours that he wanted; any other is forgotten. When the provider cannot be found out about he stays, and the
 * page says so. Spec: GET /auth/oauth/{provider}.
 */
export async function beginSignIn(
  panel: Panel,
  provider: ProviderId,
  visitor: Visitor,
  wanted: string | null,
): Promise<Step> {
  const options = { userAgent: visitor.userAgent, previous: visitor.token }
  const opened = await openProvider(panel, provider)
  const intended = intendedPath(panel.config.url, wanted ?? '')
  const attempt = newAttempt(panel, provider, 'login', null)
  const oauth = intended === null ? attempt : { ...attempt, intended }
  const location = await panel.oauth.authorizationUrl(opened, oauth).catch(logFailure(opened))
  if (location === null) {
    const session = await openGuestSession(panel, { error: silenceOf(opened) }, options)
    return { location: signInPage({ intended }), session }
  }
  return { location, session: await openGuestSession(panel, { oauth }, options) }
}

/**
 * The address at which the caller agrees that his account there is linked to the one here; only he can
 * finish it, in this session. Refuses with 400 a wrong password, with 503 when the provider does not answer.
 * Spec: POST /account/security/oauth/{provider}.
 */
export async function beginLink(
  panel: Panel,
  session: Session | null,
  provider: ProviderId,
  { current_password: password }: z.output<ReturnType<typeof PasswordProof>>,
): Promise<string> {
  if (!session) throw unauthenticated()
  const user = callersAccount(panel)
  const opened = await openProvider(panel, provider)
  await requirePassword(panel, user, password)
  const oauth = newAttempt(panel, provider, 'link', user.id)
  const location = await panel.oauth.authorizationUrl(opened, oauth).catch(logFailure(opened))
  if (location === null) throw unavailable(silenceOf(opened))
  await rememberInSession(panel, session, { oauth })
  return location
}

/**
 * The attempt of this session to which an answer of the provider belongs: it is taken, so of many equal
 * answers one finds it. Null for an answer to nobody, to somebody else, or too late.
 */
export async function takeAttemptOf(
  panel: Panel,
  session: Session | null,
  provider: ProviderId,
  state: string | null,
): Promise<Attempt | null> {
  const begun = (session?.data as SessionData | undefined)?.oauth
  if (!session || !begun || !state || !equalSecrets(state, begun.state)) return null
  const attempt = await takeFromSession(panel, session, 'oauth')
  if (!attempt || attempt.provider !== provider) return null
  const isInTime = Date.parse(attempt.expiresAt) > panel.now().getTime()
  return isInTime && isBegunByCaller(panel, attempt) ? attempt : null
}

/** Whoever is signed in links for himself; whoever signs in is nobody yet. */
function isBegunByCaller({ actor }: Panel, { purpose, userId }: Attempt): boolean {
  if (purpose === 'link') return actor.kind === 'user' && actor.user.id === userId
  return actor.kind === 'guest'
}

const newAttempt = (
  panel: Panel,
  provider: ProviderId,
  purpose: Attempt['purpose'],
  userId: number | null,
): Attempt => ({
  provider,
  state: randomText(48),
  verifier: randomText(64),
  nonce: randomText(48),
  purpose,
  userId,
  expiresAt: new Date(panel.now().getTime() + attemptMinutes * 60_000).toISOString(),
})

/** The page to sign in, with what it is to know. */
export function signInPage(known: { oauth?: 'checkpoint'; intended?: string | null | undefined }): string {
  const query = new URLSearchParams(known.oauth ? { oauth: known.oauth } : {})
  if (known.intended) query.set('intended', known.intended)
  return query.size > 0 ? `/auth/login?${query}` : '/auth/login'
}

/** What people read when a provider gives no answer that can be used. */
export const silenceOf = ({ name }: OpenProvider): string =>
  `${name} gave no answer that can be used. Try again in a moment.`

/** Tells the operator why, and goes on with null. */
export const logFailure =
  ({ provider }: OpenProvider) =>
  (error: unknown): null => {
    log('warn', 'A provider of sign-ins did not help.', { provider, cause: causeOf(error) })
    return null
  }
