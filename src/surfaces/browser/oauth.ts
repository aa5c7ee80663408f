import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { CurrentPasswordInput } from '../../domain/auth/current-password.ts'
import { beginOauthLink, beginOauthSignIn, type OauthRedirect } from '../../domain/auth/oauth/attempts.ts'
import { CallbackQuery, handleOauthCallback } from '../../domain/auth/oauth/callback.ts'
import { unlinkIdentity } from '../../domain/auth/oauth/identities.ts'
import { ProviderPath } from '../../domain/auth/oauth/providers.ts'
import { readSignInMethods } from '../../domain/auth/sign-in-methods.ts'
import { pathId } from '../../domain/fields.ts'
import { noPermission } from '../../http/public-route.ts'
import { body, params, query, returns, summary } from '../../http/route.ts'
import {
  authRateLimit,
  type BrowserEnv,
  browserSession,
  guest,
  sendSessionCookies,
  signedIn,
} from './middleware.ts'
import { MethodsAnswer, presentMethods } from './resources/sign-in-methods.ts'

function redirectTo(c: Context<BrowserEnv>, { location, session }: OauthRedirect) {
  if (session) sendSessionCookies(c, session)
  return c.redirect(location, 302)
}

/** Spec: docs/accounts.md#providers. */
export const oauth = new Hono<BrowserEnv>()
  .get(
    '/auth/methods',
    summary('List the sign-in methods'),
    browserSession,
    guest,
    authRateLimit,
    query(() => z.object({ oauth: z.string().nullish() })),
    returns(200, MethodsAnswer),
    async (c) => {
      const { panel, session } = c.var
      const isCheckpoint = c.req.valid('query').oauth === 'checkpoint'
      return c.json(
        presentMethods(await readSignInMethods(panel, session, { asksForCheckpoint: isCheckpoint })),
      )
    },
  )

  .get(
    '/auth/oauth/:provider',
    summary('Redirect to an OAuth provider to sign in'),
    browserSession,
    guest,
    authRateLimit,
    params(ProviderPath),
    // An invalid value is ignored: the user still gets to the provider.
    query(() => z.object({ intended: z.string().nullish().catch(null) })),
    returns(302),
    async (c) => {
      const { panel, clientInfo } = c.var
      const { intended } = c.req.valid('query')
      return redirectTo(
        c,
        await beginOauthSignIn(panel, c.req.valid('param').provider, clientInfo, intended ?? null),
      )
    },
  )

  .get(
    '/auth/oauth/:provider/callback',
    summary('Handle the callback of an OAuth provider'),
    browserSession,
    noPermission,
    authRateLimit,
    params(ProviderPath),
    query(CallbackQuery),
    returns(302),
    async (c) => {
      const { panel, session, clientInfo } = c.var
      const { provider } = c.req.valid('param')
      return redirectTo(
        c,
        await handleOauthCallback(panel, provider, c.req.valid('query'), { session, clientInfo }),
      )
    },
  )

  .post(
    '/account/security/oauth/:provider',
    summary('Start linking an OAuth account'),
    browserSession,
    signedIn,
    authRateLimit,
    params(ProviderPath),
    body(CurrentPasswordInput),
    returns(200, () => z.strictObject({ redirect: z.url() })),
    async (c) => {
      const { panel, session } = c.var
      const { provider } = c.req.valid('param')
      return c.json({ redirect: await beginOauthLink(panel, session, provider, c.req.valid('json')) })
    },
  )

  .delete(
    '/account/security/oauth/:id',
    summary('Unlink an OAuth account'),
    browserSession,
    signedIn,
    authRateLimit,
    params(() => z.object({ id: pathId() })),
    body(CurrentPasswordInput),
    returns(204),
    async (c) => {
      await unlinkIdentity(c.var.panel, c.req.valid('param').id, c.req.valid('json').current_password)
      return c.body(null, 204)
    },
  )
