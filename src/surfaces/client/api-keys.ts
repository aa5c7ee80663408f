import { Hono } from 'hono'
import * as z from 'zod'
import {
  AccountKeyInput,
  addAccountKey,
  listAccountKeys,
  removeAccountKey,
} from '../../domain/account/api-keys.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { type ClientEnv, signedIn } from './env.ts'
import { ApiKeyResource, CreatedApiKey } from './resources/api-key.ts'

const ByIdentifier = () => z.object({ identifier: z.string().regex(/^\w{16}$/) })

/** Spec: Client API, account: the caller's keys of this API. */
export const apiKeys = new Hono<ClientEnv>()
  .get('/', summary('List your API keys'), signedIn, returns(200, ApiKeyResource.List), async (c) =>
    c.json(ApiKeyResource.list(await listAccountKeys(c.var.panel))),
  )

  .post(
    '/',
    summary('Add an API key; the bearer token is its identifier followed by meta.secret_token'),
    signedIn,
    body(AccountKeyInput),
    returns(200, CreatedApiKey),
    async (c) => {
      const { key, secret } = await addAccountKey(c.var.panel, c.req.valid('json'))
      return c.json({ ...ApiKeyResource.one(key), meta: { secret_token: secret } })
    },
  )

  .delete(
    '/:identifier',
    summary('Take an API key away'),
    signedIn,
    params(ByIdentifier),
    returns(204),
    async (c) => {
      await removeAccountKey(c.var.panel, c.req.valid('param').identifier)
      return c.body(null, 204)
    },
  )
