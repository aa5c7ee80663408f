import { Hono } from 'hono'
import { askForPasskey, signInWithPasskey } from '../../domain/passkeys/sign-in.ts'
import { AssertionInput } from '../../domain/passkeys/webauthn.ts'
import { body, returns, summary } from '../../http/route.ts'
import { authRateLimit, type BrowserEnv, browserSession, guest, keepSession } from './env.ts'
import { RequestOptionsAnswer } from './resources/passkey-options.ts'
import { presentSignIn, SignInAnswer } from './resources/sign-in.ts'

/** Spec: Browser authentication, passkeys. */
export const passkeys = new Hono<BrowserEnv>()
  .post(
    '/options',
    summary('Ask for a passkey to sign in with'),
    browserSession,
    guest,
    authRateLimit,
    returns(200, RequestOptionsAnswer),
    async (c) => {
      const { options, session } = await askForPasskey(c.var.panel, c.var.session, c.var.visitor)
      if (session) keepSession(c, session)
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
      const { panel, session, visitor } = c.var
      const outcome = await signInWithPasskey(panel, session, c.req.valid('json'), visitor)
      keepSession(c, outcome.session)
      return c.json(presentSignIn(outcome))
    },
  )
