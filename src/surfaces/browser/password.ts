import { Hono } from 'hono'
import * as z from 'zod'
import {
  ForgottenPasswordInput,
  PasswordResetInput,
  requestPasswordReset,
  resetPassword,
} from '../../domain/forgotten-passwords.ts'
import { body, returns, summary } from '../../http/route.ts'
import { authRateLimit, type BrowserEnv, browserSession, guest, keepSession } from './env.ts'

/** The same for everybody. */
const status = 'If this address belongs to an account, a link to a new password is on its way.'

const StatusAnswer = () => z.strictObject({ status: z.string() })
const ResetAnswer = () =>
  z.strictObject({ success: z.literal(true), redirect_to: z.string(), send_to_login: z.boolean() })

/** Spec: Browser authentication, forgotten passwords. */
export const password = new Hono<BrowserEnv>()
  .post(
    '/auth/password',
    summary('Ask for a link to a new password'),
    browserSession,
    guest,
    authRateLimit,
    body(ForgottenPasswordInput),
    returns(200, StatusAnswer),
    async (c) => {
      await requestPasswordReset(c.var.panel, c.req.valid('json'))
      return c.json({ status })
    },
  )

  .post(
    '/auth/password/reset',
    summary('Choose a new password by a link'),
    browserSession,
    guest,
    authRateLimit,
    body(PasswordResetInput),
    returns(200, ResetAnswer),
    async (c) => {
      const session = await resetPassword(c.var.panel, c.req.valid('json'), c.var.visitor)
      if (session) keepSession(c, session)
      return c.json({ success: true, redirect_to: '/', send_to_login: session === null })
    },
  )
