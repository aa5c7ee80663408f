import * as z from 'zod'
import { createPasswordReset } from '../../domain/auth/password-reset-tokens.ts'
import { invitationDays } from '../../domain/mail/enqueue.ts'
import { resetTwoFactor, resetUserPassword } from '../../domain/users/resets.ts'
import type { Panel } from '../../panel.ts'
import { findUserNamed } from '../find-by-name.ts'

/** The input of `user:reset-password` and `user:reset-2fa`; `user` is an id, user name or e-mail address. */
export const UserResetInput = () => z.object({ user: z.string().min(1, 'required') })
type UserResetInput = z.output<ReturnType<typeof UserResetInput>>

type NamedUser = { id: number; username: string }

/** `url` is a link to choose a password, which works once; the mail to the user has another. */
export type PasswordResetByOperator = { user: NamedUser; url: string; valid_days: number }

export type TwoFactorResetByOperator = { user: NamedUser; was_enabled: boolean }

/** Resets a password as `resetUserPassword` does. Throws when the account does not exist. */
export async function resetNamedPassword(
  panel: Panel,
  input: UserResetInput,
): Promise<PasswordResetByOperator> {
  const user = await findUserNamed(panel, input.user)
  await resetUserPassword(panel, user.id)
  const { url } = await createPasswordReset(panel, user, invitationDays * 86_400)
  return { user: named(user), url, valid_days: invitationDays }
}

/** Switches two-factor authentication off as `resetTwoFactor` does. Throws when the account does not exist. */
export async function resetNamedTwoFactor(
  panel: Panel,
  input: UserResetInput,
): Promise<TwoFactorResetByOperator> {
  const user = await findUserNamed(panel, input.user)
  return { user: named(user), was_enabled: await resetTwoFactor(panel, user.id) }
}

const named = ({ id, username }: NamedUser): NamedUser => ({ id, username })
