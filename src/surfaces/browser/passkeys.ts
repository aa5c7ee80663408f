import { Hono } from 'hono'
import { beginPasskeySignIn, signInWithPasskey } from '../../domain/auth/passkeys/sign-in.ts'
import { AssertionInput } from '../../domain/auth/passkeys/webauthn.ts'
import { body, returns, summary } from '../../http/route.ts'
import { authRateLimit, type BrowserEnv, browserSession, guest, sendSessionCookies } from './middleware.ts'
import { RequestOptionsAnswer } from './resources/passkey-options.ts'
import { presentSignIn, SignInAnswer } from './resources/sign-in.ts'

/** Spec: docs/accounts.md#passkeys. */
export const passkeys = new Hono<BrowserEnv>()
  .post(
    '/options',
    summary('Get the options to sign in with a passkey'),
    browserSession,
    guest,
    authRateLimit,
    returns(200, RequestOptionsAnswer),
    async (c) => {
      const { options, session } = await beginPasskeySignIn(c.var.panel, c.var.session, c.var.clientInfo)
      if (session) sendSessionCookies(c, session)
      return c.json(options)
    },
  )

  .post(
    '/login',
    summary('Sign in with a passkey'),
    browserSession,
    guest,
    authRateLimit,
    body(AssertionInput),
    returns(200, SignInAnswer),
    async (c) => {
      const { panel, session, clientInfo } = c.var
      const outcome = await signInWithPasskey(panel, session, c.req.valid('json'), clientInfo)
      sendSessionCookies(c, outcome.session)
      return c.json(presentSignIn(outcome))
    },
  )
