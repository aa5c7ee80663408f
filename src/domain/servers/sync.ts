import { eq } from 'drizzle-orm'
import { servers } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { cancelJob, enqueue } from '../jobs.ts'
import { rowVersion } from './lock.ts'

/** Seconds which the request that made a change has to deliver it itself. */
const headStart = 15
/** Seconds for which a node that is away is tried: it may be down for long. */
const longestAbsence = 30 * 86_400

/** A committed change of which the daemon must learn; `version` is the row's `rowVersion` after it. */
export type ServerChange = { server: Pick<Server, 'id' | 'uuid'>; node: Node; version: string }

/** Under which the job that carries a server's settings to its daemon waits. */
export const syncKey = (serverId: number) => `sync-server:${serverId}`

/** Sees to it that the daemon learns of a change: call it in the transaction that makes the change. */
export const enqueueSync = (panel: Panel, serverId: number): Promise<void> =>
  enqueue(
    panel,
    'sync-server',
    { serverId },
    {
      key: syncKey(serverId),
      runAt: new Date(panel.now().getTime() + headStart * 1000),
      lifetimeSeconds: longestAbsence,
    },
  )

/**
 * The daemon has fetched the server with this change, so that the job has nothing left to do. Throws what
 * the daemon fails with; the job still waits then. Wings: POST /api/servers/{uuid}/sync
 */
export async function deliverChange(panel: Panel, { server, node, version }: ServerChange): Promise<void> {
  await panel.daemon(node).syncServer(server.uuid)
  await inTransaction(panel, async (inside) => {
    const [current] = await inside.db
      .select({ version: rowVersion })
      .from(servers)
      .where(eq(servers.id, server.id))
      .for('update')
    // A change that was made meanwhile counts on the same job, and may have come too late for this delivery.
    if (current?.version === version) await cancelJob(inside, syncKey(server.id))
  })
}

/** The same where the daemon may just as well learn of it later, from the job. */
export async function tryChange(panel: Panel, change: ServerChange): Promise<void> {
  try {
    await deliverChange(panel, change)
  } catch {
    // The delivery of a change before this one may have ended the job.
    await enqueueSync(panel, change.server.id)
  }
}
