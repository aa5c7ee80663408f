import { eq, sql, type SQL } from 'drizzle-orm'
import * as z from 'zod'
import type { DataColumn } from '../../db/data-column.ts'
import { embedMany } from '../../db/embed.ts'
import type { RowPage } from '../../db/pagination.ts'
import { activity, activitySubjects, apiKeys, users } from '../../db/schema.ts'
import type { ActivitySubject } from '../../db/tables/activity-subjects.ts'
import type { Activity } from '../../db/tables/activity.ts'
import type { Panel } from '../../panel.ts'
import { integer } from '../fields.ts'
import type { ListRequest } from '../filters.ts'
import {
  ActivityFilter,
  activityFilters,
  ActivityQuery,
  eitherOfServer,
  filterConditions,
} from './conditions.ts'
import { entriesColumn, type FoundEntries, isOldestFirst, toEntryPage } from './list-query.ts'
import { hiddenEvent, timeConditions } from './matching-entries.ts'
import type { EntryKey } from './record.ts'

/** Entries that one statement of an export looks at. */
const exportBatchSize = 200

/** Entries that moved in from another panel have ids below zero. */
const cursorPattern = /^(\d{1,15})\.(-?\d{1,15})$/

const anyNumber = { type: ['integer', 'string'] }

/** Query of the feed of administrators. Spec: getApplicationActivity. */
export const PanelActivityQuery = () =>
  ActivityQuery().extend({
    // As in other lists for administrators, numbers out of bounds are brought into them.
    page: integer(1).nullish().catch(null).meta({ acceptedAs: anyNumber }),
    per_page: integer(1, 100).nullish().catch(null).meta({ acceptedAs: anyNumber }),
    filter: ActivityFilter()
      .extend({
        actor_id: integer(1).nullish().describe('Id of the user who acted'),
        server_id: integer(1).nullish().describe('Id of the server that an event is about'),
      })
      .nullish(),
    format: z
      .enum(['json', 'ndjson', 'csv'])
      .nullish()
      .describe('ndjson and csv export all entries, as the header Accept does'),
    cursor: z
      .string()
      .regex(cursorPattern, 'regex')
      .nullish()
      .describe('Where an export continues, from the header Link of the part before'),
  })

/** Names of its filters. */
export const panelActivityFilters = [...activityFilters, 'actor_id', 'server_id'] as const

/** An entry with what it refers to; names are null when the account or the key is gone. */
export type PanelActivityEntry = {
  entry: Activity
  /** User name of the actor. */
  actorName: string | null
  /** User name of the user for whom an administrator acted. */
  actedForName: string | null
  /** Identifier of the API key. */
  keyIdentifier: string | null
  subjects: ActivitySubject[]
}

const columns = () => ({
  actorName: sql<
    string | null
  >`(select ${users.username} from ${users} where ${users.id} = ${activity.actorId})`,
  actedForName: sql<
    string | null
  >`(select ${users.username} from ${users} where ${users.id} = ${activity.actedForId})`,
  keyIdentifier: sql<
    string | null
  >`(select ${apiKeys.identifier} from ${apiKeys} where ${apiKeys.id} = ${activity.apiKeyId})`,
  subjects: embedMany(activitySubjects, {
    where: (subject) => eq(subject.activityId, activity.id),
    orderBy: (subject) => sql`${subject.subjectType}, ${subject.subjectId}`,
  }),
})

/**
 * Selects one page of the whole audit log, newest first; nothing for an export, which reads part after part. Spec:
 * docs/activity.md#feed-of-administrators.
 */
export function panelActivityColumn(
  panel: Panel,
  request: ListRequest,
  isExport: boolean,
): DataColumn<FoundPanelEntries | null> {
  if (isExport) return { name: 'no_activity', column: () => sql<null>`null`, values: {} }
  const conditions = filterConditions(panel, request.filters, null)
  const either = eitherOfServer(request.filters)
  const selection = { scope: null, either, hiddenActors: null, ...conditions }
  return entriesColumn('panel_activity', request, selection, () => ({ further: columns() }))
}
type FoundPanelEntries = FoundEntries<Activity & Omit<PanelActivityEntry, 'entry'>>

/** Returns the page that `panelActivityColumn` found. Throws for an export. */
export function toPanelActivity(
  found: FoundPanelEntries | null,
  request: ListRequest,
): RowPage<PanelActivityEntry> & { events: string[] } {
  if (!found) throw new Error('An export has no page.')
  const page = toEntryPage(found, request)
  const rows = page.rows.map(({ actorName, actedForName, keyIdentifier, subjects, ...entry }) => ({
    entry,
    actorName,
    actedForName,
    keyIdentifier,
    subjects,
  }))
  return { ...page, rows }
}

/** A part of an export: `next` is where the part after it begins, null after the last one. */
export type ExportPart = { entries: PanelActivityEntry[]; next: string | null }

/**
 * Exports all entries that match the filters, in the order of the feed. Each part is one statement over at most
 * 200 entries, so that neither its time nor its memory grows with the log. Leaves out entries that are recorded
 * meanwhile. `cursor` continues an earlier export. Spec: docs/activity.md#feed-of-administrators.
 */
export async function* exportPanelActivity(
  panel: Panel,
  request: ListRequest,
  cursor: string | null,
): AsyncGenerator<ExportPart> {
  const isAscending = isOldestFirst(request)
  const selection = filterConditions(panel, request.filters, null, sql`activity.event`)
  const { eventConditions, indexedConditions, unindexedConditions } = selection
  const either = eitherOfServer(request.filters)
  const isRecordedBefore = sql`timestamp <= ${panel.now().toISOString()}::timestamptz`
  let start = cursor === null ? null : readCursor(cursor)
  do {
    const { entries, last } = await readPart(panel, {
      range: [
        isRecordedBefore,
        ...timeConditions(selection),
        ...(start ? [isBehind(start, isAscending)] : []),
      ],
      isAscending,
      conditions: [
        ...eventConditions,
        ...indexedConditions,
        ...unindexedConditions,
        ...(either ? [sql`(${either.scope.column} = ${either.scope.value} or ${either.condition})`] : []),
      ],
    })
    start = last
    yield { entries, next: last && cursorOf(last) }
  } while (start)
}

/** Returns the cursor that continues an export behind an entry. */
export const cursorOf = ({ timestamp, id }: EntryKey): string => `${timestamp.getTime()}.${id}`

function readCursor(cursor: string): EntryKey {
  const [, time, id] = cursorPattern.exec(cursor) ?? []
  // The latest time that PostgreSQL and JavaScript both know.
  return { timestamp: new Date(Math.min(Number(time), Date.UTC(9999, 0))), id: Number(id) }
}

function isBehind({ timestamp, id }: EntryKey, isAscending: boolean): SQL {
  const key = sql`(${timestamp.toISOString()}::timestamptz, ${id}::bigint)`
  return isAscending ? sql`(timestamp, id) > ${key}` : sql`(timestamp, id) < ${key}`
}

type PartSelection = { range: SQL[]; isAscending: boolean; conditions: SQL[] }

/**
 * Reads the first entries of the range that match. `last` is the last one that was looked at, matching or not;
 * null when the range has no more.
 */
async function readPart(
  panel: Panel,
  { range, isAscending, conditions }: PartSelection,
): Promise<{ entries: PanelActivityEntry[]; last: EntryKey | null }> {
  const order = isAscending ? sql`timestamp, id` : sql`timestamp desc, id desc`
  const scanned = sql`(select id, timestamp, row_number() over (order by ${order}) as position
    from (select id, timestamp from ${activity} where ${sql.join(range, sql` and `)}
      order by ${order} limit ${exportBatchSize}) newest) scanned`
  const isMatching = sql.join([sql`activity.event <> ${hiddenEvent}`, ...conditions], sql` and `)
  const rows = await panel.db
    .select({
      position: sql`scanned.position`.mapWith(Number),
      id: sql`scanned.id`.mapWith(Number),
      timestamp: sql`scanned.timestamp`.mapWith(activity.timestamp),
      entry: activity,
      ...columns(),
    })
    .from(scanned)
    .leftJoin(
      activity,
      sql`activity.id = scanned.id and activity.timestamp = scanned.timestamp and ${isMatching}`,
    )
    // The last position is needed even when its entry does not match.
    .where(sql`activity.id is not null or scanned.position = ${exportBatchSize}`)
    .orderBy(sql`scanned.position`)
  const end = rows.at(-1)
  return {
    entries: rows.flatMap(({ position: _position, id: _id, timestamp: _timestamp, entry, ...rest }) =>
      entry ? [{ entry, ...rest }] : [],
    ),
    last: end?.position === exportBatchSize ? { id: end.id, timestamp: end.timestamp } : null,
  }
}
