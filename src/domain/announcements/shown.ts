import { and, desc, eq, exists, gt, inArray, isNull, lte, notExists, or, type SQL, sql } from 'drizzle-orm'
import { isForeignKeyViolation, single } from '../../db/database.ts'
import { oneRow } from '../../db/data-column.ts'
import { jsonColumn } from '../../db/json.ts'
import {
  announcementDismissals,
  announcementLocation,
  announcementNode,
  announcements,
  nodes,
  servers,
} from '../../db/schema.ts'
import type { Announcement } from '../../db/tables/announcements.ts'
import { notFound } from '../../errors.ts'
import type { Tx } from '../../panel.ts'
import { requireCaller } from '../auth/caller.ts'
import { accessibleServerIds } from '../servers/access.ts'

/** An announcement as a user sees it; `nodes` are the names of those of their nodes that it is about, null for all. */
export type ShownAnnouncement = Pick<
  Announcement,
  'id' | 'title' | 'body' | 'level' | 'startsAt' | 'endsAt'
> & {
  nodes: string[] | null
}

/** Announcements that a user sees at a time. */
const maxShown = 20

/** Selects the nodes of a user's servers that the statement's announcement is about. */
const concernedNodes = ({ db }: Tx, userId: number) => {
  const ofAnnouncement = db
    .select({ id: announcementNode.nodeId })
    .from(announcementNode)
    .where(eq(announcementNode.announcementId, announcements.id))
  const locationsOfAnnouncement = db
    .select({ id: announcementLocation.locationId })
    .from(announcementLocation)
    .where(eq(announcementLocation.announcementId, announcements.id))
  const ofUser = db
    .select({ id: servers.nodeId })
    .from(servers)
    .where(inArray(servers.id, accessibleServerIds(userId)))
  const isConcerned = and(
    or(inArray(nodes.id, ofAnnouncement), inArray(nodes.locationId, locationsOfAnnouncement)),
    inArray(nodes.id, ofUser),
  )
  return {
    any: db.select({ id: nodes.id }).from(nodes).where(isConcerned),
    names: db
      .select({ names: sql`json_agg(distinct ${nodes.name})` })
      .from(nodes)
      .where(isConcerned),
  }
}

/** Matches the announcements of now that are for a user. */
function isForUser(tx: Tx, userId: number): SQL | undefined {
  return and(
    lte(announcements.startsAt, tx.now()),
    or(isNull(announcements.endsAt), gt(announcements.endsAt, tx.now())),
    or(eq(announcements.audience, 'everyone'), exists(concernedNodes(tx, userId).any)),
  )
}

/**
 * Selects the announcements that the caller sees as one column, the latest first; none for an administrator who acts for
 * the user.
 */
export function shownAnnouncementsColumn(tx: Tx): SQL<ShownAnnouncement[]> {
  const { id: userId } = requireCaller(tx)
  if (tx.actor.kind === 'user' && tx.actor.administrator) return jsonColumn(sql`'[]'::json`)
  const dismissed = tx.db
    .select({ id: announcementDismissals.announcementId })
    .from(announcementDismissals)
    .where(
      and(
        eq(announcementDismissals.userId, userId),
        eq(announcementDismissals.announcementId, announcements.id),
      ),
    )
  const shown = tx.db
    .select({
      id: announcements.id,
      title: announcements.title,
      body: announcements.body,
      level: announcements.level,
      startsAt: announcements.startsAt,
      endsAt: announcements.endsAt,
      nodes:
        sql`(case when ${eq(announcements.audience, 'servers')} then (${concernedNodes(tx, userId).names}) end)`.as(
          'nodes',
        ),
    })
    .from(announcements)
    .where(and(isForUser(tx, userId), notExists(dismissed)))
    .orderBy(desc(announcements.startsAt), desc(announcements.id))
    .limit(maxShown)
  return jsonColumn(sql`select coalesce(json_agg(shown), '[]'::json) from (${shown}) shown`, toShown)
}

type ShownRow = Omit<ShownAnnouncement, 'startsAt' | 'endsAt'> & { starts_at: string; ends_at: string | null }

const toShown = (rows: unknown): ShownAnnouncement[] =>
  (rows as ShownRow[]).map(({ starts_at: startsAt, ends_at: endsAt, ...row }) => ({
    ...row,
    startsAt: new Date(startsAt),
    endsAt: endsAt === null ? null : new Date(endsAt),
  }))

/** Lists the announcements that the caller sees. Spec: docs/announcements.md#what-users-see. */
export async function listShownAnnouncements(tx: Tx): Promise<ShownAnnouncement[]> {
  return single(await tx.db.select({ shown: shownAnnouncementsColumn(tx) }).from(oneRow)).shown
}

/**
 * Dismisses an announcement for good; does nothing when the caller has done so before. Refuses with 404 one that is not
 * shown to them. Spec: docs/announcements.md#what-users-see.
 */
export async function dismissAnnouncement(tx: Tx, announcementId: number): Promise<void> {
  const { id: userId } = requireCaller(tx)
  const [found] = await tx.db
    .select({ id: announcements.id })
    .from(announcements)
    .where(and(eq(announcements.id, announcementId), isForUser(tx, userId)))
  if (!found) throw notFound()
  try {
    await tx.db.insert(announcementDismissals).values({ userId, announcementId }).onConflictDoNothing()
  } catch (error) {
    // It was deleted meanwhile.
    if (isForeignKeyViolation(error)) throw notFound()
    throw error
  }
}
