import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { PasswordProof } from '../../domain/account/current-password.ts'
import { pathId } from '../../domain/fields.ts'
import { beginLink, beginSignIn, type Step } from '../../domain/oauth/attempts.ts'
import { finishAttempt, ProviderAnswer } from '../../domain/oauth/callback.ts'
import { unlinkIdentity } from '../../domain/oauth/identities.ts'
import { ProviderPath } from '../../domain/oauth/providers.ts'
import { readMethods } from '../../domain/sign-in-methods.ts'
import { body, params, query, returns, summary } from '../../http/route.ts'
import {
  authRateLimit,
  type BrowserEnv,
  browserSession,
  everybody,
  guest,
  keepSession,
  signedIn,
} from './env.ts'
import { MethodsAnswer, presentMethods } from './resources/sign-in-methods.ts'

function follow(c: Context<BrowserEnv>, { location, session }: Step) {
  if (session) keepSession(c, session)
  return c.redirect(location, 302)
}

/** Spec: Browser authentication: methods and OAuth. */
export const oauth = new Hono<BrowserEnv>()
  .get(
    '/auth/methods',
    summary('List the ways to sign in'),
    browserSession,
    guest,
    authRateLimit,
    query(() => z.object({ oauth: z.string().nullish() })),
    returns(200, MethodsAnswer),
    async (c) => {
      const { panel, session } = c.var
      const asksForCheckpoint = c.req.valid('query').oauth === 'checkpoint'
      return c.json(presentMethods(await readMethods(panel, session, { asksForCheckpoint })))
    },
  )

  .get(
    '/auth/oauth/:provider',
    summary('Go to a provider to sign in'),
    browserSession,
    guest,
    authRateLimit,
    params(ProviderPath),
    // Whatever it is, the person gets to the provider, so nothing is refused here.
    query(() => z.object({ intended: z.string().nullish().catch(null) })),
    returns(302),
    async (c) => {
      const { panel, visitor } = c.var
      const { intended } = c.req.valid('query')
      return follow(c, await beginSignIn(panel, c.req.valid('param').provider, visitor, intended ?? null))
    },
  )

  .get(
    '/auth/oauth/:provider/callback',
    summary('Come back from a provider'),
    browserSession,
    everybody,
    authRateLimit,
    params(ProviderPath),
    query(ProviderAnswer),
    returns(302),
    async (c) => {
      const { panel, session, visitor } = c.var
      const { provider } = c.req.valid('param')
      return follow(c, await finishAttempt(panel, provider, c.req.valid('query'), { session, visitor }))
    },
  )

  .post(
    '/account/security/oauth/:provider',
    summary('Begin to link an account at a provider'),
    browserSession,
    signedIn,
    authRateLimit,
    params(ProviderPath),
    body(PasswordProof),
    returns(200, () => z.strictObject({ redirect: z.url() })),
    async (c) => {
      const { panel, session } = c.var
      const { provider } = c.req.valid('param')
      return c.json({ redirect: await beginLink(panel, session, provider, c.req.valid('json')) })
    },
  )

  .delete(
    '/account/security/oauth/:id',
    summary('Unlink an account at a provider'),
    browserSession,
    signedIn,
    authRateLimit,
    params(() => z.object({ id: pathId() })),
    body(PasswordProof),
    returns(204),
    async (c) => {
      await unlinkIdentity(c.var.panel, c.req.valid('param').id, c.req.valid('json').current_password)
      return c.body(null, 204)
    },
  )
