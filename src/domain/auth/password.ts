import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { untrimmed } from '../fields.ts'
import { enqueueMail, enqueuePasswordChoice } from '../mail/enqueue.ts'
import {
  enqueueFullRevocation,
  enqueueUserRevocation,
  type NodeRevocation,
  tryDeliverRevocations,
} from '../nodes/access-revocations.ts'
import { lockCaller, requireCaller } from './caller.ts'
import { currentPasswordField, requireCurrentPassword, wrongPassword } from './current-password.ts'
import { hashNewPassword } from './password-hash.ts'
import { cancelPasswordResets } from './password-reset-tokens.ts'
import { endSessions } from './sessions.ts'

/** Delay of the job, during which the request notifies the nodes itself. */
const revocationJobDelaySeconds = 30

/** Fields of a body that sets a password. Spec: docs/accounts.md#password. */
export const newPasswordFields = () => ({
  password: untrimmed(z.string().min(8, 'min').max(1024, 'max')),
  password_confirmation: untrimmed(z.string()).nullish(),
})

/** For `refine`: whether both entries of the password are the same. */
export const isPasswordConfirmed = (input: {
  password: string
  password_confirmation?: string | null | undefined
}) => input.password === input.password_confirmation

/** The error of `refine` when they are not. */
export const unconfirmedPassword = { path: ['password'], error: 'confirmed' }

/** Spec: putClientAccountPassword. */
export const PasswordInput = () =>
  z
    .object({ current_password: currentPasswordField(), ...newPasswordFields() })
    .refine(isPasswordConfirmed, unconfirmedPassword)
type PasswordInput = z.output<ReturnType<typeof PasswordInput>>

/**
 * Changes the caller's password, with the effects of `replacePassword`. Refuses with 400 a wrong current
 * password. Records `user:account.password-changed`. Spec: docs/api.md#current-password.
 */
export async function changePassword(panel: Panel, input: PasswordInput): Promise<void> {
  const user = requireCaller(panel)
  await requireCurrentPassword(panel, user, input.current_password)
  const passwordHash = await hashNewPassword(panel, input.password)
  const revocations = await inTransaction(panel, async (tx) => {
    const lockedUser = await lockCaller(tx)
    // Another request changed the password after this one verified it.
    if (lockedUser.passwordHash !== user.passwordHash) throw wrongPassword()
    await recordEvent(tx, 'user:account.password-changed', { userId: user.id })
    return replacePassword(tx, lockedUser, passwordHash)
  })
  await tryDeliverRevocations(panel, revocations)
}

/**
 * Stores a new password, or none: then the mail has a link to choose one. Ends the account's sessions except
 * the caller's own, deletes pending reset links, sends a mail, and enqueues jobs that end its consoles and SFTP sessions on the nodes; pass the result to
 * `tryDeliverRevocations` after the commit. API keys stay valid. Call it in the transaction that locked the
 * account.
 */
export async function replacePassword(
  tx: Tx,
  user: User,
  passwordHash: string | null,
): Promise<NodeRevocation[]> {
  await tx.db.update(users).set({ passwordHash }).where(eq(users.id, user.id))
  await endSessions(tx, user.id)
  await cancelPasswordResets(tx, user.id)
  if (passwordHash === null) await enqueuePasswordChoice(tx, 'password-removed', user.id)
  else await enqueueMail(tx, { template: 'password-changed', userId: user.id })
  const enqueueRevocation = user.rootAdmin ? enqueueFullRevocation : enqueueUserRevocation
  return enqueueRevocation(tx, user, { delaySeconds: revocationJobDelaySeconds })
}
