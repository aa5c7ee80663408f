import { Hono } from 'hono'
import { CheckpointInput, LoginInput, passCheckpoint, signIn } from '../../domain/login.ts'
import { closeSession } from '../../domain/sessions.ts'
import { body, returns, summary } from '../../http/route.ts'
import {
  authRateLimit,
  type BrowserEnv,
  browserSession,
  everybody,
  forgetSession,
  guest,
  keepSession,
  offerSession,
  signedIn,
} from './env.ts'
import { presentSignIn, SignInAnswer } from './resources/sign-in.ts'

/** Spec: Browser authentication. */
export const login = new Hono<BrowserEnv>()
  .get(
    '/sanctum/csrf-cookie',
    summary('Get what forms have to send back'),
    browserSession,
    everybody,
    returns(204),
    (c) => {
      offerSession(c)
      return c.body(null, 204)
    },
  )

  .post(
    '/auth/login',
    summary('Sign in with a password'),
    browserSession,
    guest,
    authRateLimit,
    body(LoginInput),
    returns(200, SignInAnswer),
    async (c) => {
      const outcome = await signIn(c.var.panel, c.req.valid('json'), c.var.visitor)
      keepSession(c, outcome.session)
      return c.json(presentSignIn(outcome))
    },
  )

  .post(
    '/auth/login/checkpoint',
    summary('Show the second factor'),
    browserSession,
    guest,
    authRateLimit,
    body(CheckpointInput),
    returns(200, SignInAnswer),
    async (c) => {
      const { panel, session, visitor } = c.var
      const outcome = await passCheckpoint(panel, session, c.req.valid('json'), visitor)
      keepSession(c, outcome.session)
      return c.json(presentSignIn(outcome))
    },
  )

  .post('/auth/logout', summary('Sign out'), browserSession, signedIn, returns(204), async (c) => {
    const { panel, visitor } = c.var
    if (visitor.token) await closeSession(panel, visitor.token)
    forgetSession(c)
    return c.body(null, 204)
  })
