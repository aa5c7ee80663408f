import { Hono } from 'hono'
import {
  disableTwoFactor,
  enableTwoFactor,
  regenerateRecoveryTokens,
  setUpTwoFactor,
  TwoFactorInput,
  TwoFactorPassword,
} from '../../../domain/auth/two-factor.ts'
import type { HttpEnv } from '../../../http/http-env.ts'
import { body, returns, summary } from '../../../http/route.ts'
import { renewSessionAfter, signedIn } from '../middleware.ts'
import { RecoveryTokensResource, TwoFactorSetup } from '../resources/two-factor.ts'

/** Spec: docs/accounts.md#two-factor-authentication. */
export const twoFactor = new Hono<HttpEnv>()
  .get(
    '/',
    summary('Set up two-factor authentication'),
    signedIn,
    returns(200, TwoFactorSetup),
    async (c) => {
      const { uri, secret } = await setUpTwoFactor(c.var.panel)
      return c.json({ data: { image_url_data: uri, secret } })
    },
  )

  .post(
    '/',
    summary('Enable two-factor authentication'),
    signedIn,
    renewSessionAfter,
    body(TwoFactorInput),
    returns(200, RecoveryTokensResource.One),
    async (c) => c.json(RecoveryTokensResource.one(await enableTwoFactor(c.var.panel, c.req.valid('json')))),
  )

  .post(
    '/disable',
    summary('Disable two-factor authentication'),
    signedIn,
    body(TwoFactorPassword),
    returns(204),
    async (c) => {
      await disableTwoFactor(c.var.panel, c.req.valid('json').password)
      return c.body(null, 204)
    },
  )

  // The name of the route before the ecosystem renamed it.
  .delete(
    '/',
    summary('Disable two-factor authentication, as POST …/disable does'),
    signedIn,
    body(TwoFactorPassword),
    returns(204),
    async (c) => {
      await disableTwoFactor(c.var.panel, c.req.valid('json').password)
      return c.body(null, 204)
    },
  )

  .post(
    '/regenerate-tokens',
    summary('Regenerate the recovery tokens'),
    signedIn,
    body(TwoFactorPassword),
    returns(200, RecoveryTokensResource.One),
    async (c) => {
      const tokens = await regenerateRecoveryTokens(c.var.panel, c.req.valid('json').password)
      return c.json(RecoveryTokensResource.one(tokens))
    },
  )
