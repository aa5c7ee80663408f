import { and, eq, gt } from 'drizzle-orm'
import * as z from 'zod'
import { activity, servers } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { type EventName, record } from '../activity.ts'
import { boolean } from '../fields.ts'
import { cancelJob, enqueue } from '../jobs.ts'
import { occurrenceOf } from './backups.ts'
import { findNodeBackup, unknownBackup } from './node-backups.ts'
import { watchKey } from './restoration-ends.ts'

/** Seconds for which a daemon repeats a report whose answer was lost, and longer. */
const repeatSeconds = 60
/** Seconds which a daemon needs at most to note that a restoration is over, once it has our answer. */
const settlingSeconds = 15

/** How a restoration ended; no word is a failure. Wings: POST /backups/{uuid}/restore. */
export const RestorationReport = () => z.object({ successful: boolean().nullish() })
type RestorationReport = z.output<ReturnType<typeof RestorationReport>>

/**
 * A server that was being restored is normal again, any other status stays. Records
 * `server:backup.restore-complete` or `server.backup.restore-failed`, once for a report that comes again
 * within a minute. The daemon forgets that a server is suspended when it has restored it, so that it is told
 * again. Refuses with 404 and 403 a backup that is not there or not the node's. Spec: States and transitions,
 * server status.
 */
export async function finishRestoration(
  panel: Panel,
  node: Node,
  uuid: string,
  { successful }: RestorationReport,
): Promise<void> {
  const { backup, server } = await findNodeBackup(panel, node, uuid)
  const event = successful ? 'server:backup.restore-complete' : 'server.backup.restore-failed'
  const now = panel.now()
  await inTransaction(panel, async (inside) => {
    const { db } = inside
    const [locked] = await db
      .select({ status: servers.status })
      .from(servers)
      .where(eq(servers.id, server.id))
      .for('update')
    if (!locked) throw unknownBackup()
    const isFirst = locked.status === 'restoring_backup'
    if (isFirst) {
      await db.update(servers).set({ status: null, updatedAt: now }).where(eq(servers.id, server.id))
      await cancelJob(inside, watchKey(server))
    }
    if (isFirst || !(await isRecorded(inside, event, server)))
      await record(inside, event, occurrenceOf(backup))
    if (locked.status === 'suspended') {
      const runAt = new Date(now.getTime() + settlingSeconds * 1000)
      await enqueue(inside, 'sync-server', { serverId: server.id }, { runAt })
    }
  })
}

async function isRecorded(panel: Panel, event: EventName, server: { id: number }): Promise<boolean> {
  const since = new Date(panel.now().getTime() - repeatSeconds * 1000)
  const earlier = await panel.db
    .select({ id: activity.id })
    .from(activity)
    .where(and(eq(activity.serverId, server.id), eq(activity.event, event), gt(activity.timestamp, since)))
    .limit(1)
  return earlier.length > 0
}
