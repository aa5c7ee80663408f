import { and, eq, inArray, is, sql } from 'drizzle-orm'
import { PgTransaction } from 'drizzle-orm/pg-core'
import { type Database, prepared, single } from '../../db/database.ts'
import { activity, activitySubjects } from '../../db/schema.ts'
import type { ActivitySubject } from '../../db/tables/activity-subjects.ts'
import type { Activity } from '../../db/tables/activity.ts'
import type { Actor, Tx } from '../../panel.ts'
import { callerKeyId } from '../auth/caller.ts'
import { changedFields } from './changed-fields.ts'
import type { EventName } from './events.ts'

export type ActivityDetails = {
  /** The server that the event is about. */
  serverId?: number
  /** The account that the event is about. */
  userId?: number
  properties?: Record<string, unknown>
  /** Other resources that the event is about. */
  subjects?: Subject[]
  /** The actor when it is not that of the panel. */
  actor?: Actor
  /** The source when it does not follow from the actor. */
  source?: Activity['source']
}

/** Primary key of an entry in the activity log. */
export type EntryKey = Pick<Activity, 'id' | 'timestamp'>

/** Adds an entry to the activity log. Call it in the transaction of the change. */
export async function recordEvent(
  tx: Tx,
  event: EventName,
  details: ActivityDetails = {},
): Promise<EntryKey> {
  tx.metrics.count('roost_events_total', { event })
  const entry = single(await insertEntry(tx.db, activityRow(tx, event, details)))
  const subjects = details.subjects ?? []
  if (subjects.length > 0) {
    await tx.db
      .insert(activitySubjects)
      .values(subjects.map(({ type, id }) => ({ activityId: entry.id, subjectType: type, subjectId: id })))
  }
  return entry
}

const entryKey = { id: activity.id, timestamp: activity.timestamp }

/** Inserts an entry; outside a transaction by a statement that is built once. */
function insertEntry(db: Database, row: ReturnType<typeof activityRow>): Promise<EntryKey[]> {
  if (is(db, PgTransaction)) return db.insert(activity).values(row).returning(entryKey)
  return prepared(db, 'record_event', (connection) => {
    const values = Object.fromEntries(Object.keys(row).map((name) => [name, sql.placeholder(name)]))
    return connection
      .insert(activity)
      .values(values as never)
      .returning(entryKey)
      .prepare('record_event')
  }).execute(row)
}

type Subject = { type: ActivitySubject['subjectType']; id: number }

/**
 * Adds an entry about a change by an administrator. It names what was changed as a subject alone, so that only the
 * feed of administrators shows it. Call it in the transaction of the change.
 */
export const recordAdminEvent = (
  tx: Tx,
  event: Extract<EventName, `admin:${string}`>,
  subject: Subject,
  properties: Record<string, unknown>,
): Promise<EntryKey> => recordEvent(tx, event, { subjects: [subject], properties })

/** Adds such entries for several subjects, in two statements however many there are. */
export async function recordAdminEvents(
  tx: Tx,
  entries: {
    event: Extract<EventName, `admin:${string}`>
    subject: Subject
    properties: Record<string, unknown>
  }[],
): Promise<void> {
  if (entries.length === 0) return
  for (const { event } of entries) tx.metrics.count('roost_events_total', { event })
  const rows = entries.map(({ event, properties }) => activityRow(tx, event, { properties }))
  const inserted = await tx.db.insert(activity).values(rows).returning({ id: activity.id })
  const subjects = inserted.map(({ id }, at) => ({ activityId: id, subject: entries[at]?.subject }))
  await tx.db
    .insert(activitySubjects)
    .values(
      subjects.flatMap(({ activityId, subject }) =>
        subject ? [{ activityId, subjectType: subject.type, subjectId: subject.id }] : [],
      ),
    )
}

/** Does the same, with the fields that differ between two versions of a row; records nothing when none do. */
export async function recordAdminUpdate(
  tx: Tx,
  event: Extract<EventName, `admin:${string}`>,
  subject: Subject,
  { before, after, ...properties }: { before: object; after: object } & Record<string, unknown>,
): Promise<void> {
  const changed = changedFields(before, after)
  if (changed.length > 0) await recordAdminEvent(tx, event, subject, { ...properties, changed })
}

/** Does the same as a CTE of a larger statement, without subjects. */
export const recordEventCte = (tx: Tx, event: EventName, details: ActivityDetails) => {
  tx.metrics.count('roost_events_total', { event })
  return tx.db.$with('recorded').as(
    tx.db
      .insert(activity)
      .values(activityRow(tx, event, details))
      .returning({ id: activity.id }),
  )
}

/** Deletes an entry, for a change that was undone before anyone could see it. */
export async function deleteEntry(tx: Tx, { id, timestamp }: EntryKey): Promise<void> {
  await tx.db.delete(activity).where(and(eq(activity.id, id), eq(activity.timestamp, timestamp)))
  await tx.db.delete(activitySubjects).where(eq(activitySubjects.activityId, id))
}

/**
 * Deletes the entries of an event about a subject, for a change that was undone before anyone could see it.
 */
export async function deleteSubjectEvents(
  tx: Tx,
  event: EventName,
  { serverId, subject }: { serverId: number; subject: Subject },
): Promise<void> {
  const ofSubject = and(
    eq(activitySubjects.subjectType, subject.type),
    eq(activitySubjects.subjectId, subject.id),
  )
  const entryIds = tx.db.select({ id: activitySubjects.activityId }).from(activitySubjects).where(ofSubject)
  const deleted = await tx.db
    .delete(activity)
    .where(and(eq(activity.serverId, serverId), eq(activity.event, event), inArray(activity.id, entryIds)))
    .returning({ id: activity.id })
  const ids = deleted.map(({ id }) => id)
  await tx.db.delete(activitySubjects).where(and(ofSubject, inArray(activitySubjects.activityId, ids)))
}

/** Builds the row of an entry without subjects, for larger statements. */
export function activityRow(
  tx: Tx,
  event: EventName,
  details: ActivityDetails,
): typeof activity.$inferInsert {
  const actor = details.actor ?? tx.actor
  return {
    event,
    timestamp: tx.now(),
    ip: actor.kind === 'system' ? null : tx.ip,
    source: details.source ?? sourceOf(actor),
    actorId: actor.kind === 'user' ? (actor.administrator?.id ?? actor.user.id) : null,
    actedForId: actor.kind === 'user' && actor.administrator ? actor.user.id : null,
    apiKeyId: callerKeyId({ actor }),
    nodeId: actor.kind === 'node' ? actor.node.id : null,
    serverId: details.serverId ?? null,
    userId: details.userId ?? null,
    properties: details.properties ?? {},
  }
}

const sourceOf = (actor: Actor): Activity['source'] => {
  if (actor.kind === 'user') return actor.apiKey ? 'api' : 'web'
  return actor.kind === 'guest' ? 'web' : 'system'
}
