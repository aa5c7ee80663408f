import { and, eq, isNull } from 'drizzle-orm'
import * as z from 'zod'
import { DaemonError } from '../../adapters/daemon.ts'
import { backups, nodes, servers } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { badRequest } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { refuseDaemonFailure } from '../daemon-errors.ts'
import { boolean } from '../fields.ts'
import { cancelJob, type JobPayloads, replaceJob } from '../jobs.ts'
import type { ServerConflict } from '../server-state.ts'
import { lockAvailable } from '../servers/lock.ts'
import { archiveKey, diskOf, refuseLostObject, throughStore } from './archives.ts'
import { findBackup, lockBackup, occurrenceOf } from './backups.ts'
import { downloadToken } from './download.ts'
import { enqueueWatch, failRestoration, orderKey } from './restoration-ends.ts'

/** Seconds after which an order that nobody gave is given by its job: longer than the call itself. */
const orderGrace = 60
/** Seconds for which the link to an archive lives: the daemon follows it at once. */
const linkSeconds = 900
/** Daemons restore archives of this type alone. */
const archiveType = 'application/x-gzip'

/** States that are told with 400 here, as the specification asks. */
export const toldOtherwise = ['suspended', 'installing', 'restoring'] as const satisfies ServerConflict[]

/** `truncate` removes the server's files before. Spec: Client API, backups. */
export const RestorationInput = () => z.object({ truncate: boolean() })

type Target = { server: Server; node: Node }
type Restoration = Target & { backup: Backup; truncate: boolean }

/**
 * The daemon has accepted to restore the server, which goes on by itself; until it reports, or for two hours, the
 * status is `restoring_backup`. Records `server:backup.restore`, then `server:backup.restore-started`. When the
 * process dies on the way, a job gives the order.
 *
 * Refuses with 404; with 400 a server that has any status, a backup that is not a good one, one on an unknown
 * disk, and before anything is removed one which its node says it has lost; with 409 a node in maintenance and a
 * server that is being moved; with the daemon's status, 502 or 504 when it does not take the order: the status is
 * null again, and `server.backup.restore-failed` recorded, since files may be gone by then.
 * Spec: Client API, backups. Wings: POST …/backup/{backup}/restore
 */
export async function restoreBackup(
  panel: Panel,
  target: Target,
  uuid: string,
  { truncate }: { truncate: boolean },
): Promise<void> {
  const found = await findBackup(panel, target.server, uuid)
  refuseUnfit(target.server, found)
  await refuseLost(panel, target, found, truncate)
  const restoration = await inTransaction(panel, (inside) => begin(inside, target.server.id, uuid, truncate))
  try {
    if (!(await giveOrder(panel, restoration))) return
  } catch (error) {
    await failRestoration(panel, restoration)
    refuseDaemonFailure(error)
  }
  await accept(panel, restoration)
}

/**
 * The job: a daemon that nobody told is told, or the restoration has failed. One that was told is left to its
 * watch. Wings: POST …/backup/{backup}/restore
 */
export async function restoreBackupOnNode(
  panel: Panel,
  { backupId, truncate }: JobPayloads['restore-backup'],
): Promise<void> {
  const [found] = await panel.db
    .select({ backup: backups, server: servers, node: nodes })
    .from(backups)
    .innerJoin(servers, eq(servers.id, backups.serverId))
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .where(and(eq(backups.id, backupId), eq(servers.status, 'restoring_backup')))
  if (!found) return
  try {
    if (!(await giveOrder(panel, { ...found, truncate }))) return
  } catch (error) {
    if (!(error instanceof DaemonError)) throw error
    return failRestoration(panel, found)
  }
  await accept(panel, found)
}

function refuseUnfit({ status }: Pick<Server, 'status'>, backup: Backup): void {
  if (status !== null)
    throw badRequest(`The server cannot be restored while it is ${status.replace('_', ' ')}.`)
  if (!backup.isSuccessful || !backup.completedAt) throw badRequest('The backup is not a complete one.')
  diskOf(backup)
}

/** Daemons remove the files first and look for the archive then. A node is asked only where that would matter. */
async function refuseLost(panel: Panel, target: Target, backup: Backup, truncate: boolean): Promise<void> {
  if (backup.disk === 's3') {
    await refuseLostObject(panel, archiveKey({ ...target, backup }))
  } else if (truncate) {
    const token = await downloadToken(panel, target, backup)
    const isLost = await panel.daemon(target.node).lacksBackup(token).catch(refuseDaemonFailure)
    if (isLost) throw badRequest('The archive of this backup is not on its node any more.')
  }
}

async function begin(panel: Panel, serverId: number, uuid: string, truncate: boolean): Promise<Restoration> {
  const { server, node } = await lockAvailable(panel, serverId, toldOtherwise)
  const backup = await lockBackup(panel, server, uuid)
  refuseUnfit(server, backup)
  const now = panel.now()
  await panel.db
    .update(servers)
    .set({ status: 'restoring_backup', updatedAt: now })
    .where(eq(servers.id, serverId))
  await panel.db.update(backups).set({ restoreDispatchedAt: null }).where(eq(backups.id, backup.id))
  const { properties, ...occurrence } = occurrenceOf(backup)
  await record(panel, 'server:backup.restore', { ...occurrence, properties: { ...properties, truncate } })
  const runAt = new Date(now.getTime() + orderGrace * 1000)
  const payload = { backupId: backup.id, truncate }
  await replaceJob(panel, 'restore-backup', payload, { key: orderKey(server), runAt })
  await enqueueWatch(panel, { server, backup })
  return { server, node, backup, truncate }
}

/** Marks the order before the daemon hears it: it hears it once, whoever gives it. False when somebody else does. */
async function giveOrder(panel: Panel, restoration: Restoration): Promise<boolean> {
  const { server, node, backup, truncate } = restoration
  const adapter = diskOf(backup)
  const key = archiveKey(restoration)
  const sign = () => panel.objects.signedUrl(key, linkSeconds, archiveType)
  const downloadUrl = adapter === 's3' ? await throughStore(sign) : null
  const marked = await panel.db
    .update(backups)
    .set({ restoreDispatchedAt: panel.now() })
    .where(and(eq(backups.id, backup.id), isNull(backups.restoreDispatchedAt)))
    .returning({ id: backups.id })
  if (marked.length === 0) return false
  const { uuid } = backup
  await panel.daemon(node).restoreBackup(server.uuid, { uuid, adapter, truncate, downloadUrl })
  return true
}

const accept = (panel: Panel, { server, backup }: Pick<Restoration, 'server' | 'backup'>) =>
  inTransaction(panel, async (inside) => {
    await record(inside, 'server:backup.restore-started', occurrenceOf(backup))
    await cancelJob(inside, orderKey(server))
  })
