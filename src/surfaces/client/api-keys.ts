import { Hono } from 'hono'
import * as z from 'zod'
import {
  AccountApiKeyInput,
  addAccountApiKey,
  listAccountApiKeys,
  removeAccountApiKey,
} from '../../domain/auth/api-keys.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { signedIn } from './middleware.ts'
import { ApiKeyResource, CreatedApiKey } from './resources/api-key.ts'

const KeyParams = () => z.object({ identifier: z.string().regex(/^\w{16}$/) })

/** Spec: docs/accounts.md#api-keys. */
export const apiKeys = new Hono<HttpEnv>()
  .get('/', summary('List your API keys'), signedIn, returns(200, ApiKeyResource.List), async (c) =>
    c.json(ApiKeyResource.list(await listAccountApiKeys(c.var.panel))),
  )

  .post(
    '/',
    summary('Create an API key; the bearer token is its identifier followed by meta.secret_token'),
    signedIn,
    body(AccountApiKeyInput),
    returns(200, CreatedApiKey),
    async (c) => {
      const { key, secret } = await addAccountApiKey(c.var.panel, c.req.valid('json'))
      return c.json({ ...ApiKeyResource.one(key), meta: { secret_token: secret } })
    },
  )

  .delete(
    '/:identifier',
    summary('Delete an API key'),
    signedIn,
    params(KeyParams),
    returns(204),
    async (c) => {
      await removeAccountApiKey(c.var.panel, c.req.valid('param').identifier)
      return c.body(null, 204)
    },
  )
