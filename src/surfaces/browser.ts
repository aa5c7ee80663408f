import { Hono } from 'hono'
import { readAvatar } from '../domain/account/avatar.ts'
import type { HttpEnv } from '../http/environment.ts'
import { returns, summary } from '../http/route.ts'
import { anybody, noCredential } from './browser/env.ts'
import { locales } from './browser/locales.ts'
import { login } from './browser/login.ts'
import { oauth } from './browser/oauth.ts'
import { operations } from './browser/operations.ts'
import { outbox } from './browser/outbox.ts'
import { pages } from './browser/pages.ts'
import { passkeys } from './browser/passkeys.ts'
import { security } from './browser/security.ts'
import { password } from './browser/password.ts'
import { register } from './browser/register.ts'

/** A name stands for the same bytes for ever. Should a browser take them for a page, it may do nothing. */
const pictureHeaders = {
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; sandbox",
}

/** What browsers and monitors call. */
export const browser = new Hono<HttpEnv>()
  .get(
    '/avatars/:name',
    summary('Show a picture that somebody chose'),
    noCredential,
    anybody,
    returns(200),
    async (c) => {
      const { bytes, contentType } = await readAvatar(c.var.panel, c.req.param('name'))
      for (const [name, value] of Object.entries(pictureHeaders)) c.header(name, value)
      return c.body(bytes, 200, { 'content-type': contentType })
    },
  )

  .route('/', operations)
  .route('/', login)
  .route('/', oauth)
  .route('/auth/passkeys', passkeys)
  .route('/account/security', security)
  .route('/', pages)
  .route('/', locales)
  .route('/', register)
  .route('/', password)
  .route('/', outbox)
