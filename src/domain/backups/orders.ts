import { and, eq, isNull } from 'drizzle-orm'
import { DaemonError } from '../../adapters/daemon.ts'
import { backups, nodes, servers } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { forget } from '../activity.ts'
import { cancelJob, enqueue, forgetJob, type JobPayloads } from '../jobs.ts'
import { diskOf, removalLifetime } from './archives.ts'
import { failBackup } from './failures.ts'

/** A backup whose place is taken. */
export type Order = { server: Pick<Server, 'uuid'>; node: Node; backup: Backup }

/** Under which the job that tells the daemon waits. */
export const startKey = ({ id }: Pick<Backup, 'id'>) => `start-backup:${id}`
/** Under which the job that ends a backup nobody reports of waits. */
export const expiryKey = ({ id }: Pick<Backup, 'id'>) => `expire-backup:${id}`

/**
 * The daemon has accepted the order. Throws what it fails with once nothing is left of the backup, as if nobody
 * had asked for it; one of which the daemon has spoken since is kept. Wings: POST …/backup
 */
export async function dispatchBackup(panel: Panel, order: Order): Promise<Backup> {
  try {
    await giveOrder(panel, order)
  } catch (error) {
    const isLost = error instanceof DaemonError && error.retryAfter === null
    const mayHaveBegun = isLost && (error.status === null || error.status >= 500)
    const isUndone = await inTransaction(panel, (inside) => undoStart(inside, order, { mayHaveBegun }))
    if (isUndone) throw error
  }
  await cancelJob(panel, startKey(order.backup))
  return order.backup
}

/**
 * The job: a daemon that nobody told is told. A refusal fails the backup; an answer that never comes leaves it
 * to its deadline, since it may be made. Wings: POST …/backup
 */
export async function startBackupOnNode(
  panel: Panel,
  { backupId }: JobPayloads['start-backup'],
): Promise<void> {
  const [order] = await panel.db
    .select({ backup: backups, server: servers, node: nodes })
    .from(backups)
    .innerJoin(servers, eq(servers.id, backups.serverId))
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .where(and(eq(backups.id, backupId), isNull(backups.completedAt)))
  if (!order) return
  try {
    await giveOrder(panel, order)
  } catch (error) {
    if (!(error instanceof DaemonError)) throw error
    if (error.retryAfter !== null) {
      await panel.db.update(backups).set({ dispatchedAt: null }).where(eq(backups.id, backupId))
      throw error
    }
    if (error.status !== null) await failBackup(panel, order)
  }
}

/** Marks the order before the daemon hears it: it hears it once, whoever gives it. */
async function giveOrder(panel: Panel, { server, node, backup }: Order): Promise<void> {
  const marked = await panel.db
    .update(backups)
    .set({ dispatchedAt: panel.now() })
    .where(and(eq(backups.id, backup.id), isNull(backups.dispatchedAt), isNull(backups.deletingAt)))
    .returning({ id: backups.id })
  if (marked.length === 0) return
  const { uuid, ignoredFiles: ignored } = backup
  await panel.daemon(node).createBackup(server.uuid, { uuid, adapter: diskOf(backup), ignored })
}

/**
 * In a transaction: row, event and jobs of a backup are gone, unless its daemon has spoken of it or somebody
 * removes it: then it is kept, and the answer is false. Where the daemon may have begun, a job removes what it
 * made.
 */
export async function undoStart(
  panel: Panel,
  { server, node, backup }: Order,
  { mayHaveBegun }: { mayHaveBegun: boolean },
): Promise<boolean> {
  const { id, uuid, serverId, disk } = backup
  const gone = await panel.db
    .delete(backups)
    .where(
      and(
        eq(backups.id, id),
        isNull(backups.completedAt),
        isNull(backups.uploadId),
        isNull(backups.deletingAt),
      ),
    )
    .returning({ id: backups.id })
  if (gone.length === 0) return false
  await forget(panel, 'server:backup.start', { serverId, subject: { type: 'backup', id } })
  await forgetJob(panel, startKey(backup))
  await forgetJob(panel, expiryKey(backup))
  if (mayHaveBegun && disk === 'wings') {
    const payload = { nodeId: node.id, serverUuid: server.uuid, backupUuid: uuid }
    await enqueue(panel, 'discard-backup-archive', payload, { lifetimeSeconds: removalLifetime })
  }
  return true
}

/** The job: the node holds no archive of a backup that the panel knows nothing of. Wings: DELETE …/backup/{backup} */
export async function discardArchive(
  panel: Panel,
  { nodeId, serverUuid, backupUuid }: JobPayloads['discard-backup-archive'],
): Promise<void> {
  const [node] = await panel.db.select().from(nodes).where(eq(nodes.id, nodeId))
  if (node) await panel.daemon(node).deleteBackup(serverUuid, backupUuid)
}
