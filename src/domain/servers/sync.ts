import { eq } from 'drizzle-orm'
import { servers } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { cancelJob, enqueueJob } from '../jobs/enqueue.ts'
import { rowVersion } from './lock.ts'

/** Seconds that the request has to deliver its change itself. */
const jobDelaySeconds = 15
/** Seconds for which a node that does not answer is retried. */
const syncLifetimeSeconds = 30 * 86_400

/** A committed change that the daemon must fetch; `version` is the row's `rowVersion` after it. */
export type ServerChange = { server: Pick<Server, 'id' | 'uuid'>; node: Node; version: string }

/** Key of the job that syncs a server with its daemon. */
export const syncKey = (serverId: number) => `sync-server:${serverId}`

/** Enqueues a sync with the daemon; call it in the transaction of the change. */
export const enqueueSync = (tx: Tx, serverId: number): Promise<void> =>
  enqueueJob(
    tx,
    'sync-server',
    { serverId },
    {
      key: syncKey(serverId),
      runAt: new Date(tx.now().getTime() + jobDelaySeconds * 1000),
      lifetimeSeconds: syncLifetimeSeconds,
    },
  )

/**
 * Has the daemon fetch the server and cancels the job when no newer change needs it. Throws the `DaemonError`;
 * the job is kept then. Wings: POST /api/servers/{uuid}/sync
 */
export async function deliverChange(panel: Panel, { server, node, version }: ServerChange): Promise<void> {
  await panel.daemon(node).syncServer(server.uuid)
  await inTransaction(panel, async (tx) => {
    const [current] = await tx.db
      .select({ version: rowVersion })
      .from(servers)
      .where(eq(servers.id, server.id))
      .for('update')
    // A later change relies on the same job, and this delivery may have been too early for it.
    if (current?.version === version) await cancelJob(tx, syncKey(server.id))
  })
}

/** Delivers a change; leaves it to the job when the daemon fails. */
export async function tryDeliverChange(panel: Panel, change: ServerChange): Promise<void> {
  try {
    await deliverChange(panel, change)
  } catch {
    // The delivery of an earlier change may have cancelled the job.
    await enqueueSync(panel, change.server.id)
  }
}
