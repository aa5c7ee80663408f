import { and, eq } from 'drizzle-orm'
import { DaemonError } from '../../adapters/daemon.ts'
import { backups, nodes, servers } from '../../db/schema.ts'
import type { Backup } from '../../db/tables/backups.ts'
import type { Job } from '../../db/tables/jobs.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { cancelJob, type JobPayloads, replaceJob } from '../jobs.ts'
import { lockServer } from '../servers/lock.ts'
import { occurrenceOf } from './backups.ts'

/** Seconds after which somebody looks how a restoration is doing, and after which he looks again. */
const patience = { first: 2 * 3600, again: 1800 }
/** Milliseconds after which a restoration is given up, whatever its daemon says. */
const longestRestoration = 24 * 3600 * 1000
/** How often a daemon that is away is asked, over some minutes. */
const mostAttempts = 8

/** Under which the job that gives the order waits. */
export const orderKey = ({ id }: Pick<Server, 'id'>) => `restore-backup:${id}`
/** Under which the job that looks after a restoration waits. */
export const watchKey = ({ id }: Pick<Server, 'id'>) => `watch-restoration:${id}`

type Restoration = { server: Pick<Server, 'id'>; backup: Backup }

/** A job looks after the restoration, and none after the one before. */
export function enqueueWatch(
  panel: Panel,
  { server, backup }: { server: Pick<Server, 'id'>; backup: Pick<Backup, 'id'> },
  seconds = patience.first,
): Promise<void> {
  const runAt = new Date(panel.now().getTime() + seconds * 1000)
  const payload = { serverId: server.id, backupId: backup.id }
  return replaceJob(panel, 'watch-restoration', payload, { key: watchKey(server), runAt })
}

/**
 * A server that is still being restored is normal again; records `server.backup.restore-failed`. Files may have
 * been removed or replaced before. A restoration that is over changes nothing.
 */
export async function failRestoration(panel: Panel, { server, backup }: Restoration): Promise<void> {
  await inTransaction(panel, async (inside) => {
    const { status } = await lockServer(inside, server.id)
    await cancelJob(inside, orderKey(server))
    await cancelJob(inside, watchKey(server))
    if (status !== 'restoring_backup') return
    await inside.db
      .update(servers)
      .set({ status: null, updatedAt: inside.now() })
      .where(eq(servers.id, server.id))
    await record(inside, 'server.backup.restore-failed', occurrenceOf(backup))
  })
}

/**
 * The job: a restoration that nobody reported of has failed, unless its daemon says that it still is at it, for a
 * day at most. Nothing can lock a server for ever. Wings: GET /api/servers/{uuid}
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
  const orderedAt = found.backup.restoreDispatchedAt ?? new Date(0)
  const isOverdue = panel.now().getTime() - orderedAt.getTime() > longestRestoration
  if (!isOverdue && (await isAtIt(panel, found, job))) {
    return enqueueWatch(panel, found, patience.again)
  }
  await failRestoration(panel, found)
}

/** Daemons call a server suspended while they restore it. One that stays away has forgotten what it was doing. */
async function isAtIt(
  panel: Panel,
  { server, node }: { server: Server; node: Node },
  { attempts }: Pick<Job, 'attempts'>,
): Promise<boolean> {
  try {
    const { is_suspended: isAtIt } = await panel.daemon(node).showServer(server.uuid)
    return isAtIt === true
  } catch (error) {
    if (!(error instanceof DaemonError)) throw error
    if (error.status !== 404 && attempts < mostAttempts) throw error
    return false
  }
}
