import type { Context } from 'hono'
import { Hono } from 'hono'
import type { User } from '../../db/tables/users.ts'
import { changeAvatar, removeAvatar } from '../../domain/account/avatar.ts'
import { callersAccount } from '../../domain/account/caller.ts'
import { changeEmail, EmailInput } from '../../domain/account/email.ts'
import { changePassword, PasswordInput } from '../../domain/account/password.ts'
import {
  changeLanguage,
  changePrivacy,
  LanguageInput,
  PrivacyInput,
} from '../../domain/account/preferences.ts'
import { localeOf } from '../../domain/languages.ts'
import { body, returns, summary } from '../../http/route.ts'
import { upload } from '../../http/upload.ts'
import { twoFactor } from './account/two-factor.ts'
import { type ClientEnv, renewingSession, signedIn } from './env.ts'
import { AccountResource, LanguageChoice } from './resources/account.ts'

/** Bytes of a picture. Spec: Limits, avatar. */
const longestAvatar = 2048 * 1024

const present = (c: Context<ClientEnv>, user: User) =>
  c.json(AccountResource.one({ user, panelUrl: c.var.panel.config.url }))

/** Spec: Client API, account. */
export const account = new Hono<ClientEnv>()
  .get('/', summary('Show the account'), signedIn, returns(200, AccountResource.One), (c) =>
    present(c, callersAccount(c.var.panel)),
  )

  .put(
    '/email',
    summary('Change the e-mail address'),
    signedIn,
    body(EmailInput),
    returns(204),
    async (c) => {
      await changeEmail(c.var.panel, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .put(
    '/password',
    summary('Change the password and end all sessions'),
    signedIn,
    renewingSession,
    body(PasswordInput),
    returns(204),
    async (c) => {
      await changePassword(c.var.panel, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/avatar',
    summary('Choose a picture'),
    signedIn,
    upload('avatar', longestAvatar),
    returns(200, AccountResource.One),
    async (c) => present(c, await changeAvatar(c.var.panel, c.req.valid('form').avatar)),
  )

  .delete(
    '/avatar',
    summary('Go back to the picture of the e-mail address'),
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
    summary('Choose a language'),
    signedIn,
    body(LanguageInput),
    returns(200, LanguageChoice),
    async (c) => {
      const { language } = c.req.valid('json')
      await changeLanguage(c.var.panel, { language })
      return c.json({ language, locale: localeOf(language, c.req.header('accept-language')) })
    },
  )

  .route('/two-factor', twoFactor)
