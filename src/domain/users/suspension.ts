import { eq } from 'drizzle-orm'
import { users } from '../../db/schema.ts'
import type { User } from '../../db/tables/users.ts'
import { displayError } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordAdminEvent } from '../activity/record.ts'
import { requireOtherRoot } from '../auth/administrators.ts'
import { cancelPasswordResets } from '../auth/password-reset-tokens.ts'
import { endSessions } from '../auth/sessions.ts'
import { enqueueFullRevocation, enqueueUserRevocation } from '../nodes/access-revocations.ts'
import { lockUser } from './users.ts'

/**
 * Suspends the sign-in of a user: ends their sessions and pending resets, refuses their keys, and revokes their access
 * on the nodes. Servers, schedules and keys stay. Does nothing when it is suspended. Refuses with 400 the caller and
 * the last root administrator, with 403 an administrator above the caller, with 404. Records `admin:user.suspend`.
 * Spec: docs/accounts.md#suspended-sign-in.
 */
export async function suspendSignIn(panel: Panel, id: number): Promise<void> {
  const { actor } = panel
  if (actor.kind === 'user' && actor.user.id === id)
    throw displayError('own_suspension', 'You cannot suspend your own account.')
  await inTransaction(panel, async (tx) => {
    const user = await lockUser(tx, id)
    if (user.signInSuspendedAt) return
    if (user.rootAdmin) await requireOtherRoot(tx, id)
    await tx.db.update(users).set({ signInSuspendedAt: tx.now() }).where(eq(users.id, id))
    await endSessions(tx, id)
    await cancelPasswordResets(tx, id)
    await (user.rootAdmin ? enqueueFullRevocation : enqueueUserRevocation)(tx, user)
    await record(tx, 'admin:user.suspend', user)
  })
}

/**
 * Allows a user to sign in again. Does nothing when they may. Refuses with 403 an administrator above the caller, with
 * 404. Records `admin:user.unsuspend`.
 */
export async function unsuspendSignIn(panel: Panel, id: number): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const user = await lockUser(tx, id)
    if (!user.signInSuspendedAt) return
    await tx.db.update(users).set({ signInSuspendedAt: null }).where(eq(users.id, id))
    await record(tx, 'admin:user.unsuspend', user)
  })
}

const record = (tx: Tx, event: 'admin:user.suspend' | 'admin:user.unsuspend', { id, username }: User) =>
  recordAdminEvent(tx, event, { type: 'user', id }, { username })
