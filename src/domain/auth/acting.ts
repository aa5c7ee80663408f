import { and, eq, gt, inArray, isNotNull, or, type SQL } from 'drizzle-orm'
import { sessions, users } from '../../db/schema.ts'
import { displayError, unauthenticated } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordAdminEvent } from '../activity/record.ts'
import { lockUser } from '../users/users.ts'
import { requireUnsuspended } from './caller.ts'
import { actingTokenUser } from './token-user.ts'
import { insertSession, type NewSession, renewSession, sessionId } from './sessions.ts'

/** Minutes for which an administrator acts for a user. Spec: docs/accounts.md#acting-for-a-user. */
const actingMinutes = 15

/** The token of a session in which an administrator acts for a user, and when it ends. */
export type ActingSession = { token: string; userId: number; expiresAt: Date }

/**
 * Starts a session in which the calling administrator acts for a user, for 15 minutes. Refuses with 400 a key, the
 * caller's own account and a suspended user; with 403 an administrator above the caller, with 404. Records
 * `admin:user.act`. Spec: docs/accounts.md#acting-for-a-user.
 */
export async function startActing(panel: Panel, id: number, userAgent: string): Promise<ActingSession> {
  const { actor } = panel
  if (actor.kind !== 'user' || !actor.session)
    throw displayError('acting_needs_session', 'Acting for a user needs the session of a browser, not a key.')
  if (actor.user.id === id) throw displayError('acting_for_self', 'You cannot act for yourself.')
  const own = { administratorId: actor.user.id, administratorSessionId: actor.session.id }
  return inTransaction(panel, async (tx) => {
    const user = await lockUser(tx, id)
    requireUnsuspended(user)
    await tx.db.delete(sessions).where(eq(sessions.administratorSessionId, own.administratorSessionId))
    const values = { ...own, userId: id, authVersion: user.authVersion }
    const token = await insertSession(tx, values, actingMinutes, { userAgent, previous: null })
    await recordAdminEvent(
      tx,
      'admin:user.act',
      { type: 'user', id },
      { username: user.username, token_user: actingTokenUser(sessionId(token)) },
    )
    return { token, userId: id, expiresAt: new Date(tx.now().getTime() + actingMinutes * 60_000) }
  })
}

/**
 * Ends the session of this token, in which an administrator acts for a user, also when it has expired. Returns the
 * administrator's own session under a new token. Refuses with 401 an unknown token and an ended own session, with 400
 * a session in which its user acts. Records `admin:user.leave`. Spec: docs/accounts.md#acting-for-a-user.
 */
export async function leaveActing(panel: Panel, token: string | null): Promise<NewSession> {
  const { actor } = panel
  if (actor.kind === 'user' && !actor.administrator)
    throw displayError('not_acting', 'You do not act for a user.')
  const own = await inTransaction(panel, async (tx) => {
    const [acting] = await tx.db
      .delete(sessions)
      .where(and(eq(sessions.id, sessionId(token ?? '')), isNotNull(sessions.administratorSessionId)))
      .returning()
    if (!acting?.administratorId) throw unauthenticated()
    const session = await findOwnSession(tx, acting.administratorSessionId ?? '')
    const { id, username } = await findActedFor(tx, acting.userId ?? 0)
    const actor = { kind: 'user' as const, user: session.user, apiKey: null }
    await recordAdminEvent({ ...tx, actor }, 'admin:user.leave', { type: 'user', id }, { username })
    return session
  })
  const renewed = await renewSession(panel, own)
  if (!renewed) throw unauthenticated()
  return renewed
}

async function findOwnSession(tx: Tx, id: string) {
  const [found] = await tx.db
    .select({ id: sessions.id, user: users })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(
      and(eq(sessions.id, id), gt(sessions.expiresAt, tx.now()), eq(sessions.authVersion, users.authVersion)),
    )
  if (!found) throw unauthenticated()
  return found
}

async function findActedFor(tx: Tx, id: number) {
  const [user] = await tx.db.select().from(users).where(eq(users.id, id))
  if (!user) throw unauthenticated()
  return user
}

/** Ends what an account does for others and others for it, after a change of its rights. */
export const endActing = (tx: Tx, id: number): Promise<void> =>
  deleteActing(tx, or(eq(sessions.administratorId, id), eq(sessions.userId, id)))

/** Ends what the holders of a role do for others, and others for them, after a change of its levels. */
export function endActingOfRole(tx: Tx, roleId: number): Promise<void> {
  const holders = tx.db.select({ id: users.id }).from(users).where(eq(users.roleId, roleId))
  return deleteActing(tx, or(inArray(sessions.administratorId, holders), inArray(sessions.userId, holders)))
}

async function deleteActing(tx: Tx, condition: SQL | undefined): Promise<void> {
  await tx.db.delete(sessions).where(and(isNotNull(sessions.administratorId), condition))
}
