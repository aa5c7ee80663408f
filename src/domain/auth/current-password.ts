import * as z from 'zod'
import type { User } from '../../db/tables/users.ts'
import { type ApiError, badRequest } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { untrimmed } from '../fields.ts'
import { clearAttempts, consumeAttempt } from './attempt-limits.ts'
import { verifyPassword, withPasswordCheck } from './password-hash.ts'

/**
 * Attempts per account over every route that asks for the password, so that a stolen session or key cannot
 * guess it.
 */
const passwordAttemptLimit = { maxAttempts: 10, windowSeconds: 900 }

/** The caller's current password. Spec: docs/api.md#current-password. */
export const currentPasswordField = () => untrimmed(z.string().max(1024, 'max'))

/** Input of routes that change sign-in methods. Spec: docs/accounts.md#account-security. */
export const CurrentPasswordInput = () => z.object({ current_password: currentPasswordField() })

/** 400: the current password is wrong. Spec: docs/api.md#current-password. */
export const wrongPassword = () =>
  badRequest('current_password_wrong', 'The current password is wrong.', {
    code: 'InvalidPasswordProvidedException',
  })

/**
 * Verifies the current password of the account. Refuses with 400, or the error of `createError`, when it is
 * wrong, with 429 from the eleventh attempt in 15 minutes on, and with 503 as `withPasswordCheck` does; a right password
 * resets the count.
 */
export async function requireCurrentPassword(
  panel: Panel,
  user: User,
  password: string,
  createError: () => ApiError = wrongPassword,
): Promise<void> {
  const key = `password:${user.id}`
  await withPasswordCheck(async () => {
    // Counted before the check, so that parallel guesses cannot exceed the limit.
    await consumeAttempt(panel, key, passwordAttemptLimit)
    if (!(await verifyPassword(password, user.passwordHash, panel.config.passwordCost))) throw createError()
    await clearAttempts(panel, key)
  })
}
