import type { Context } from 'hono'
import { Hono } from 'hono'
import type { User } from '../../db/tables/users.ts'
import { changeAvatar, removeAvatar } from '../../domain/accounts/avatar.ts'
import {
  changeLanguage,
  changePrivacy,
  LanguageInput,
  PrivacyInput,
} from '../../domain/accounts/preferences.ts'
import { requireCaller } from '../../domain/auth/caller.ts'
import { changePassword, PasswordInput } from '../../domain/auth/password.ts'
import { resolveLanguage } from '../../domain/languages.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { answerJson } from '../../http/json-text.ts'
import { body, returns, summary } from '../../http/route.ts'
import { upload } from '../../http/upload.ts'
import { email } from './account/email.ts'
import { twoFactor } from './account/two-factor.ts'
import { renewSessionAfter, signedIn } from './middleware.ts'
import { AccountResource, LanguageChoice } from './resources/account.ts'

/** Bytes of an avatar. Spec: docs/limits.md#sizes. */
const maxAvatarBytes = 2048 * 1024

const present = (c: Context<HttpEnv>, user: User) =>
  answerJson(c, AccountResource.one({ user, panelUrl: c.get('panel').config.url }))

/** Spec: getClientAccount. */
export const account = new Hono<HttpEnv>()
  .get('/', summary('Show your account'), signedIn, returns(200, AccountResource.One), (c) =>
    present(c, requireCaller(c.get('panel'))),
  )

  .put(
    '/password',
    summary('Update your password and end your other sessions'),
    signedIn,
    renewSessionAfter,
    body(PasswordInput),
    returns(204),
    async (c) => {
      await changePassword(c.var.panel, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/avatar',
    summary('Upload your picture'),
    signedIn,
    upload('avatar', maxAvatarBytes),
    returns(200, AccountResource.One),
    async (c) => present(c, await changeAvatar(c.var.panel, c.req.valid('form').avatar)),
  )

  .delete(
    '/avatar',
    summary('Delete your picture and use Gravatar again'),
    signedIn,
    returns(200, AccountResource.One),
    async (c) => present(c, await removeAvatar(c.var.panel)),
  )

  .put(
    '/privacy',
    summary('Choose whether sensitive data is blurred'),
    signedIn,
    body(PrivacyInput),
    returns(200, AccountResource.One),
    async (c) => present(c, await changePrivacy(c.var.panel, c.req.valid('json'))),
  )

  .put(
    '/language',
    summary('Choose your language'),
    signedIn,
    body(LanguageInput),
    returns(200, LanguageChoice),
    async (c) => {
      const { language } = c.req.valid('json')
      await changeLanguage(c.var.panel, { language })
      return c.json({ language, locale: resolveLanguage(language, c.req.header('accept-language')) })
    },
  )

  .route('/email', email)
  .route('/two-factor', twoFactor)
