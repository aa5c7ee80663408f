import { and, eq, inArray, isNull, lte, notExists, sql } from 'drizzle-orm'
import { QueryBuilder } from 'drizzle-orm/pg-core'
import { jobs, nodes, servers, transfers, trashItems } from '../../db/schema.ts'
import type { TrashItem } from '../../db/tables/trash-items.ts'
import type { Panel } from '../../panel.ts'
import { enqueueAll, type JobPayloads } from '../jobs.ts'
import { refuseConflict } from '../server-state.ts'
import { removeFolders } from './folders.ts'
import { forgetItems, holdFrom, isFree, releaseItems } from './hold.ts'

/** Items that one job removes, and servers that one tick finds; what is left waits for the next minute. */
const batch = 100

const keyPrefix = 'expire-trash:'

const builder = () => new QueryBuilder({ casing: 'snake_case' })

/** Jobs remove what has expired, one for each server; how many servers. Spec: Client API, file trash: retention. */
export async function enqueueExpiries(panel: Panel): Promise<number> {
  const waiting = builder()
    .select({ id: jobs.id })
    .from(jobs)
    .where(
      and(sql`${jobs.key} = ${keyPrefix}::text || ${trashItems.serverId}::text`, eq(jobs.state, 'waiting')),
    )
  const due = await panel.db
    .selectDistinct({ serverId: trashItems.serverId })
    .from(trashItems)
    .where(and(lte(trashItems.expiresAt, panel.now()), notExists(waiting)))
    .limit(batch)
  const runAt = panel.now()
  await enqueueAll(
    panel,
    'expire-trash',
    due.map(({ serverId }) => ({ payload: { serverId }, key: `${keyPrefix}${serverId}`, runAt })),
  )
  return due.length
}

/**
 * The job: expired items of the server are gone for good, a hundred at most; records
 * `server:file.trash.delete` of each. Throws, to be tried again, while the node is away or sends the files
 * elsewhere. A server that is gone needs nothing. Wings: POST …/files/delete
 */
export async function expireTrash(panel: Panel, { serverId }: JobPayloads['expire-trash']): Promise<void> {
  const place = await findPlace(panel, serverId)
  if (!place) return
  refuseConflict(place, ['suspended', 'maintenance', 'installing'])
  const items = await holdExpired(panel, serverId)
  if (items.length === 0) return
  const files = panel.daemon(place.node).files(place.server.uuid)
  try {
    await removeFolders(
      files,
      items.map(({ id }) => id),
    )
  } catch (error) {
    await releaseItems(panel, items)
    throw error
  }
  await forgetItems(panel, items, 'server:file.trash.delete')
}

async function findPlace(panel: Panel, serverId: number) {
  const moving = builder()
    .select({ id: transfers.id })
    .from(transfers)
    .where(and(eq(transfers.serverId, serverId), isNull(transfers.successful)))
  const [place] = await panel.db
    .select({ server: servers, node: nodes, isTransferring: sql<boolean>`exists (${moving})` })
    .from(servers)
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .where(eq(servers.id, serverId))
  return place
}

async function holdExpired(panel: Panel, serverId: number): Promise<TrashItem[]> {
  const now = panel.now()
  const expired = and(eq(trashItems.serverId, serverId), lte(trashItems.expiresAt, now), isFree(now))
  const some = builder().select({ id: trashItems.id }).from(trashItems).where(expired).limit(batch)
  return panel.db
    .update(trashItems)
    .set({ heldUntil: holdFrom(panel) })
    .where(and(inArray(trashItems.id, some), isFree(now)))
    .returning()
}
