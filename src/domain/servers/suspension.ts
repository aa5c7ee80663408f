import { eq } from 'drizzle-orm'
import { DaemonError } from '../../adapters/daemon.ts'
import { only } from '../../db/database.ts'
import { servers } from '../../db/schema.ts'
import type { ServerStatus } from '../../db/tables/servers.ts'
import { conflict } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { refuseDaemonFailure } from '../daemon-errors.ts'
import { isWaiting } from '../jobs.ts'
import { lockServer, placeOf, rowVersion } from './lock.ts'
import { deliverChange, enqueueSync, type ServerChange, syncKey } from './sync.ts'

type StatusChange = ServerChange & { before: ServerStatus; after: ServerStatus }

/**
 * The server is suspended from any status, or not any more: then its status is normal, whatever it was
 * before. One that is so already stays as it is. When the process dies before the daemon was told, a job
 * tells it.
 *
 * A node that does not answer learns of it from the job. Refuses with 404, with 409 while the server is being
 * moved, and with the daemon's status or 502 when it does not take the change: then the status is as before, and
 * a job brings the daemon back to it.
 * Spec: States and transitions, suspend. Wings: POST /api/servers/{uuid}/sync
 */
export async function setSuspended(panel: Panel, id: number, isSuspended: boolean): Promise<void> {
  const change = await inTransaction(panel, (inside) => changeStatus(inside, id, isSuspended))
  if (!change) return
  try {
    await deliverChange(panel, change)
  } catch (error) {
    // Whoever suspends wants it to hold also where the node is away: the panel lets nobody near the server meanwhile.
    if (error instanceof DaemonError && error.status === null) return enqueueSync(panel, id)
    if ((await takeBack(panel, change)) === 'delivered') return
    refuseDaemonFailure(error)
  }
}

/** Null when there is nothing to change. */
async function changeStatus(panel: Panel, id: number, isSuspended: boolean): Promise<StatusChange | null> {
  const server = await lockServer(panel, id)
  if (isSuspended === (server.status === 'suspended')) return null
  const { node, movingTo } = await placeOf(panel, server)
  if (movingTo !== null) throw conflict('The server is being moved to another node.')
  const after = isSuspended ? 'suspended' : null
  const { version } = only(
    await panel.db
      .update(servers)
      .set({ status: after, updatedAt: panel.now() })
      .where(eq(servers.id, id))
      .returning({ version: rowVersion }),
  )
  await enqueueSync(panel, id)
  return { server, node, version, before: server.status, after }
}

/**
 * The status is what it was before the change; unless a later delivery has told the daemon of it, or it was
 * changed again since. The job brings the daemon to whatever holds.
 */
async function takeBack(
  panel: Panel,
  { server, before, after }: StatusChange,
): Promise<'taken back' | 'delivered'> {
  return inTransaction(panel, async (inside) => {
    const { status } = await lockServer(inside, server.id)
    const isDelivered = status === after && !(await isWaiting(inside, syncKey(server.id)))
    if (status === after && !isDelivered) {
      await inside.db
        .update(servers)
        .set({ status: before, updatedAt: inside.now() })
        .where(eq(servers.id, server.id))
    }
    await enqueueSync(inside, server.id)
    return isDelivered ? 'delivered' : 'taken back'
  })
}
