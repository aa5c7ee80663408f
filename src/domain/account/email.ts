import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { uniqueViolation } from '../../db/database.ts'
import { users } from '../../db/schema.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { email } from '../fields.ts'
import { enqueueMail } from '../mail/orders.ts'
import { takeAttempt } from '../throttles.ts'
import { invalidField } from '../validation.ts'
import { callersAccount, lockCallersAccount } from './caller.ts'
import { currentPassword, requirePassword } from './current-password.ts'
import { cancelPasswordResets } from './sessions.ts'

/** Spec: Limits, e-mail changes. */
const changes = { failures: 3, seconds: 86_400 }

/** Spec: Client API, account: email. */
export const EmailInput = () => z.object({ email: z.string(), password: currentPassword() })
type EmailInput = z.output<ReturnType<typeof EmailInput>>

/**
 * Gives the account another address; the same one in another case changes nothing. Refuses with 422, in the
 * same words, what is no address and what another account has, with 400 a wrong password, with 429 the fourth
 * change in 24 hours, those counted that found an address taken. Mails to both addresses tell of it. Records
 * `user:account.email-changed`.
 */
export async function changeEmail(panel: Panel, input: EmailInput): Promise<void> {
  const user = callersAccount(panel)
  const address = email().safeParse(input.email)
  if (!address.success) throw unusable()
  await requirePassword(panel, user, input.password)
  if (address.data.toLowerCase() === user.email.toLowerCase()) return
  await takeAttempt(panel, `email-change:${user.id}`, changes)
  try {
    await inTransaction(panel, (inner) => storeEmail(inner, address.data))
  } catch (error) {
    throw uniqueViolation(error) === null ? error : unusable()
  }
}

/** One answer for both: what it says would tell who has an account here. */
const unusable = () => invalidField('email', 'email', 'The email field must be an address that can be used.')

async function storeEmail(panel: Panel, address: string): Promise<void> {
  const { id, email: old } = await lockCallersAccount(panel)
  await panel.db.update(users).set({ email: address, updatedAt: panel.now() }).where(eq(users.id, id))
  // They were sent to the address before.
  await cancelPasswordResets(panel, id)
  await record(panel, 'user:account.email-changed', { userId: id, properties: { old, new: address } })
  for (const to of [old, address]) await enqueueMail(panel, { template: 'email-changed', userId: id, to })
}
