import type { Server } from '../api/resources.ts'
import type { ServerStats, ServerResources, Outage } from '../api/servers.ts'
import { isBlocked } from '../server/server-state.ts'
import type { Sort } from './home-search.ts'

/** A server of the list with its current stats, or since when its node has been unreachable. */
export type ListedServer = { server: Server; stats: ServerStats | null; outage: Outage | null }

/** Returns the servers of a page; by their usage in the chosen order, else as the panel has sorted them. */
export function listServers(
  servers: readonly Server[],
  resources: ServerResources | undefined,
  sort: Sort,
): ListedServer[] {
  const listed = servers.map((server) => ({
    server,
    stats: resources?.statsByServer.get(server.uuid) ?? null,
    // The state of a blocked server is known without its node.
    outage: isBlocked(server) ? null : (resources?.outageByServer.get(server.uuid) ?? null),
  }))
  return sort === 'cpu' || sort === 'memory' ? listed.toSorted(comparators[sort]) : listed
}

const byName = (a: ListedServer, b: ListedServer) => a.server.name.localeCompare(b.server.name)
const byUsage = (read: (stats: ServerStats) => number) => (a: ListedServer, b: ListedServer) =>
  (b.stats ? read(b.stats) : -1) - (a.stats ? read(a.stats) : -1) || byName(a, b)

const comparators = {
  cpu: byUsage(({ resources }) => resources.cpu_absolute),
  memory: byUsage(({ resources }) => resources.memory_bytes),
}
