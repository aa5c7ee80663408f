import { eq } from 'drizzle-orm'
import { DaemonError } from '../../adapters/daemon-error.ts'
import { single } from '../../db/database.ts'
import { servers } from '../../db/schema.ts'
import type { ServerStatus } from '../../db/tables/servers.ts'
import { conflict } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { deleteEntry, type EntryKey } from '../activity/record.ts'
import { isJobWaiting } from '../jobs/enqueue.ts'
import { toDaemonApiError } from '../nodes/daemon-errors.ts'
import { notifyUsers, withdrawNotifications } from '../notifications/notify.ts'
import { recordServerEvent } from './audit.ts'
import { findServerNode, lockServer, rowVersion } from './lock.ts'
import { deliverChange, enqueueSync, type ServerChange, syncKey } from './sync.ts'

type StatusChange = ServerChange & { before: ServerStatus; after: ServerStatus; entry: EntryKey }

/**
 * Suspends a server with any status, or lifts the suspension, after which the status is normal. Does nothing
 * when the server is in that state already. When the process dies before the call to the daemon, a job makes
 * it.
 *
 * A job also informs a node that does not answer. Refuses with 404; with 409 while the server is being
 * transferred; with the daemon's status or 502 when it does not accept the change: then the status is as
 * before, and a job brings the daemon back to it. Records `admin:server.suspend` or `admin:server.unsuspend`. Spec: docs/servers.md#suspension.
 * Wings: POST /api/servers/{uuid}/sync
 */
export async function setSuspended(panel: Panel, id: number, isSuspended: boolean): Promise<void> {
  const change = await inTransaction(panel, (tx) => changeStatus(tx, id, isSuspended))
  if (!change) return
  try {
    await deliverChange(panel, change)
  } catch (error) {
    // A suspension holds even when the node does not answer: the panel denies access meanwhile.
    if (error instanceof DaemonError && error.status === null) return enqueueSync(panel, id)
    if ((await revertStatus(panel, change)) === 'delivered') return
    throw toDaemonApiError(error)
  }
}

const kindOf = (after: ServerStatus) => (after === 'suspended' ? 'server.suspended' : 'server.unsuspended')

/** Changes the status; returns null when there is nothing to change. */
async function changeStatus(tx: Tx, id: number, isSuspended: boolean): Promise<StatusChange | null> {
  const server = await lockServer(tx, id)
  if (isSuspended === (server.status === 'suspended')) return null
  const { node, targetNodeId } = await findServerNode(tx, server)
  if (targetNodeId !== null)
    throw conflict('server_transferring', 'The server is being transferred to another node.')
  const after = isSuspended ? 'suspended' : null
  const { version } = single(
    await tx.db
      .update(servers)
      .set({ status: after, updatedAt: tx.now() })
      .where(eq(servers.id, id))
      .returning({ version: rowVersion }),
  )
  await enqueueSync(tx, id)
  const event = isSuspended ? 'admin:server.suspend' : 'admin:server.unsuspend'
  const entry = await recordServerEvent(tx, event, server)
  await notifyUsers(tx, kindOf(after), { serverId: id })
  return { server, node, version, before: server.status, after, entry }
}

/**
 * Restores the status, unless the job has delivered the change, or the status was changed again. A job brings
 * the daemon to the status that holds.
 */
async function revertStatus(
  panel: Panel,
  { server, before, after, entry }: StatusChange,
): Promise<'reverted' | 'delivered'> {
  return inTransaction(panel, async (tx) => {
    const { status } = await lockServer(tx, server.id)
    const isDelivered = status === after && !(await isJobWaiting(tx, syncKey(server.id)))
    if (status === after && !isDelivered) {
      await tx.db
        .update(servers)
        .set({ status: before, updatedAt: tx.now() })
        .where(eq(servers.id, server.id))
      await deleteEntry(tx, entry)
      await withdrawNotifications(tx, kindOf(after), server.id)
    }
    await enqueueSync(tx, server.id)
    return isDelivered ? 'delivered' : 'reverted'
  })
}
