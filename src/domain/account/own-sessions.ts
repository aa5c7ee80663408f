import { and, desc, eq, gt, ne, type SQL, sql } from 'drizzle-orm'
import { sessions } from '../../db/schema.ts'
import type { Session } from '../../db/tables/sessions.ts'
import { notFound } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { callersAccount } from './caller.ts'

/** Sessions that are shown: those used last. */
const mostShown = 100
/** Characters of a session's id by which its owner knows it: they tell nothing of its token. */
const nameLength = 32

/** A session as its owner sees it. */
export type OwnSession = Pick<Session, 'id' | 'ip' | 'userAgent' | 'createdAt' | 'lastActiveAt'> & {
  isCurrent: boolean
}

/** Browsers in which the caller is signed in, the one used last first, 100 at most. One statement. */
export async function listOwnSessions(panel: Panel): Promise<OwnSession[]> {
  const { id: userId, authVersion } = callersAccount(panel)
  const isAlive = and(eq(sessions.authVersion, authVersion), gt(sessions.expiresAt, panel.now()))
  const rows = await panel.db
    .select()
    .from(sessions)
    .where(and(eq(sessions.userId, userId), isAlive))
    .orderBy(desc(sessions.lastActiveAt), desc(sessions.createdAt))
    .limit(mostShown)
  const current = currentSession(panel)
  return rows.map((row) => ({ ...row, id: row.id.slice(0, nameLength), isCurrent: row.id === current }))
}

/** The caller is not signed in there any more. Refuses with 404 what is not his. Records `user:session.delete`. */
export async function endOwnSession(panel: Panel, id: string): Promise<void> {
  if (!(await end(panel, eq(sql`left(${sessions.id}, ${nameLength}::int)`, id)))) throw notFound()
}

/** The caller is signed in nowhere but here. Records `user:session.delete` when he was. */
export async function endOtherSessions(panel: Panel): Promise<void> {
  await end(panel, ne(sessions.id, currentSession(panel)))
}

async function end(panel: Panel, which: SQL): Promise<boolean> {
  const { id: userId } = callersAccount(panel)
  return inTransaction(panel, async (panel) => {
    const ended = await panel.db
      .delete(sessions)
      .where(and(eq(sessions.userId, userId), which))
      .returning({ id: sessions.id })
    if (ended.length > 0) await record(panel, 'user:session.delete', { userId })
    return ended.length > 0
  })
}

const currentSession = ({ actor }: Panel): string => (actor.kind === 'user' ? (actor.session?.id ?? '') : '')
