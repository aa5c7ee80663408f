import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { enqueueMail } from '../mail/orders.ts'
import { hashPassword } from '../password-hash.ts'
import {
  enqueueFullRevocation,
  enqueueOwnRevocation,
  type NodeRevocation,
  tryRevocations,
} from '../revocations.ts'
import { callersAccount, lockCallersAccount } from './caller.ts'
import { currentPassword, requirePassword, wrongPassword } from './current-password.ts'
import { cancelPasswordResets, endSessions } from './sessions.ts'

/** Seconds which the request has to tell the nodes itself. */
const headStart = 30

/** Members of a body by which somebody chooses a password. Spec: Limits, password. */
export const newPassword = () => ({
  password: z.string().min(8, 'min').max(1024, 'max'),
  password_confirmation: z.string().nullish(),
})

/** For `refine`: the password was typed the same way twice. */
export const isConfirmed = (input: { password: string; password_confirmation?: string | null | undefined }) =>
  input.password === input.password_confirmation

/** What `refine` says otherwise. */
export const unconfirmed = { path: ['password'], error: 'confirmed' }

/** Spec: Client API, account: password. */
export const PasswordInput = () =>
  z.object({ current_password: currentPassword(), ...newPassword() }).refine(isConfirmed, unconfirmed)
type PasswordInput = z.output<ReturnType<typeof PasswordInput>>

/**
 * The account has the new password, as `replacePassword` says. Refuses with 400 a wrong current password.
 * Records `user:account.password-changed`. Spec: Authentication, 6.
 */
export async function changePassword(panel: Panel, input: PasswordInput): Promise<void> {
  const user = callersAccount(panel)
  await requirePassword(panel, user, input.current_password)
  const passwordHash = await hashPassword(input.password)
  const revocations = await inTransaction(panel, async (inner) => {
    const now = await lockCallersAccount(inner)
    // Somebody else changed it meanwhile: what was proven is right no more.
    if (now.passwordHash !== user.passwordHash) throw wrongPassword()
    await record(inner, 'user:account.password-changed', { userId: user.id })
    return replacePassword(inner, now, passwordHash)
  })
  await tryRevocations(panel, revocations)
}

/**
 * The account has another password: its sessions, but for the caller's own, and pending resets are gone, a mail
 * tells its owner, and jobs tell daemons to drop its consoles and SFTP sessions; give them to `tryRevocations`
 * after the commit. Keys live on. Call it in the transaction that locked the account.
 */
export async function replacePassword(
  panel: Panel,
  user: User,
  passwordHash: string,
): Promise<NodeRevocation[]> {
  await panel.db.update(users).set({ passwordHash }).where(eq(users.id, user.id))
  await endSessions(panel, user.id)
  await cancelPasswordResets(panel, user.id)
  await enqueueMail(panel, { template: 'password-changed', userId: user.id })
  const revoke = user.rootAdmin ? enqueueFullRevocation : enqueueOwnRevocation
  return revoke(panel, user, { headStart })
}
