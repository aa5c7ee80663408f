import { and, eq, ne, sql } from 'drizzle-orm'
import { passwordResets, sessions, users } from '../../db/schema.ts'
import type { Panel } from '../../panel.ts'
import { newSessionToken, type OpenedSession, sessionId } from '../sessions.ts'

/**
 * Nobody else is signed in to the account in a browser any more: only the session that asks for it goes on.
 * Keys live on. Call it in the transaction that makes the change. Spec: Client API, account: password.
 */
export async function endSessions(panel: Panel, userId: number): Promise<void> {
  const { actor } = panel
  const own = actor.kind === 'user' && actor.user.id === userId ? actor.session : undefined
  const [{ authVersion } = { authVersion: 0 }] = await panel.db
    .update(users)
    .set({ authVersion: sql`${users.authVersion} + 1`, updatedAt: panel.now() })
    .where(eq(users.id, userId))
    .returning({ authVersion: users.authVersion })
  const others = own ? ne(sessions.id, own.id) : undefined
  await panel.db.delete(sessions).where(and(eq(sessions.userId, userId), others))
  if (own) await panel.db.update(sessions).set({ authVersion }).where(eq(sessions.id, own.id))
}

/** The session goes on under another token: whoever knew the one before has nothing of it. Null when it is over. */
export async function renewSession(panel: Panel, session: { id: string }): Promise<OpenedSession | null> {
  const token = newSessionToken()
  const [renewed] = await panel.db
    .update(sessions)
    .set({ id: sessionId(token) })
    .where(eq(sessions.id, session.id))
    .returning({ remembered: sessions.isRemembered })
  return renewed ? { token, ...renewed } : null
}

/** Links that were mailed to set a new password open nothing any more. */
export async function cancelPasswordResets(panel: Panel, userId: number): Promise<void> {
  await panel.db.delete(passwordResets).where(eq(passwordResets.userId, userId))
}
