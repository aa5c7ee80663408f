import { activity, activitySubjects } from '../db/schema.ts'
import { only } from '../db/database.ts'
import type { Activity } from '../db/tables/activity.ts'
import type { ActivitySubject } from '../db/tables/activity-subjects.ts'
import type { Actor, Panel } from '../panel.ts'

/** Every event the panel itself records, with the names of its properties. Daemons report further ones. */
export const events = {
  'auth:ip-blocked': ['identifier'],
  'server:power.start': [],
  'server:power.stop': [],
  'server:power.restart': [],
  'server:power.kill': [],
  'server:console.command': ['command'],
  'server:backup.complete': ['name'],
  'server:backup.fail': ['name'],
  'server:backup.restore-complete': ['name'],
  'server:reinstall': [],
  'server:database.create': ['name'],
  'server:database.rotate-password': ['name'],
  'server:database.delete': ['name'],
  'server:backup.restore-failed': [],
  'server.backup.restore-failed': ['name'],
  'auth:sftp.fail': ['method'],
  'server:sftp.denied': [],
  'admin:settings.update': ['changed'],
  'user:api-key.create': ['identifier'],
  'user:api-key.delete': ['identifier'],
} as const satisfies Record<string, readonly string[]>
export type EventName = keyof typeof events

export type Occurrence = {
  /** The server it happened to. */
  serverId?: number
  /** The account it happened to. */
  userId?: number
  properties?: Record<string, unknown>
  /** What else it is about. */
  subjects?: { type: ActivitySubject['subjectType']; id: number }[]
  /** Who did it, when that is not the panel's actor. */
  actor?: Actor
  /** The way on which he came, when the actor does not tell. */
  source?: Activity['source']
}

/** Adds an entry to the audit log: call it in the transaction that makes the change. */
export async function record(panel: Panel, event: EventName, occurrence: Occurrence = {}): Promise<void> {
  const entry = only(
    await panel.db
      .insert(activity)
      .values(entryOf(panel, event, occurrence))
      .returning({ id: activity.id }),
  )
  const subjects = occurrence.subjects ?? []
  if (subjects.length === 0) return
  await panel.db
    .insert(activitySubjects)
    .values(subjects.map(({ type, id }) => ({ activityId: entry.id, subjectType: type, subjectId: id })))
}

/** The row of an occurrence without subjects, for a statement that writes more than this. */
export function entryOf(
  panel: Panel,
  event: EventName,
  occurrence: Occurrence,
): typeof activity.$inferInsert {
  const actor = occurrence.actor ?? panel.actor
  return {
    event,
    timestamp: panel.now(),
    ip: actor.kind === 'system' ? null : panel.ip,
    source: occurrence.source ?? sourceOf(actor),
    actorId: actor.kind === 'user' ? actor.user.id : null,
    apiKeyId: actor.kind === 'user' ? (actor.apiKey?.id ?? null) : null,
    nodeId: actor.kind === 'node' ? actor.node.id : null,
    serverId: occurrence.serverId ?? null,
    userId: occurrence.userId ?? null,
    properties: occurrence.properties ?? {},
  }
}

const sourceOf = (actor: Actor): Activity['source'] => {
  if (actor.kind === 'user') return actor.apiKey ? 'api' : 'web'
  return actor.kind === 'guest' ? 'web' : 'system'
}
