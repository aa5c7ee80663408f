import { eq, gt, lte, or, sql } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import type { RowPage } from '../../db/pagination.ts'
import { findRow, listRows } from '../../db/related-rows.ts'
import { announcementLocation, announcementNode, announcements } from '../../db/schema.ts'
import {
  type Announcement,
  announcementAudiences,
  announcementLevels,
} from '../../db/tables/announcements.ts'
import { notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordAdminEvent, recordAdminUpdate } from '../activity/record.ts'
import { rowId, text } from '../fields.ts'
import {
  combineFilters,
  containsFilter,
  equalsFilter,
  type Filter,
  idFilter,
  type ListRequest,
  orderByColumns,
} from '../filters.ts'
import { invalidField } from '../validation.ts'
import { requireExpectedVersion, versionOf } from '../versions.ts'
import { changePlaces, findPlaces } from './audience.ts'

/** As many as an answer shows of a relation, so that who replaces the list knows all of it. */
const maxPlaces = 500
/** Characters of a body. Spec: docs/limits.md#sizes. */
const maxBodyLength = 4000

const placeIds = () => z.array(rowId()).max(maxPlaces, 'max').nullish()
const time = () =>
  z.iso
    .datetime({ offset: true, error: 'date', abort: true })
    .refine((value) => Date.parse(value) >= 0, 'date')
    .transform((value) => new Date(value))
    .nullish()

/** An announcement to create. Spec: docs/announcements.md#announcements. */
export const AnnouncementInput = () =>
  z.object({
    title: text(120),
    body: text(maxBodyLength, 0)
      .nullish()
      .describe('Paragraphs between empty lines, **bold** and [links](https://…); HTML is shown as text'),
    level: z.enum(announcementLevels).nullish().describe('info when omitted'),
    audience: z
      .enum(announcementAudiences)
      .nullish()
      .describe('everyone, or those with a server in the locations or on the nodes; everyone when omitted'),
    locations: placeIds().describe('Replaces the list; one of both lists is needed for the audience servers'),
    nodes: placeIds().describe('Replaces the list; one of both lists is needed for the audience servers'),
    starts_at: time().describe('When users begin to see it; now when omitted'),
    ends_at: time().describe('When users stop to see it; null for no end'),
  })
/** The fields of `AnnouncementInput`, all optional. Spec: docs/announcements.md#announcements. */
export const AnnouncementChanges = () => AnnouncementInput().partial()
type AnnouncementInput = z.output<ReturnType<typeof AnnouncementInput>>
type AnnouncementChanges = z.output<ReturnType<typeof AnnouncementChanges>>

const hasEnded = (now: Date) => lte(announcements.endsAt, now)
const isScheduled = (now: Date) => gt(announcements.startsAt, now)

/** Matches announcements that wait for their start, are shown, or have ended. */
const stateFilter =
  (now: Date): Filter =>
  (values) =>
    or(
      values.includes('scheduled') ? isScheduled(now) : sql`false`,
      values.includes('ended') ? hasEnded(now) : undefined,
      values.includes('active')
        ? sql`not (${isScheduled(now)}) and (${hasEnded(now)}) is not true`
        : undefined,
    )

const filters = (now: Date) => ({
  title: containsFilter(announcements.title),
  level: equalsFilter(announcements.level),
  audience: equalsFilter(announcements.audience),
  state: stateFilter(now),
  author_id: idFilter(announcements.authorId),
  location_id: ((values) =>
    sql`${announcements.id} in (select ${announcementLocation.announcementId} from ${announcementLocation} where ${idFilter(announcementLocation.locationId)(values)})`) satisfies Filter,
  node_id: ((values) =>
    sql`${announcements.id} in (select ${announcementNode.announcementId} from ${announcementNode} where ${idFilter(announcementNode.nodeId)(values)})`) satisfies Filter,
})
/** Names of the fields that `filter` accepts. */
export const announcementFilters = Object.keys(filters(new Date(0)))

const sortColumns = {
  id: announcements.id,
  title: announcements.title,
  starts_at: announcements.startsAt,
  ends_at: announcements.endsAt,
}
/** Names of the fields that `sort` accepts. */
export const announcementSorts = Object.keys(sortColumns)

/** Lists one page of announcements. */
export const listAnnouncements = (
  panel: Panel,
  request: ListRequest,
  include: string[],
): Promise<RowPage<Announcement>> =>
  listRows(panel.db, 'announcement', {
    ...request,
    include,
    search: combineFilters(filters(panel.now()), request.filters),
    orderBy: orderByColumns(sortColumns, request.sorts),
  })

/** Finds an announcement with the included relations. Refuses with 404. */
export async function findAnnouncement(
  panel: Panel,
  id: number,
  include: string[] = [],
): Promise<Announcement> {
  const found = await findRow<Announcement>(panel.db, 'announcement', eq(announcements.id, id), include)
  if (!found) throw notFound()
  return found
}

/**
 * Creates an announcement. Refuses with 403 locations and nodes that the caller may not read; with 422 those that do not
 * exist, the audience `servers` without any, and an end that is not after the start. Records `admin:announcement.create`.
 */
export async function addAnnouncement(panel: Panel, input: AnnouncementInput): Promise<Announcement> {
  return inTransaction(panel, async (tx) => {
    const { title } = input
    const startsAt = input.starts_at ?? tx.now()
    requireEndAfterStart({ startsAt, endsAt: input.ends_at ?? null })
    const values = { ...columnsOf(input), title, startsAt, authorId: authorId(tx) }
    const announcement = single(await tx.db.insert(announcements).values(values).returning())
    await changePlaces(tx, announcement, { locations: [], nodes: [] }, input)
    await recordAdminEvent(tx, 'admin:announcement.create', toSubject(announcement), { title })
    return announcement
  })
}

/**
 * Changes the fields that were sent; who has dismissed it does not see it again. Refuses as `addAnnouncement` does, with
 * 404, and with 412 another version than the caller expects. Records `admin:announcement.update`.
 */
export async function changeAnnouncement(
  panel: Panel,
  id: number,
  input: AnnouncementChanges,
): Promise<Announcement> {
  return inTransaction(panel, async (tx) => {
    const [before] = await tx.db.select().from(announcements).where(eq(announcements.id, id)).for('update')
    if (!before) throw notFound()
    requireExpectedVersion(tx, versionOf(before))
    const changes = columnsOf(input)
    requireEndAfterStart({
      startsAt: changes.startsAt ?? before.startsAt,
      endsAt: changes.endsAt === undefined ? before.endsAt : changes.endsAt,
    })
    const announcement = single(
      await tx.db
        .update(announcements)
        .set({ ...changes, updatedAt: tx.now() })
        .where(eq(announcements.id, id))
        .returning(),
    )
    const places = await findPlaces(tx, id)
    const changed = await changePlaces(tx, announcement, places, input)
    await recordAdminUpdate(tx, 'admin:announcement.update', toSubject(announcement), {
      title: announcement.title,
      before: { ...before, ...places },
      after: { ...announcement, ...changed },
    })
    return announcement
  })
}

/** Deletes an announcement with what says who has dismissed it. Refuses with 404. Records `admin:announcement.delete`. */
export async function removeAnnouncement(panel: Panel, id: number): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const [removed] = await tx.db.delete(announcements).where(eq(announcements.id, id)).returning()
    if (!removed) throw notFound()
    await recordAdminEvent(tx, 'admin:announcement.delete', toSubject(removed), { title: removed.title })
  })
}

/** Returns the columns of the fields that were sent. */
const columnsOf = (input: AnnouncementChanges) => ({
  title: input.title,
  body: input.body === null ? '' : input.body,
  level: input.level ?? undefined,
  audience: input.audience ?? undefined,
  startsAt: input.starts_at ?? undefined,
  endsAt: input.ends_at,
})

function requireEndAfterStart({ startsAt, endsAt }: Pick<Announcement, 'startsAt' | 'endsAt'>): void {
  if (endsAt !== null && endsAt <= startsAt)
    throw invalidField('ends_at', 'after', 'The end must be a time after the start.', {
      reason: 'announcement_ends_too_early',
    })
}

const authorId = ({ actor }: Tx): number | null =>
  actor.kind === 'user' ? (actor.administrator?.id ?? actor.user.id) : null

const toSubject = ({ id }: Announcement) => ({ type: 'announcement' as const, id })
