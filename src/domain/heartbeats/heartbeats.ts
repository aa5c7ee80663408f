import { eq } from 'drizzle-orm'
import { nodeHeartbeats, nodes } from '../../db/schema.ts'
import type { NodeHeartbeat } from '../../db/tables/node-heartbeats.ts'
import { notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'

export { heartbeatCauses } from '../../db/tables/node-heartbeats.ts'

/** Finds the last heartbeat of a node; only its id while the node was never asked. Refuses with 404. */
export async function findHeartbeat(panel: Panel, id: number): Promise<NodeHeartbeat | { id: number }> {
  const [found] = await panel.db
    .select({ id: nodes.id, heartbeat: nodeHeartbeats })
    .from(nodes)
    .leftJoin(nodeHeartbeats, eq(nodeHeartbeats.id, nodes.id))
    .where(eq(nodes.id, id))
  if (!found) throw notFound()
  return found.heartbeat ?? { id }
}
