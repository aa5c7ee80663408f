import { Hono } from 'hono'
import * as z from 'zod'
import {
  addApplicationKey,
  applicationKeyFilters,
  ApplicationKeyInput,
  listApplicationKeys,
  removeApplicationKey,
} from '../../domain/auth/api-keys.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { listing } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { acl } from './middleware.ts'
import { ApplicationKeyResource, CreatedApplicationKey } from './resources/application-key.ts'

const KeyParams = () => z.object({ identifier: z.string().regex(/^\w{16}$/) })
const listOptions = { filters: applicationKeyFilters, perPage: 50, maxPerPage: 500 }

/** Application keys: an extension of the ecosystem's API. */
export const keys = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List the Application keys of all administrators'),
    acl('api_keys', 'read'),
    listing(listOptions),
    returns(200, ApplicationKeyResource.Page),
    async (c) => {
      const page = await listApplicationKeys(c.var.panel, c.req.valid('query'))
      return c.json(ApplicationKeyResource.page(page, publicUrl(c)))
    },
  )

  .post(
    '/',
    summary('Create an Application key; the bearer token is its identifier followed by meta.secret_token'),
    acl('api_keys', 'write'),
    body(ApplicationKeyInput),
    returns(201, CreatedApplicationKey),
    async (c) => {
      const { key, secret } = await addApplicationKey(c.var.panel, c.req.valid('json'))
      return c.json({ ...ApplicationKeyResource.one(key), meta: { secret_token: secret } }, 201)
    },
  )

  .delete(
    '/:identifier',
    summary('Delete an Application key'),
    acl('api_keys', 'write'),
    params(KeyParams),
    returns(204),
    async (c) => {
      await removeApplicationKey(c.var.panel, c.req.valid('param').identifier)
      return c.body(null, 204)
    },
  )
