import { and, eq, notInArray } from 'drizzle-orm'
import { isForeignKeyViolation } from '../../db/database.ts'
import { announcementLocation, announcementNode } from '../../db/schema.ts'
import type { Announcement } from '../../db/tables/announcements.ts'
import type { Tx } from '../../panel.ts'
import { requireAccessLevel } from '../auth/access-levels.ts'
import { invalidField } from '../validation.ts'

/** The ids of the locations and the nodes whose servers an announcement is about, in their order. */
export type Places = { locations: number[]; nodes: number[] }

/** The lists that were sent. */
type SentPlaces = { [Name in keyof Places]?: number[] | null | undefined }

/** Finds the locations and the nodes of an announcement. */
export async function findPlaces(tx: Tx, announcementId: number): Promise<Places> {
  const locations = await tx.db
    .select({ id: announcementLocation.locationId })
    .from(announcementLocation)
    .where(eq(announcementLocation.announcementId, announcementId))
    .orderBy(announcementLocation.locationId)
  const nodes = await tx.db
    .select({ id: announcementNode.nodeId })
    .from(announcementNode)
    .where(eq(announcementNode.announcementId, announcementId))
    .orderBy(announcementNode.nodeId)
  return { locations: locations.map(({ id }) => id), nodes: nodes.map(({ id }) => id) }
}

/**
 * Replaces the lists that were sent, and returns both; an announcement for everyone has none. Refuses with 403 a change
 * of places that the caller may not read, with 422 those that do not exist, and an announcement for servers without any.
 */
export async function changePlaces(
  tx: Tx,
  { id, audience }: Announcement,
  before: Places,
  sent: SentPlaces,
): Promise<Places> {
  const isForServers = audience === 'servers'
  const after = {
    locations: isForServers ? (sortedIds(sent.locations) ?? before.locations) : [],
    nodes: isForServers ? (sortedIds(sent.nodes) ?? before.nodes) : [],
  }
  if (isForServers && after.locations.length + after.nodes.length === 0)
    throw invalidField('nodes', 'required_unless', 'Choose at least one location or node.', {
      reason: 'announcement_without_places',
    })
  if (differ(before.locations, after.locations)) requireAccessLevel(tx, 'locations', 'read')
  if (differ(before.nodes, after.nodes)) requireAccessLevel(tx, 'nodes', 'read')
  await replaceLocations(tx, id, after.locations)
  await replaceNodes(tx, id, after.nodes)
  return after
}

async function replaceLocations(tx: Tx, announcementId: number, ids: number[]): Promise<void> {
  const { announcementId: announcement, locationId } = announcementLocation
  await tx.db
    .delete(announcementLocation)
    .where(and(eq(announcement, announcementId), notInArray(locationId, ids)))
  const rows = ids.map((id) => ({ announcementId, locationId: id }))
  if (rows.length === 0) return
  await rejectUnknown('locations', () =>
    tx.db.insert(announcementLocation).values(rows).onConflictDoNothing(),
  )
}

async function replaceNodes(tx: Tx, announcementId: number, ids: number[]): Promise<void> {
  const { announcementId: announcement, nodeId } = announcementNode
  await tx.db.delete(announcementNode).where(and(eq(announcement, announcementId), notInArray(nodeId, ids)))
  const rows = ids.map((id) => ({ announcementId, nodeId: id }))
  if (rows.length === 0) return
  await rejectUnknown('nodes', () => tx.db.insert(announcementNode).values(rows).onConflictDoNothing())
}

async function rejectUnknown(field: keyof Places, insert: () => Promise<unknown>): Promise<void> {
  try {
    await insert()
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    throw invalidField(field, 'exists', `One of the ${field} does not exist.`)
  }
}

const sortedIds = (ids: number[] | null | undefined) =>
  ids ? [...new Set(ids)].toSorted((one, other) => one - other) : null
const differ = (one: number[], other: number[]) => one.join() !== other.join()
