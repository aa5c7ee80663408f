import { and, eq, inArray, lte, sql } from 'drizzle-orm'
import { QueryBuilder } from 'drizzle-orm/pg-core'
import { jobs, nodes, servers, trashItems } from '../../db/schema.ts'
import type { TrashItem } from '../../db/tables/trash-items.ts'
import type { Panel } from '../../panel.ts'
import type { JobName, JobPayloads, MissingJobs } from '../jobs/enqueue.ts'
import { hasOpenTransfer } from '../servers/access.ts'
import { refuseConflict } from '../servers/state.ts'
import { removeTrashFolders } from './folders.ts'
import { deleteItems, leaseUntil, isNotLeased, releaseItems } from './lease.ts'

/** Items that one job deletes, and servers that one tick handles; the rest waits for the next minute. */
const batchSize = 100

const keyPrefix = 'expire-trash:'

const builder = () => new QueryBuilder({ casing: 'snake_case' })

/** Selects a job for each server with expired items, 100 at most. Spec: docs/files.md#trash. */
export const trashExpiryJobs = (now: Date): MissingJobs => sql`
  select ${'expire-trash' satisfies JobName}::text, jsonb_build_object('serverId', server_id), ${keyPrefix}::text || server_id
  from (select distinct server_id from ${trashItems} where expires_at <= ${now.toISOString()}::timestamptz
    and not exists (select 1 from ${jobs} where key = ${keyPrefix}::text || server_id and state = 'waiting')
    limit ${batchSize}) expired`

/**
 * Job: deletes the expired items of a server for good, 100 at most. Records `server:file.trash.delete` for each.
 * Throws, to be retried, while the node does not answer or the server is being transferred. Does nothing when the
 * server no longer exists. Wings: POST …/files/delete.
 */
export async function expireTrash(panel: Panel, { serverId }: JobPayloads['expire-trash']): Promise<void> {
  const target = await findServerOnNode(panel, serverId)
  if (!target) return
  refuseConflict(target, ['suspended', 'maintenance', 'installing'])
  const items = await leaseExpired(panel, serverId)
  if (items.length === 0) return
  const files = panel.daemon(target.node).files(target.server.uuid)
  try {
    await removeTrashFolders(
      files,
      items.map(({ id }) => id),
    )
  } catch (error) {
    await releaseItems(panel, items)
    throw error
  }
  await deleteItems(panel, items, 'server:file.trash.delete')
}

async function findServerOnNode(panel: Panel, serverId: number) {
  const [target] = await panel.db
    .select({ server: servers, node: nodes, isTransferring: hasOpenTransfer() })
    .from(servers)
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .where(eq(servers.id, serverId))
  return target
}

async function leaseExpired(panel: Panel, serverId: number): Promise<TrashItem[]> {
  const now = panel.now()
  const expired = and(eq(trashItems.serverId, serverId), lte(trashItems.expiresAt, now), isNotLeased(now))
  const expiredIds = builder().select({ id: trashItems.id }).from(trashItems).where(expired).limit(batchSize)
  return panel.db
    .update(trashItems)
    .set({ heldUntil: leaseUntil(panel) })
    .where(and(inArray(trashItems.id, expiredIds), isNotLeased(now)))
    .returning()
}
