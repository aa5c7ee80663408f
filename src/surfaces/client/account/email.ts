import { Hono } from 'hono'
import {
  cancelEmailChange,
  changeEmail,
  EmailInput,
  EmailTokenInput,
  resendEmailVerification,
  verifyEmail,
} from '../../../domain/accounts/email.ts'
import { requireCaller } from '../../../domain/auth/caller.ts'
import type { HttpEnv } from '../../../http/http-env.ts'
import { body, returns, summary } from '../../../http/route.ts'
import { signedIn } from '../middleware.ts'
import { EmailAddressResource } from '../resources/email-address.ts'

/** Spec: docs/accounts.md#verified-addresses. */
export const email = new Hono<HttpEnv>()
  .get(
    '/',
    summary('Show your e-mail address, whether it is verified, and a pending one'),
    signedIn,
    returns(200, EmailAddressResource.One),
    (c) => c.json(EmailAddressResource.one(requireCaller(c.var.panel))),
  )

  .put('/', summary('Update your e-mail address'), signedIn, body(EmailInput), returns(204), async (c) => {
    await changeEmail(c.var.panel, c.req.valid('json'))
    return c.body(null, 204)
  })

  .post(
    '/resend',
    summary('Send the link that verifies your e-mail address again'),
    signedIn,
    returns(204),
    async (c) => {
      await resendEmailVerification(c.var.panel)
      return c.body(null, 204)
    },
  )

  .post(
    '/verify',
    summary('Verify an e-mail address with the token of a mailed link'),
    signedIn,
    body(EmailTokenInput),
    returns(204),
    async (c) => {
      await verifyEmail(c.var.panel, c.req.valid('json').token)
      return c.body(null, 204)
    },
  )

  .delete(
    '/pending',
    summary('Cancel the pending change of your e-mail address'),
    signedIn,
    returns(204),
    async (c) => {
      await cancelEmailChange(c.var.panel)
      return c.body(null, 204)
    },
  )
