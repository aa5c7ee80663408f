import type * as z from 'zod'
import { forbidden } from '../errors.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { isConfirmed, newPassword, unconfirmed } from './account/password.ts'
import { record } from './activity.ts'
import { captchaFields, captchaResponse, requireCaptcha } from './captcha.ts'
import type { Language } from './languages.ts'
import { complete, type SignIn, type Visitor } from './login.ts'
import { enqueueMail } from './mail/orders.ts'
import { hashPassword } from './password-hash.ts'
import { settingsOf } from './settings.ts'
import { networkOf, takeAttempt } from './throttles.ts'
import { storeUser, UserInput } from './users.ts'

/** From one network, whatever comes of them. */
const attempts = { failures: 10, seconds: 3600 }

/** Spec: Browser authentication, register. */
export const RegistrationInput = () =>
  UserInput()
    .pick({ username: true, email: true })
    .extend({ ...newPassword(), ...captchaFields() })
    .refine(isConfirmed, unconfirmed)
type RegistrationInput = z.output<ReturnType<typeof RegistrationInput>>

/**
 * A stranger has an account that speaks his language, and is signed in to a new session; a mail welcomes him.
 * Refuses with 403 while registration or signing in with a password is switched off, with 400 without the
 * captcha where one is set, with 422 a user name or address that is taken, with 429 the eleventh attempt of a
 * network in an hour. Records `user:account.registered` and `auth:success`. Spec: Browser authentication, register.
 */
export async function register(
  panel: Panel,
  input: RegistrationInput,
  visitor: Visitor,
  language: Language,
): Promise<SignIn> {
  const settings = await settingsOf(panel, ['sign_in.registration', 'sign_in.password'])
  if (!settings['sign_in.registration'] || !settings['sign_in.password']) {
    throw forbidden('Registration is switched off.')
  }
  await takeAttempt(panel, `register:${networkOf(panel.ip)}`, attempts)
  await requireCaptcha(panel, captchaResponse(input))
  const passwordHash = await hashPassword(input.password)
  const names = { first_name: 'Registered', last_name: 'User' }
  return inTransaction(panel, async (inner) => {
    const { username, email } = input
    const user = await storeUser(inner, { ...names, username, email, language }, passwordHash)
    const actor = { kind: 'user' as const, user, apiKey: null }
    await record(inner, 'user:account.registered', { userId: user.id, actor })
    await enqueueMail(inner, { template: 'registered', userId: user.id })
    return complete(inner, user, visitor, { method: 'registration' })
  })
}
