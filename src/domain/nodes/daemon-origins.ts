import { inArray } from 'drizzle-orm'
import { nodes, servers } from '../../db/schema.ts'
import type { Panel } from '../../panel.ts'
import { requireCaller } from '../auth/caller.ts'
import { accessibleServerIds } from '../servers/access.ts'
import { daemonUrl } from './daemon-address.ts'

/**
 * Lists the origins of the daemons of all servers that the caller can access, of every daemon for
 * administrators. Returns null when there are more than `maxOrigins`. One statement.
 */
export async function listDaemonOrigins(panel: Panel, maxOrigins: number): Promise<string[] | null> {
  const user = requireCaller(panel)
  const { db } = panel
  const accessibleNodeIds = db
    .select({ id: servers.nodeId })
    .from(servers)
    .where(inArray(servers.id, accessibleServerIds(user.id)))
  const found = await db
    .selectDistinct({ scheme: nodes.scheme, fqdn: nodes.fqdn, daemonListen: nodes.daemonListen })
    .from(nodes)
    .where(user.rootAdmin ? undefined : inArray(nodes.id, accessibleNodeIds))
    .limit(maxOrigins + 1)
  return found.length > maxOrigins ? null : found.map(daemonUrl)
}
