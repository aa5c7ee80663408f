import { and, eq, gt } from 'drizzle-orm'
import * as z from 'zod'
import { DaemonError } from '../../adapters/daemon-error.ts'
import { activity, backups, nodes, servers } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import type { Job } from '../../db/tables/jobs.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import type { EventName } from '../activity/events.ts'
import { recordEvent } from '../activity/record.ts'
import { boolean } from '../fields.ts'
import { cancelJob, enqueueJob, type JobPayloads, replaceJob } from '../jobs/enqueue.ts'
import { notifyUsers } from '../notifications/notify.ts'
import { lockServer } from '../servers/lock.ts'
import { toBackupActivity, toBackupNotification } from './backups.ts'
import { backupNotFound, findNodeBackup } from './node-backups.ts'

/** Seconds after which a restoration is checked for the first time, and between further checks. */
const watchDelaySeconds = { first: 2 * 3600, repeat: 1800 }
/** Milliseconds after which a restoration has failed, whatever its daemon reports. */
const maxRestorationMs = 24 * 3600 * 1000
/** Attempts to ask a daemon that does not answer, over some minutes. */
const maxAttempts = 8

/** The key of the job that sends a restoration to the daemon. */
export const restoreJobKey = ({ id }: Pick<Server, 'id'>) => `restore-backup:${id}`
/** The key of the job that checks a restoration. */
export const watchJobKey = ({ id }: Pick<Server, 'id'>) => `watch-restoration:${id}`

type Restoration = { server: Pick<Server, 'id'>; backup: Backup }

/** Enqueues the job that checks the restoration, in place of that for an earlier one. */
export function enqueueRestorationWatch(
  tx: Tx,
  { server, backup }: { server: Pick<Server, 'id'>; backup: Pick<Backup, 'id'> },
  seconds = watchDelaySeconds.first,
): Promise<void> {
  const runAt = new Date(tx.now().getTime() + seconds * 1000)
  const payload = { serverId: server.id, backupId: backup.id }
  return replaceJob(tx, 'watch-restoration', payload, { key: watchJobKey(server), runAt })
}

/**
 * Ends a restoration as failed: the server has no status again, but its files may have been deleted or replaced.
 * Records `server.backup.restore-failed`. Changes nothing when the restoration is over.
 */
export async function failRestoration(panel: Panel, { server, backup }: Restoration): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const { status } = await lockServer(tx, server.id)
    await cancelJob(tx, restoreJobKey(server))
    await cancelJob(tx, watchJobKey(server))
    if (status !== 'restoring_backup') return
    await tx.db.update(servers).set({ status: null, updatedAt: tx.now() }).where(eq(servers.id, server.id))
    await recordEvent(tx, 'server.backup.restore-failed', toBackupActivity(backup))
    await notifyUsers(tx, 'restore.failed', toBackupNotification(backup))
  })
}

/**
 * Job: fails a restoration without a report, unless the daemon is still working on it, for a day at most. Spec:
 * docs/backups.md#deadlines. Wings: GET /api/servers/{uuid}.
 */
export async function watchRestoration(
  panel: Panel,
  { serverId, backupId }: JobPayloads['watch-restoration'],
  job: Pick<Job, 'attempts'>,
): Promise<void> {
  const [found] = await panel.db
    .select({ server: servers, node: nodes, backup: backups })
    .from(servers)
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .innerJoin(backups, and(eq(backups.serverId, servers.id), eq(backups.id, backupId)))
    .where(and(eq(servers.id, serverId), eq(servers.status, 'restoring_backup')))
  if (!found) return
  const dispatchedAt = found.backup.restoreDispatchedAt ?? new Date(0)
  const isOverdue = panel.now().getTime() - dispatchedAt.getTime() > maxRestorationMs
  if (!isOverdue && (await isRestoring(panel, found, job))) {
    return enqueueRestorationWatch(panel, found, watchDelaySeconds.repeat)
  }
  await failRestoration(panel, found)
}

/**
 * Daemons report a server as suspended while they restore it. One that does not answer for some minutes counts as
 * done.
 */
async function isRestoring(
  panel: Panel,
  { server, node }: { server: Server; node: Node },
  { attempts }: Pick<Job, 'attempts'>,
): Promise<boolean> {
  try {
    const { is_suspended: isRestoring } = await panel.daemon(node).showServer(server.uuid)
    return isRestoring === true
  } catch (error) {
    if (!(error instanceof DaemonError)) throw error
    if (error.status !== 404 && attempts < maxAttempts) throw error
    return false
  }
}

/** Seconds within which a daemon may repeat a report whose answer was lost. */
const reportRepeatSeconds = 60
/** Seconds that a daemon needs at most to finish a restoration once its report is answered. */
const syncDelaySeconds = 15

/**
 * A daemon's report on a finished restoration; a missing value is a failure. Wings: POST /backups/{uuid}/restore.
 */
export const RestorationReport = () => z.object({ successful: boolean().nullish() })
type RestorationReport = z.output<ReturnType<typeof RestorationReport>>

/**
 * Applies the report of a daemon: a server that was being restored has no status again, any other status stays
 * (RM-4). Records `server:backup.restore-complete` or `server.backup.restore-failed`, once for reports within a
 * minute. A suspended server is synchronised again, since daemons forget the suspension. Refuses with 404 an
 * unknown backup, with 403 one of another node. Spec: docs/servers.md#status.
 */
export async function applyRestorationReport(
  panel: Panel,
  node: Node,
  uuid: string,
  { successful }: RestorationReport,
): Promise<void> {
  const { backup, server } = await findNodeBackup(panel, node, uuid)
  const event = successful ? 'server:backup.restore-complete' : 'server.backup.restore-failed'
  const now = panel.now()
  await inTransaction(panel, async (tx) => {
    const { db } = tx
    const [locked] = await db
      .select({ status: servers.status })
      .from(servers)
      .where(eq(servers.id, server.id))
      .for('update')
    if (!locked) throw backupNotFound()
    const isFirstReport = locked.status === 'restoring_backup'
    if (isFirstReport) {
      await db.update(servers).set({ status: null, updatedAt: now }).where(eq(servers.id, server.id))
      await cancelJob(tx, watchJobKey(server))
    }
    if (isFirstReport || !(await wasRecordedRecently(tx, event, server))) {
      await recordEvent(tx, event, toBackupActivity(backup))
      const kind = successful ? 'restore.completed' : 'restore.failed'
      await notifyUsers(tx, kind, toBackupNotification(backup))
    }
    if (locked.status === 'suspended') {
      const runAt = new Date(now.getTime() + syncDelaySeconds * 1000)
      await enqueueJob(tx, 'sync-server', { serverId: server.id }, { runAt })
    }
  })
}

async function wasRecordedRecently(tx: Tx, event: EventName, server: { id: number }): Promise<boolean> {
  const since = new Date(tx.now().getTime() - reportRepeatSeconds * 1000)
  const earlier = await tx.db
    .select({ id: activity.id })
    .from(activity)
    .where(and(eq(activity.serverId, server.id), eq(activity.event, event), gt(activity.timestamp, since)))
    .limit(1)
  return earlier.length > 0
}
