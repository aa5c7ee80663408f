import { and, eq, inArray } from 'drizzle-orm'
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
  'server:file.read': ['file'],
  'server:file.download': ['file'],
  'server:file.write': ['file'],
  'server:file.copy': ['file'],
  'server:file.rename': ['directory', 'files'],
  'server:file.compress': ['directory', 'files'],
  'server:file.decompress': ['directory', 'files'],
  'server:file.delete': ['directory', 'files'],
  'server:file.create-directory': ['directory', 'name'],
  'server:file.pull': ['directory', 'url'],
  'server:file.trash.move': ['directory', 'files'],
  'server:file.trash.restore': ['path'],
  'server:file.trash.delete': ['path'],
  'server:subuser.create': ['email', 'permissions'],
  'server:subuser.update': ['email', 'old', 'new', 'revoked'],
  'server:subuser.delete': ['email', 'revoked'],
  'server:allocation.create': ['allocation'],
  'server:allocation.delete': ['allocation'],
  'server:allocation.primary': ['allocation'],
  'server:allocation.notes': ['allocation', 'old', 'new'],
  'server:settings.rename': ['old', 'new'],
  'server:settings.description': ['old', 'new'],
  'server:startup.edit': ['variable', 'old', 'new'],
  'server:startup.image': ['old', 'new'],
  'user:two-factor.create': [],
  'user:two-factor.delete': [],
  'user:two-factor.regenerate-tokens': [],
  'user:account.email-changed': ['old', 'new'],
  'user:account.password-changed': [],
  'user:account.avatar-updated': [],
  'user:account.avatar-removed': [],
  'user:account.privacy-updated': ['blur_sensitive_data'],
  'user:ssh-key.create': ['fingerprint'],
  'user:ssh-key.delete': ['fingerprint'],
  'server:backup.start': ['name', 'locked'],
  'server:backup.download': ['name'],
  'server:backup.lock': ['name'],
  'server:backup.unlock': ['name'],
  'server:backup.restore': ['name', 'truncate'],
  'server:backup.restore-started': ['name'],
  'server:backup.delete': ['name', 'failed'],
  'server:schedule.create': ['name'],
  'server:schedule.update': ['name', 'active'],
  'server:schedule.delete': ['name'],
  'server:schedule.execute': ['name'],
  'server:task.create': ['name', 'action', 'payload'],
  'server:task.update': ['name', 'action', 'payload'],
  'server:task.delete': ['name'],
  'server:backup.complete': ['name'],
  'server:backup.fail': ['name'],
  'server:backup.restore-complete': ['name'],
  'server:reinstall': [],
  'server:database.create': ['name'],
  'server:database.rotate-password': ['name'],
  'server:database.delete': ['name'],
  'server:backup.restore-failed': [],
  'server.backup.restore-failed': ['name'],
  'auth:success': ['method'],
  'auth:fail': ['method', 'reason'],
  'auth:checkpoint': ['method'],
  'auth:token': [],
  'auth:recovery-token': [],
  'auth:reset-password': [],
  'event:password-reset': [],
  'user:account.registered': [],
  'user:passkey.create': ['name'],
  'user:passkey.delete': ['name'],
  'user:identity.create': ['provider'],
  'user:identity.delete': ['provider'],
  'user:session.delete': [],
  'auth:sftp.fail': ['method'],
  'server:sftp.denied': [],
  'admin:settings.update': ['changed'],
  'admin:job.retry': ['job', 'name'],
  'admin:job.discard': ['job', 'name'],
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

/** Which entry of the audit log it is. */
export type EntryKey = Pick<Activity, 'id' | 'timestamp'>

/** Adds an entry to the audit log: call it in the transaction that makes the change. */
export async function record(panel: Panel, event: EventName, occurrence: Occurrence = {}): Promise<EntryKey> {
  panel.metrics.count('roost_events_total', { event })
  const entry = only(
    await panel.db
      .insert(activity)
      .values(entryOf(panel, event, occurrence))
      .returning({ id: activity.id, timestamp: activity.timestamp }),
  )
  const subjects = occurrence.subjects ?? []
  if (subjects.length > 0) {
    await panel.db
      .insert(activitySubjects)
      .values(subjects.map(({ type, id }) => ({ activityId: entry.id, subjectType: type, subjectId: id })))
  }
  return entry
}

/** The same as a part of another statement; without subjects. */
export const recording = (panel: Panel, event: EventName, occurrence: Occurrence) => {
  panel.metrics.count('roost_events_total', { event })
  return panel.db.$with('recorded').as(
    panel.db
      .insert(activity)
      .values(entryOf(panel, event, occurrence))
      .returning({ id: activity.id }),
  )
}

/** As if the event had never happened to the subject: for what was undone before anybody came to know of it. */
export async function forget(
  panel: Panel,
  event: EventName,
  { serverId, subject }: { serverId: number; subject: { type: ActivitySubject['subjectType']; id: number } },
): Promise<void> {
  const ofSubject = and(
    eq(activitySubjects.subjectType, subject.type),
    eq(activitySubjects.subjectId, subject.id),
  )
  const about = panel.db.select({ id: activitySubjects.activityId }).from(activitySubjects).where(ofSubject)
  const gone = await panel.db
    .delete(activity)
    .where(and(eq(activity.serverId, serverId), eq(activity.event, event), inArray(activity.id, about)))
    .returning({ id: activity.id })
  const ids = gone.map(({ id }) => id)
  await panel.db.delete(activitySubjects).where(and(ofSubject, inArray(activitySubjects.activityId, ids)))
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
