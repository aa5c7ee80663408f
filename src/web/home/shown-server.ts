import type { Server } from '../api/resources.ts'
import type { NamedStats, Resources, Silence } from '../api/servers.ts'
import { isBlocked } from '../server/server-state.ts'
import type { Sort } from './home-search.ts'

/** A server of the list with what is known of it now. */
export type ShownServer = { server: Server; stats: NamedStats | null; silence: Silence | null }

/** The servers of a page in the order that was asked for. */
export function shownServers(
  servers: readonly Server[],
  resources: Resources | undefined,
  sort: Sort,
): ShownServer[] {
  const shown = servers.map((server) => ({
    server,
    stats: resources?.known.get(server.uuid) ?? null,
    // What holds a server up is known without its node.
    silence: isBlocked(server) ? null : (resources?.unavailable.get(server.uuid) ?? null),
  }))
  return sort === 'listed' ? shown : shown.toSorted(orders[sort])
}

const states = ['running', 'starting', 'stopping', 'offline']
const rank = ({ stats }: ShownServer) => (stats ? states.indexOf(stats.current_state) : states.length)
const byName = (a: ShownServer, b: ShownServer) => a.server.name.localeCompare(b.server.name)
const most = (read: (stats: NamedStats) => number) => (a: ShownServer, b: ShownServer) =>
  (b.stats ? read(b.stats) : -1) - (a.stats ? read(a.stats) : -1) || byName(a, b)

const orders: Record<Exclude<Sort, 'listed'>, (a: ShownServer, b: ShownServer) => number> = {
  name: byName,
  state: (a, b) => rank(a) - rank(b) || byName(a, b),
  cpu: most(({ resources }) => resources.cpu_absolute),
  memory: most(({ resources }) => resources.memory_bytes),
}
