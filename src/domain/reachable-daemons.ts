import { eq, inArray, or } from 'drizzle-orm'
import { nodes, servers, subusers } from '../db/schema.ts'
import type { Panel } from '../panel.ts'
import { callersAccount } from './account/caller.ts'
import { daemonUrl } from './daemon-address.ts'

/**
 * Origins of the daemons of all servers that the caller reaches, of every daemon for administrators. Null when
 * there are more than `most`. One statement.
 */
export async function reachableDaemons(panel: Panel, most: number): Promise<string[] | null> {
  const user = callersAccount(panel)
  const { db } = panel
  const shared = db.select({ id: subusers.serverId }).from(subusers).where(eq(subusers.userId, user.id))
  const reached = db
    .select({ id: servers.nodeId })
    .from(servers)
    .where(or(eq(servers.ownerId, user.id), inArray(servers.id, shared)))
  const found = await db
    .selectDistinct({ scheme: nodes.scheme, fqdn: nodes.fqdn, daemonListen: nodes.daemonListen })
    .from(nodes)
    .where(user.rootAdmin ? undefined : inArray(nodes.id, reached))
    .limit(most + 1)
  return found.length > most ? null : found.map(daemonUrl)
}
