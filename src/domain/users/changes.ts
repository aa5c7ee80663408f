import { eq } from 'drizzle-orm'
import { single } from '../../db/database.ts'
import { users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { conflict, displayError } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { isReleasedEmail, isSameEmail, lockClaimants, storeVerifiedEmail } from '../accounts/email-claims.ts'
import { recordAdminUpdate } from '../activity/record.ts'
import { endActing } from '../auth/acting.ts'
import { requireOtherRoot } from '../auth/administrators.ts'
import { hashNewPassword } from '../auth/password-hash.ts'
import { cancelPasswordResets } from '../auth/password-reset-tokens.ts'
import { endSessions } from '../auth/sessions.ts'
import {
  enqueueFullRevocation,
  enqueueUserRevocation,
  type NodeRevocation,
  tryDeliverRevocations,
} from '../nodes/access-revocations.ts'
import { requireGrant } from './grants.ts'
import { findUser, lockUser, requireFreeEmail, storeUser, type UserChanges, userColumns } from './users.ts'
import { requireExpectedVersion, versionOf } from '../versions.ts'

/** Delay of the revocation job, during which the request notifies the nodes itself. */
const jobDelaySeconds = 30

/**
 * Changes the fields that are present. A new address is verified at once, and unverified accounts with it lose
 * it. A new password or address ends all sessions and outstanding resets of the user. Both, and a demotion,
 * revoke access on the nodes; `revocationErrors` names the nodes that could not be notified at once after a
 * demotion, where jobs continue. Refuses with 403 a change of an administrator above the caller, and rights that the
 * caller may not give (`requireGrant`); with 400 a demotion of the last root administrator; with 404, and with 422 values
 * that another user has. Records
 * `admin:user.update`, and `user:account.email-verified` for a new address.
 */
export async function changeUser(
  panel: Panel,
  id: number,
  input: UserChanges,
): Promise<{ user: User; revocationErrors: string[] }> {
  const passwordHash = input.password ? await hashNewPassword(panel, input.password) : undefined
  const { user, revocations } = await storeUser(panel, async (tx) => {
    const claimants = await lockClaimants(tx, input.email, id)
    const before = await lockUser(tx, id)
    requireExpectedVersion(tx, versionOf(before))
    const roleId = await requireGrant(tx, before, input)
    if (before.rootAdmin && input.root_admin === false) await requireOtherRoot(tx, id)
    const { email } = input
    const isNewEmail = !isSameEmail(email, before.email)
    if (isNewEmail) {
      await requireFreeEmail(tx, claimants, email, id)
      await storeVerifiedEmail(tx, before, email, claimants)
    }
    const hasNewLogin = isNewEmail || passwordHash !== undefined
    if (hasNewLogin) await endLogins(tx, id)
    const changes = { ...userColumns(input), roleId, passwordHash, updatedAt: tx.now() }
    const after = single(await tx.db.update(users).set(changes).where(eq(users.id, id)).returning())
    if (after.rootAdmin !== before.rootAdmin || after.roleId !== before.roleId) await endActing(tx, id)
    const subject = { type: 'user' as const, id }
    const versions = { username: after.username, before, after }
    await recordAdminUpdate(tx, 'admin:user.update', subject, versions)
    return { user: after, revocations: await enqueueRevocations(tx, before, after, hasNewLogin) }
  })
  return { user, revocationErrors: await tryDeliverRevocations(panel, revocations) }
}

/** Ends what was signed in or mailed with the earlier password and address. */
async function endLogins(tx: Tx, userId: number): Promise<void> {
  await endSessions(tx, userId)
  await cancelPasswordResets(tx, userId)
}

/** Enqueues the revocations of a change, and returns those that the request delivers itself. */
async function enqueueRevocations(
  tx: Tx,
  before: User,
  after: User,
  hasNewLogin: boolean,
): Promise<NodeRevocation[]> {
  if (before.rootAdmin && !after.rootAdmin)
    return enqueueFullRevocation(tx, after, { delaySeconds: jobDelaySeconds })
  // An administrator has access everywhere.
  if (hasNewLogin) await (after.rootAdmin ? enqueueFullRevocation : enqueueUserRevocation)(tx, after)
  return []
}

/**
 * Verifies the address that the user has, for one who cannot follow a mailed link. Does nothing when it is
 * verified. Refuses with 404, with 400 a user who lost their address to another account. Records
 * `user:account.email-verified`. Spec: docs/accounts.md#verified-addresses.
 */
export async function verifyUserEmail(panel: Panel, id: number): Promise<User> {
  const { email } = await findUser(panel, id)
  await inTransaction(panel, async (tx) => {
    const claimants = await lockClaimants(tx, email, id)
    const user = await lockUser(tx, id)
    // The administrator did not see the address that the account got meanwhile.
    if (!isSameEmail(user.email, email))
      throw conflict('address_just_changed', 'The address has just been changed.')
    if (isReleasedEmail(email))
      throw displayError('user_without_address', 'This user has no address. Set one first.')
    if (user.emailVerifiedAt === null) await storeVerifiedEmail(tx, user, user.email, claimants)
  })
  return findUser(panel, id)
}
