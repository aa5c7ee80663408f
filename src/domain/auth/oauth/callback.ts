import { and, eq } from 'drizzle-orm'
import * as z from 'zod'
import type { ProviderIdentity } from '../../../adapters/oauth.ts'
import { identities, users } from '../../../db/schema.ts'
import type { Session } from '../../../db/tables/sessions.ts'
import type { User } from '../../../db/tables/users.ts'
import type { Panel } from '../../../panel.ts'
import { recordEvent } from '../../activity/record.ts'
import { type ClientInfo, completeFirstFactor } from '../login.ts'
import { storeInSession } from '../sessions.ts'
import {
  consumeOauthAttempt,
  logProviderFailure,
  type OauthRedirect,
  providerUnavailableMessage,
  signInPageUrl,
} from './attempts.ts'
import { storeConfirmationToken } from './checkpoint.ts'
import { linkIdentity } from './identities.ts'
import { loadProvider, type ProviderConfig, type ProviderId } from './providers.ts'

/** Query of a callback. Invalid values count as missing, because the user needs a page, not an error. */
export const CallbackQuery = () =>
  z.object({ code: queryParameter(), state: queryParameter(), error: queryParameter() })
type CallbackQuery = z.output<ReturnType<typeof CallbackQuery>>

const queryParameter = () => z.string().max(4096, 'max').nullish().catch(null)

/** The browser that comes back from the provider. */
type BrowserContext = { session: Session | null; clientInfo: ClientInfo }

/** The same with the page that the user wanted when the attempt began. */
type CallbackContext = BrowserContext & { intended?: string | undefined }

/**
 * Completes an attempt when the browser comes back from a provider. A sign-in succeeds when a user has
 * linked the identity (provider, issuer and subject, nothing else); it starts a session or begins the
 * two-factor checkpoint, and continues to the wanted page. A link adds the identity to the caller's
 * account. Every failure leads back to the page where the attempt began, which shows the reason once.
 *
 * Records `auth:success` or `auth:checkpoint`, `user:identity.create`, or `auth:fail`. Spec:
 * getAuthOauthByProviderCallback.
 */
export async function handleOauthCallback(
  panel: Panel,
  provider: ProviderId,
  query: CallbackQuery,
  browser: BrowserContext,
): Promise<OauthRedirect> {
  const providerConfig = await loadProvider(panel, provider)
  const attempt = await consumeOauthAttempt(panel, browser.session, provider, query.state ?? null)
  if (!attempt) {
    return redirectWithError(
      panel,
      browser,
      'This sign-in attempt has expired, or was begun in another browser. Try again.',
    )
  }
  const context = { ...browser, intended: attempt.intended }
  if (query.error || !query.code) {
    return redirectWithError(
      panel,
      context,
      `${providerConfig.name} did not confirm your identity: access was denied.`,
    )
  }
  const identity = await panel.oauth
    .identify(providerConfig, query.code, attempt)
    .catch(logProviderFailure(providerConfig))
  if (!identity) return redirectWithError(panel, context, providerUnavailableMessage(providerConfig))
  if (attempt.purpose === 'login') return signInWithIdentity(panel, providerConfig, identity, context)
  const refusal = await linkIdentity(panel, provider, identity)
  return refusal === null
    ? redirectWithMessage(panel, context, { notice: `Your ${providerConfig.name} account is linked.` })
    : redirectWithError(panel, context, refusal)
}

async function signInWithIdentity(
  panel: Panel,
  { provider, name }: ProviderConfig,
  identity: ProviderIdentity,
  context: CallbackContext,
): Promise<OauthRedirect> {
  const user = await findLinkedUser(panel, provider, identity)
  if (!user) {
    await recordEvent(panel, 'auth:fail', { properties: { method: provider } })
    const detail = `This ${name} account is not linked to an account here. Sign in another way and link it first.`
    return redirectWithError(panel, context, detail)
  }
  const outcome = await completeFirstFactor(panel, user, context.clientInfo, { method: provider })
  const { intended } = context
  if (outcome.complete) return { location: intended ?? '/', session: outcome.session }
  await storeConfirmationToken(panel, outcome.session, outcome.confirmationToken)
  return { location: signInPageUrl({ oauth: 'checkpoint', intended }), session: outcome.session }
}

/** Finds the account to which the identity is linked, and marks the identity as used. */
async function findLinkedUser(
  panel: Panel,
  provider: ProviderId,
  { issuer, subject }: ProviderIdentity,
): Promise<User | null> {
  const [linked] = await panel.db
    .update(identities)
    .set({ lastUsedAt: panel.now() })
    .where(
      and(eq(identities.provider, provider), eq(identities.issuer, issuer), eq(identities.subject, subject)),
    )
    .returning({ userId: identities.userId })
  if (!linked) return null
  const [user] = await panel.db.select().from(users).where(eq(users.id, linked.userId))
  return user ?? null
}

const redirectWithError = (panel: Panel, context: CallbackContext, error: string): Promise<OauthRedirect> =>
  redirectWithMessage(panel, context, { error })

/** Redirects to the page where the attempt began; it shows the message once. */
async function redirectWithMessage(
  panel: Panel,
  { session, clientInfo, intended }: CallbackContext,
  message: { notice: string } | { error: string },
): Promise<OauthRedirect> {
  const location = panel.actor.kind === 'user' ? '/account/sign-in' : signInPageUrl({ intended })
  const options = { userAgent: clientInfo.userAgent, previous: clientInfo.token }
  return { location, session: await storeInSession(panel, session, message, options) }
}
