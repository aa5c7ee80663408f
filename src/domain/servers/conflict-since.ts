import { and, desc, eq, inArray, isNull, not } from 'drizzle-orm'
import { activity, activitySubjects, nodeHeartbeats, transfers } from '../../db/schema.ts'
import type { Panel } from '../../panel.ts'
import type { ServerAccess } from './access.ts'
import { findConflict, type ServerConflict } from './state.ts'

/** What keeps a server from being acted on, and since when; and since when its node has not answered. Null is none, or unknown. */
export type ConflictSince = {
  conflict: ServerConflict | null
  since: Date | null
  nodeDownSince: Date | null
}

/**
 * Shows what keeps a server from being acted on, since when where the panel knows it, and since when its node has not
 * answered. The panel does not know since when a node is under maintenance. Spec: docs/servers.md#status.
 */
export async function showConflict(panel: Panel, access: ServerAccess): Promise<ConflictSince> {
  const conflict = findConflict(access)
  const [since, [heartbeat]] = await Promise.all([
    findStart(panel, access.server, conflict),
    panel.db
      .select({ since: nodeHeartbeats.since })
      .from(nodeHeartbeats)
      .where(and(eq(nodeHeartbeats.id, access.node.id), not(nodeHeartbeats.isUp))),
  ])
  return { conflict, since, nodeDownSince: heartbeat?.since ?? null }
}

/** The events of a server with which a conflict begins. */
const events = {
  installing: [
    'server:reinstall',
    'server:installation.dispatch',
    'server:installation.fail',
    'server:installation.abandon',
  ],
  restoring: ['server:backup.restore', 'server:backup.restore-started'],
} as const

async function findStart(
  panel: Panel,
  server: ServerAccess['server'],
  conflict: ServerConflict | null,
): Promise<Date | null> {
  if (conflict === 'transferring') return findTransferStart(panel, server.id)
  if (conflict === 'suspended') return findSuspension(panel, server.id)
  if (conflict !== 'installing' && conflict !== 'restoring') return null
  const [entry] = await panel.db
    .select({ at: activity.timestamp })
    .from(activity)
    .where(and(eq(activity.serverId, server.id), inArray(activity.event, [...events[conflict]])))
    .orderBy(desc(activity.timestamp))
    .limit(1)
  // The first installation begins with the server itself.
  return entry?.at ?? (conflict === 'installing' ? (server.installedAt ?? server.createdAt) : null)
}

async function findTransferStart(panel: Panel, serverId: number): Promise<Date | null> {
  const [open] = await panel.db
    .select({ at: transfers.createdAt })
    .from(transfers)
    .where(and(eq(transfers.serverId, serverId), isNull(transfers.successful)))
  return open?.at ?? null
}

/** What administrators do to a server names it as a subject. */
async function findSuspension(panel: Panel, serverId: number): Promise<Date | null> {
  const [entry] = await panel.db
    .select({ at: activity.timestamp })
    .from(activitySubjects)
    .innerJoin(activity, eq(activity.id, activitySubjects.activityId))
    .where(
      and(
        eq(activitySubjects.subjectType, 'server'),
        eq(activitySubjects.subjectId, serverId),
        eq(activity.event, 'admin:server.suspend'),
      ),
    )
    .orderBy(desc(activity.id))
    .limit(1)
  return entry?.at ?? null
}
