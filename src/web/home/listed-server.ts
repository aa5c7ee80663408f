import { useQueries } from '@tanstack/react-query'
import { rowsOf } from '../api/resources.ts'
import {
  type ServerSummary,
  summariesPerPage,
  summariesQuery,
  type SummaryRequest,
} from '../api/server-list.ts'
import { type Outage, resourcesQuery, type ServerResources, type ServerStats } from '../api/servers.ts'
import { isBlocked } from '../server/server-state.ts'
import type { Selection } from './use-selection.ts'

/** A server of the list with its current stats, or since when its node has been unreachable. */
export type ListedServer = {
  server: ServerSummary
  stats: ServerStats | null
  outage: Outage | null
  /** Of the process: as its daemon says, before that as the node reported it last. */
  state: string | null
}

type ListedProps = { listed: ListedServer; selection: Selection }

/** Whether a row or card shows the same as before: those that stay in view while the list scrolls are not rendered again. */
export const showsSame = (before: ListedProps, after: ListedProps): boolean =>
  before.selection === after.selection &&
  before.listed.server === after.listed.server &&
  before.listed.stats === after.listed.stats &&
  before.listed.outage === after.listed.outage &&
  before.listed.state === after.listed.state

/** Whether the user may do something on a server. */
export const can = ({ user_permissions }: ServerSummary, permission: string): boolean =>
  user_permissions.includes('*') || user_permissions.includes(permission)

/**
 * Reads the pages that are shown of the list, with the state and resource usage of their servers. Returns the server at a
 * position; null while its page is loading.
 */
export function useListedServers(
  request: SummaryRequest,
  pages: readonly number[],
): (position: number) => ListedServer | null {
  const lists = useQueries({ queries: pages.map((page) => summariesQuery(request, page)) })
  const rows = lists.map(({ data }) => (data ? rowsOf(data) : []))
  const resources = useQueries({
    queries: rows.map((servers) => resourcesQuery(servers.map(({ uuid }) => uuid))),
  })
  return (position) => {
    const at = pages.indexOf(1 + Math.floor(position / summariesPerPage))
    const server = rows[at]?.[position % summariesPerPage]
    return server ? listServer(server, resources[at]?.data) : null
  }
}

function listServer(server: ServerSummary, resources: ServerResources | undefined): ListedServer {
  const stats = resources?.statsByServer.get(server.uuid) ?? null
  // The state of a blocked server is known without its node.
  const outage = isBlocked(server) ? null : (resources?.outageByServer.get(server.uuid) ?? null)
  const state = stats?.current_state ?? (outage ? null : server.state)
  return { server, stats, outage, state }
}
