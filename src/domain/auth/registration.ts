import type * as z from 'zod'
import { forbidden } from '../../errors.ts'
import { networkOf } from '../../ip-addresses.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { isEmailVerificationOn } from '../accounts/email-policy.ts'
import { recordEvent } from '../activity/record.ts'
import type { Language } from '../languages.ts'
import { enqueueEmailVerification, enqueueMail } from '../mail/enqueue.ts'
import { getSettings } from '../settings/settings.ts'
import { insertClaimingUser, UserInput } from '../users/users.ts'
import { consumeAttempt } from './attempt-limits.ts'
import { captchaFields, readCaptchaResponse, requireCaptcha } from './captcha.ts'
import { type ClientInfo, type SignIn, startSession } from './login.ts'
import { hashPassword, withPasswordCheck } from './password-hash.ts'
import { isPasswordConfirmed, newPasswordFields, unconfirmedPassword } from './password.ts'

/** Attempts from one network. */
const attemptLimit = { maxAttempts: 10, windowSeconds: 3600 }

/** Spec: postAuthRegister. */
export const RegistrationInput = () =>
  UserInput()
    .pick({ username: true, email: true })
    .extend({ ...newPasswordFields(), ...captchaFields() })
    .refine(isPasswordConfirmed, unconfirmedPassword)
type RegistrationInput = z.output<ReturnType<typeof RegistrationInput>>

/**
 * Registers an account in the given language, signs it in to a new session and sends a welcome mail,
 * or one with a link where addresses must be verified. Until then the address is only claimed.
 * Refuses with 403 while registration or signing in with a password is switched off, with 400 a missing
 * captcha, with 422 a user name or address that is taken, with 429 the eleventh attempt of a network in an
 * hour, with 503 as `withPasswordCheck` does. Records `user:account.registered` and `auth:success`. Spec:
 * postAuthRegister.
 */
export const registerUser = (...registration: Parameters<typeof register>): Promise<SignIn> =>
  withPasswordCheck(() => register(...registration))

async function register(
  panel: Panel,
  input: RegistrationInput,
  clientInfo: ClientInfo,
  language: Language,
): Promise<SignIn> {
  const settings = await getSettings(panel, ['sign_in.registration', 'sign_in.password'])
  if (!settings['sign_in.registration'] || !settings['sign_in.password']) {
    throw forbidden('registration_off', 'Registration is switched off.')
  }
  await consumeAttempt(panel, `register:${networkOf(panel.ip)}`, attemptLimit)
  await requireCaptcha(panel, readCaptchaResponse(input))
  const passwordHash = await hashPassword(input.password, panel.config.passwordCost)
  const names = { first_name: 'Registered', last_name: 'User' }
  return inTransaction(panel, async (tx) => {
    const { username, email } = input
    const account = { ...names, username, email, language }
    const user = await insertClaimingUser(tx, account, passwordHash)
    const actor = { kind: 'user' as const, user, apiKey: null }
    await recordEvent(tx, 'user:account.registered', { userId: user.id, actor })
    // A welcome would be a second mail to an address that may not be theirs.
    await ((await isEmailVerificationOn(tx))
      ? enqueueEmailVerification(tx, user.id)
      : enqueueMail(tx, { template: 'registered', userId: user.id }))
    return startSession(tx, user, clientInfo, { method: 'registration' })
  })
}
