import { Hono } from 'hono'
import { leaveActing } from '../../domain/auth/acting.ts'
import { CheckpointInput, completeCheckpoint, LoginInput, signIn } from '../../domain/auth/login.ts'
import { deleteSession } from '../../domain/auth/sessions.ts'
import { declarePermission } from '../../http/metadata.ts'
import { noPermission } from '../../http/public-route.ts'
import { body, returns, summary } from '../../http/route.ts'
import {
  authRateLimit,
  type BrowserEnv,
  browserSession,
  clearSession,
  ensureSession,
  guest,
  sendSessionCookies,
  signedIn,
} from './middleware.ts'
import { presentSignIn, SignInAnswer } from './resources/sign-in.ts'

/** Spec: docs/accounts.md#sign-in. */
export const login = new Hono<BrowserEnv>()
  .get(
    '/sanctum/csrf-cookie',
    summary('Set the CSRF cookie'),
    browserSession,
    noPermission,
    returns(204),
    (c) => {
      ensureSession(c)
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
      const outcome = await signIn(c.var.panel, c.req.valid('json'), c.var.clientInfo)
      sendSessionCookies(c, outcome.session)
      return c.json(presentSignIn(outcome))
    },
  )

  .post(
    '/auth/login/checkpoint',
    summary('Complete the two-factor checkpoint'),
    browserSession,
    guest,
    authRateLimit,
    body(CheckpointInput),
    returns(200, SignInAnswer),
    async (c) => {
      const { panel, session, clientInfo } = c.var
      const outcome = await completeCheckpoint(panel, session, c.req.valid('json'), clientInfo)
      sendSessionCookies(c, outcome.session)
      return c.json(presentSignIn(outcome))
    },
  )

  .post(
    '/auth/acting/leave',
    summary('Stop acting for a user'),
    browserSession,
    declarePermission('signed in'),
    authRateLimit,
    returns(204),
    async (c) => {
      sendSessionCookies(c, await leaveActing(c.var.panel, c.var.clientInfo.token))
      return c.body(null, 204)
    },
  )

  .post('/auth/logout', summary('Sign out'), browserSession, signedIn, returns(204), async (c) => {
    const { panel, clientInfo } = c.var
    if (clientInfo.token) await deleteSession(panel, clientInfo.token)
    clearSession(c)
    return c.body(null, 204)
  })
