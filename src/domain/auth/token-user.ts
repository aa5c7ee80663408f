import { and, eq, gt, isNotNull, or, sql } from 'drizzle-orm'
import { activity, activitySubjects } from '../../db/schema.ts'
import type { Panel, Tx } from '../../panel.ts'
import { digest } from '../secrets.ts'
import { requireCaller } from './caller.ts'

/**
 * Returns the uuid by which a daemon reports what the caller does with a token. A daemon reports one user: while an
 * administrator acts for one, the uuid is that of their session, which stands for both. Refuses with 401 callers that
 * are not users.
 */
export function tokenUserOf(panel: Panel): string {
  const { actor } = panel
  const { uuid } = requireCaller(panel)
  return actor.kind === 'user' && actor.administrator && actor.session
    ? actingTokenUser(actor.session.id)
    : uuid
}

/** Returns the uuid that stands for a session in which an administrator acts for a user. */
export function actingTokenUser(sessionId: string): string {
  const hex = digest(`acting ${sessionId}`)
  const ends = [8, 12, 16, 20, 32]
  return ends.map((end, at) => hex.slice(ends[at - 1] ?? 0, end)).join('-')
}

/** Minutes in which an administrator acts, and a daemon takes a token that was given out at their end. */
const actingTokenMinutes = 30

/**
 * Lists the uuids by which daemons may still know who acts for this user, and this user acting for others. Sessions
 * that have ended count, too: their tokens have not.
 */
export async function findActingTokenUsers(tx: Tx, userId: number): Promise<string[]> {
  const since = new Date(tx.now().getTime() - actingTokenMinutes * 60_000)
  const isOfUser = and(eq(activitySubjects.subjectType, 'user'), eq(activitySubjects.subjectId, userId))
  const rows = await tx.db
    .selectDistinct({ tokenUser: sql<string>`${activity.properties} ->> 'token_user'` })
    .from(activity)
    .leftJoin(activitySubjects, and(eq(activitySubjects.activityId, activity.id), isOfUser))
    .where(
      and(
        eq(activity.event, 'admin:user.act'),
        gt(activity.timestamp, since),
        or(eq(activity.actorId, userId), isNotNull(activitySubjects.activityId)),
      ),
    )
  return rows.map(({ tokenUser }) => tokenUser)
}
