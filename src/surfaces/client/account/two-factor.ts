import { Hono } from 'hono'
import {
  disableTwoFactor,
  enableTwoFactor,
  regenerateRecoveryTokens,
  setUpTwoFactor,
  TwoFactorInput,
  TwoFactorPassword,
} from '../../../domain/account/two-factor.ts'
import { body, returns, summary } from '../../../http/route.ts'
import { type ClientEnv, renewingSession, signedIn } from '../env.ts'
import { RecoveryTokensResource, TwoFactorSetup } from '../resources/two-factor.ts'

/** Spec: Client API, account: two-factor. */
export const twoFactor = new Hono<ClientEnv>()
  .get(
    '/',
    summary('Get a secret for an authenticator'),
    signedIn,
    returns(200, TwoFactorSetup),
    async (c) => {
      const { uri, secret } = await setUpTwoFactor(c.var.panel)
      return c.json({ data: { image_url_data: uri, secret } })
    },
  )

  .post(
    '/',
    summary('Turn on two-factor authentication'),
    signedIn,
    renewingSession,
    body(TwoFactorInput),
    returns(200, RecoveryTokensResource.One),
    async (c) => c.json(RecoveryTokensResource.one(await enableTwoFactor(c.var.panel, c.req.valid('json')))),
  )

  .post(
    '/disable',
    summary('Turn off two-factor authentication'),
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
    summary('Get new recovery tokens'),
    signedIn,
    body(TwoFactorPassword),
    returns(200, RecoveryTokensResource.One),
    async (c) => {
      const tokens = await regenerateRecoveryTokens(c.var.panel, c.req.valid('json').password)
      return c.json(RecoveryTokensResource.one(tokens))
    },
  )
