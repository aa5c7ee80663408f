import type * as z from 'zod'
import type { Session, SessionData } from '../../../db/tables/sessions.ts'
import { unauthenticated, unavailable } from '../../../errors.ts'
import { causeOf, log } from '../../../log.ts'
import type { Panel } from '../../../panel.ts'
import { equalSecrets, randomText } from '../../secrets.ts'
import { requireCaller } from '../caller.ts'
import { type CurrentPasswordInput, requireCurrentPassword } from '../current-password.ts'
import { resolveIntendedPath } from '../intended-path.ts'
import type { ClientInfo } from '../login.ts'
import { createGuestSession, mergeSessionData, type NewSession, takeSessionData } from '../sessions.ts'
import { loadProvider, type ProviderConfig, type ProviderId } from './providers.ts'

/** A sign-in or a link that was begun at a provider, as the session stores it. */
export type OauthAttempt = NonNullable<SessionData['oauth']>

/** Where the browser goes next, and its new session; null keeps the current one. */
export type OauthRedirect = { location: string; session: NewSession | null }

/** Minutes within which the user has to come back from the provider. */
const attemptMinutes = 10

/**
 * Begins a sign-in at a provider: stores the attempt and the page that the user wanted in a new guest
 * session, and returns the address of the provider. When the provider cannot be reached, returns to the
 * sign-in page, which shows an error. Spec: getAuthOauthByProvider.
 */
export async function beginOauthSignIn(
  panel: Panel,
  provider: ProviderId,
  clientInfo: ClientInfo,
  intendedUrl: string | null,
): Promise<OauthRedirect> {
  const options = { userAgent: clientInfo.userAgent, previous: clientInfo.token }
  const providerConfig = await loadProvider(panel, provider)
  const intended = resolveIntendedPath(panel.config.url, intendedUrl ?? '')
  const attempt = newAttempt(panel, provider, 'login', null)
  const oauth = intended === null ? attempt : { ...attempt, intended }
  const location = await panel.oauth
    .authorizationUrl(providerConfig, oauth)
    .catch(logProviderFailure(providerConfig))
  if (location === null) {
    const session = await createGuestSession(
      panel,
      { error: providerUnavailableMessage(providerConfig) },
      options,
    )
    return { location: signInPageUrl({ intended }), session }
  }
  return { location, session: await createGuestSession(panel, { oauth }, options) }
}

/**
 * Begins to link an account at a provider to the caller's, and returns the address where they agree; only
 * this session can finish it. Refuses with 400 a wrong password, with 503 when the provider does not
 * answer. Spec: postAccountSecurityOauthByProvider.
 */
export async function beginOauthLink(
  panel: Panel,
  session: Session | null,
  provider: ProviderId,
  { current_password: password }: z.output<ReturnType<typeof CurrentPasswordInput>>,
): Promise<string> {
  if (!session) throw unauthenticated()
  const user = requireCaller(panel)
  const providerConfig = await loadProvider(panel, provider)
  await requireCurrentPassword(panel, user, password)
  const oauth = newAttempt(panel, provider, 'link', user.id)
  const location = await panel.oauth
    .authorizationUrl(providerConfig, oauth)
    .catch(logProviderFailure(providerConfig))
  if (location === null)
    throw unavailable('sign_in_provider_unavailable', providerUnavailableMessage(providerConfig), {
      values: { provider: providerConfig.name },
    })
  await mergeSessionData(panel, session, { oauth })
  return location
}

/**
 * Takes the attempt that an answer of the provider belongs to out of the session; parallel answers get it
 * once. Returns null for an unknown, expired or foreign answer.
 */
export async function consumeOauthAttempt(
  panel: Panel,
  session: Session | null,
  provider: ProviderId,
  state: string | null,
): Promise<OauthAttempt | null> {
  const stored = session?.data.oauth
  if (!session || !stored || !state || !equalSecrets(state, stored.state)) return null
  const attempt = await takeSessionData(panel, session, 'oauth')
  if (!attempt || attempt.provider !== provider) return null
  const isUnexpired = Date.parse(attempt.expiresAt) > panel.now().getTime()
  return isUnexpired && isStartedByCaller(panel, attempt) ? attempt : null
}

/** Only the user who began to link can finish it, and only a guest can finish a sign-in. */
function isStartedByCaller({ actor }: Panel, { purpose, userId }: OauthAttempt): boolean {
  if (purpose === 'link') return actor.kind === 'user' && actor.user.id === userId
  return actor.kind === 'guest'
}

const newAttempt = (
  panel: Panel,
  provider: ProviderId,
  purpose: OauthAttempt['purpose'],
  userId: number | null,
): OauthAttempt => ({
  provider,
  state: randomText(48),
  verifier: randomText(64),
  nonce: randomText(48),
  purpose,
  userId,
  expiresAt: new Date(panel.now().getTime() + attemptMinutes * 60_000).toISOString(),
})

/** Returns the address of the sign-in page with its parameters. */
export function signInPageUrl(params: {
  oauth?: 'checkpoint'
  intended?: string | null | undefined
}): string {
  const query = new URLSearchParams(params.oauth ? { oauth: params.oauth } : {})
  if (params.intended) query.set('intended', params.intended)
  return query.size > 0 ? `/auth/login?${query}` : '/auth/login'
}

/** Tells the user that the provider did not answer as expected. */
export const providerUnavailableMessage = ({ name }: ProviderConfig): string =>
  `${name} did not answer as expected. Try again in a moment.`

/** Logs the failure of a provider for operators, and returns null. */
export const logProviderFailure =
  ({ provider }: ProviderConfig) =>
  (error: unknown): null => {
    log('warn', 'A sign-in provider failed.', { provider, cause: causeOf(error) })
    return null
  }
