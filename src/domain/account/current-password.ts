import * as z from 'zod'
import type { User } from '../../db/tables/users.ts'
import { type ApiError, badRequest } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { verifyPassword } from '../password-hash.ts'
import { clearThrottle, takeAttempt } from '../throttles.ts'

/** Wrong passwords within 15 minutes, over everything that asks for one: a stolen key must not find it out. */
const guesses = { failures: 10, seconds: 900 }

/** The caller's present password. Spec: Authentication, 6. */
export const currentPassword = () => z.string().max(1024, 'max')

/** What changes how somebody signs in asks for it. Spec: Browser authentication, account/security. */
export const PasswordProof = () => z.object({ current_password: currentPassword() })

/** 400: the current password is another one. Spec: Authentication, 6. */
export const wrongPassword = () =>
  badRequest('The password is not the right one.', 'InvalidPasswordProvidedException')

/**
 * The caller knows the account's password. Refuses with 400, or `refusal`, whoever does not, and with 429 from
 * the eleventh attempt in 15 minutes on, wherever they were made; a right password forgets those before it.
 */
export async function requirePassword(
  panel: Panel,
  user: User,
  password: string,
  refusal: () => ApiError = wrongPassword,
): Promise<void> {
  const key = `password:${user.id}`
  // Counted first: of guesses that are made at once, no more get through.
  await takeAttempt(panel, key, guesses)
  if (!(await verifyPassword(password, user.passwordHash))) throw refusal()
  await clearThrottle(panel, key)
}
