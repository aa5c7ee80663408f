import { Hono } from 'hono'
import * as z from 'zod'
import {
  ForgottenPasswordInput,
  PasswordResetInput,
  requestPasswordReset,
  resetPassword,
} from '../../domain/auth/password-reset.ts'
import { body, returns, summary } from '../../http/route.ts'
import {
  authRateLimit,
  type BrowserEnv,
  browserSession,
  guest,
  sendKnownBrowserCookie,
  sendSessionCookies,
} from './middleware.ts'

/** Does not reveal whether the address has an account. */
const resetRequestedText = 'If this address belongs to an account, a password reset link has been sent to it.'

const StatusAnswer = () => z.strictObject({ status: z.string() })
const ResetAnswer = () =>
  z.strictObject({ success: z.literal(true), redirect_to: z.string(), send_to_login: z.boolean() })

/** Spec: docs/accounts.md#forgotten-passwords. */
export const password = new Hono<BrowserEnv>()
  .post(
    '/auth/password',
    summary('Request a password reset'),
    browserSession,
    guest,
    authRateLimit,
    body(ForgottenPasswordInput),
    returns(200, StatusAnswer),
    async (c) => {
      await requestPasswordReset(c.var.panel, c.req.valid('json'))
      return c.json({ status: resetRequestedText })
    },
  )

  .post(
    '/auth/password/reset',
    summary('Reset a password'),
    browserSession,
    guest,
    authRateLimit,
    body(PasswordResetInput),
    returns(200, ResetAnswer),
    async (c) => {
      const { session, knownBrowserToken } = await resetPassword(
        c.var.panel,
        c.req.valid('json'),
        c.var.clientInfo,
      )
      if (session) sendSessionCookies(c, session)
      else sendKnownBrowserCookie(c, knownBrowserToken)
      return c.json({ success: true, redirect_to: '/', send_to_login: session === null })
    },
  )
