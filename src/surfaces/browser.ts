import { Hono } from 'hono'
import type { HttpEnv } from '../http/http-env.ts'
import { locales } from './browser/locales.ts'
import { login } from './browser/login.ts'
import { manifest } from './browser/manifest.ts'
import { notFoundPage } from './browser/not-found.ts'
import { logos } from './browser/logos.ts'
import { oauth } from './browser/oauth.ts'
import { outbox } from './browser/outbox.ts'
import { pages } from './browser/pages.ts'
import { passkeys } from './browser/passkeys.ts'
import { password } from './browser/password.ts'
import { register } from './browser/register.ts'
import { security } from './browser/security.ts'
import { setup } from './browser/setup.ts'

/** The routes that browsers call: pages, and signing in. */
export const browser = new Hono<HttpEnv>()
  .route('/', login)
  .route('/', oauth)
  .route('/auth/passkeys', passkeys)
  .route('/auth/setup', setup)
  .route('/account/security', security)
  .route('/', pages)
  .route('/', locales)
  .route('/', logos)
  .route('/', manifest)
  .route('/', register)
  .route('/', password)
  .route('/', outbox)
  .use(notFoundPage)
