import { eq } from 'drizzle-orm'
import { users } from '../../db/schema.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { replacePassword } from '../auth/password.ts'
import { replaceRecoveryTokens } from '../auth/recovery-tokens.ts'
import { endSessions } from '../auth/sessions.ts'
import { enqueueMail } from '../mail/enqueue.ts'
import { tryDeliverRevocations } from '../nodes/access-revocations.ts'
import { lockUser } from './users.ts'

/**
 * Removes the password of an account, with the effects of `replacePassword`; its owner gets a mail with a
 * link to choose another one. API keys, passkeys and linked accounts stay. Refuses with 403 an administrator
 * when the caller may not write administrators, with 404. Records `admin:user.reset-password`. Spec:
 * docs/accounts.md#resets-by-administrators.
 */
export async function resetUserPassword(panel: Panel, id: number): Promise<void> {
  const revocations = await inTransaction(panel, async (tx) => {
    const user = await lockUser(tx, id)
    await recordEvent(tx, 'admin:user.reset-password', { userId: id })
    return replacePassword(tx, user, null)
  })
  await tryDeliverRevocations(panel, revocations)
}

/**
 * Switches two-factor authentication of an account off, deletes its secret and recovery tokens, and ends its
 * sessions; its owner gets a mail. Returns false, and changes nothing, when it was off. Refuses with 403 an
 * administrator when the caller may not write administrators, with 404. Records
 * `admin:user.reset-two-factor`. Spec: docs/accounts.md#resets-by-administrators.
 */
export async function resetTwoFactor(panel: Panel, id: number): Promise<boolean> {
  return inTransaction(panel, async (tx) => {
    const user = await lockUser(tx, id)
    if (user.totpEnabledAt === null) return false
    const off = { totpSecret: null, totpEnabledAt: null, totpLastStep: null }
    await tx.db.update(users).set(off).where(eq(users.id, id))
    await replaceRecoveryTokens(tx, id, [])
    await endSessions(tx, id)
    await recordEvent(tx, 'admin:user.reset-two-factor', { userId: id })
    await enqueueMail(tx, { template: 'two-factor-reset', userId: id })
    return true
  })
}
