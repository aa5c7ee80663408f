import * as z from 'zod'
import { text } from '../../domain/fields.ts'
import { verifyUserEmail } from '../../domain/users/changes.ts'
import type { Panel } from '../../panel.ts'
import { findUserNamed } from '../find-by-name.ts'

/** The input of `user:verify-email`: an id, user name or verified address. */
export const UserVerifyEmailInput = () => z.object({ user: text(191) })

export type UserWithVerifiedEmail = { id: number; username: string; email: string }

/** Verifies the address of an account. Throws when none or several match, and refuses as `verifyUserEmail`. */
export async function verifyNamedUserEmail(
  panel: Panel,
  input: z.output<ReturnType<typeof UserVerifyEmailInput>>,
): Promise<UserWithVerifiedEmail> {
  const { id, username, email } = await verifyUserEmail(panel, (await findUserNamed(panel, input.user)).id)
  return { id, username, email }
}
