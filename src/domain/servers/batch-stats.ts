import { and, eq, inArray } from 'drizzle-orm'
import { DaemonError } from '../../adapters/daemon-error.ts'
import type { ListedServer } from '../../adapters/daemon.ts'
import { nodes, servers } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import type { Panel } from '../../panel.ts'
import { requireCaller } from '../auth/caller.ts'
import { requestGameQueries } from '../games/queries.ts'
import { singleFlight } from '../single-flight.ts'
import { accessibleServerIds, hasOpenTransfer } from './access.ts'
import { isIdentifiedBy, parseServerIdentifier } from './identifiers.ts'
import { findConflict } from './state.ts'
import {
  cacheReport,
  getCachedReport,
  parseReport,
  type ServerStats,
  type StatsReport,
  toServerStats,
} from './stats.ts'

/** Stats of servers by uuid, and the uuids of servers without stats now. */
export type BatchStats = { known: { uuid: string; stats: ServerStats }[]; unavailable: string[] }

type AccessibleServer = { server: Pick<Server, 'uuid' | 'status'>; node: Node; isTransferring: boolean }

/** Maximum of servers in one request. */
export const maxServers = 100

/**
 * Returns the stats of those of the servers (by uuid or short identifier) that the caller can access, by id;
 * skips others. As old as `readStats` returns them; one statement, one call per node. A server is unavailable
 * while its node does not answer or does not know it, or while its state allows no statistics. Refuses with 401
 * callers without a user. Wings: GET /api/servers.
 */
export async function readBatchStats(panel: Panel, identifiers: readonly string[]): Promise<BatchStats> {
  const accessible = await findAccessibleServers(panel, identifiers)
  const byNode = Map.groupBy(accessible.filter(hasReadableStats), ({ node }) => node.id)
  const reports = new Map<string, StatsReport>(
    (await Promise.all([...byNode.values()].map((group) => readNodeReports(panel, group)))).flat(),
  )
  askForPlayers(panel, reports)
  return {
    known: accessible.flatMap(({ server }) => {
      const report = reports.get(server.uuid)
      return report ? [{ uuid: server.uuid, stats: toServerStats(server, report) }] : []
    }),
    unavailable: accessible.map(({ server }) => server.uuid).filter((uuid) => !reports.has(uuid)),
  }
}

/** Has the games of the servers that run queried in a while, beside the answer: a list shows their players. */
function askForPlayers(panel: Panel, reports: ReadonlyMap<string, StatsReport>): void {
  const running = [...reports].flatMap(([uuid, { state }]) => (state === 'running' ? [uuid] : []))
  if (running.length === 0) return
  // A list without numbers of players is better than none, as while the database takes no changes.
  panel.defer(requestGameQueries(panel, running).catch(() => undefined))
}

function findAccessibleServers(panel: Panel, identifiers: readonly string[]): Promise<AccessibleServer[]> {
  const user = requireCaller(panel)
  return panel.db
    .select({
      server: { uuid: servers.uuid, status: servers.status },
      node: nodes,
      isTransferring: hasOpenTransfer(),
    })
    .from(servers)
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .where(
      and(
        isIdentifiedBy(identifiers.map(parseServerIdentifier)),
        user.rootAdmin ? undefined : inArray(servers.id, accessibleServerIds(user.id)),
      ),
    )
    .orderBy(servers.id)
}

/** Suspended servers have stats; other conflicts hide them, from administrators too. */
const hasReadableStats = (accessible: AccessibleServer) => findConflict(accessible, ['suspended']) === null

/** Returns reports on servers of one node: cached ones, and the others as its daemon lists them. */
async function readNodeReports(panel: Panel, group: AccessibleServer[]): Promise<[string, StatsReport][]> {
  const [node] = group.map((accessible) => accessible.node)
  const cached = await Promise.all(
    group.map(async ({ server }) => ({
      uuid: server.uuid,
      report: await getCachedReport(panel, server.uuid),
    })),
  )
  const known = cached.flatMap(({ uuid, report }): [string, StatsReport][] =>
    report ? [[uuid, report]] : [],
  )
  const missing = cached.filter(({ report }) => !report)
  if (!node || missing.length === 0) return known
  const listed = await singleFlight(panel, `stats-node:${node.uuid}`, () => fetchNodeReports(panel, node))
  const fresh = missing.flatMap(({ uuid }): [string, StatsReport][] => {
    const report = listed.get(uuid)
    return report ? [[uuid, report]] : []
  })
  const stored = fresh.map(async ([uuid, report]): Promise<[string, StatsReport]> => [
    uuid,
    await cacheReport(panel, uuid, report),
  ])
  return [...known, ...(await Promise.all(stored))]
}

/** Fetches the reports on all servers of a node, by uuid; none when its daemon fails. */
async function fetchNodeReports(panel: Panel, node: Node): Promise<Map<string, StatsReport>> {
  const answer: unknown = await panel
    .daemon(node)
    .listServers()
    .catch((error: unknown) => {
      if (!(error instanceof DaemonError)) throw error
      return []
    })
  const listed = Array.isArray(answer) ? (answer as (ListedServer | null)[]) : []
  return new Map(listed.map((server) => [String(server?.configuration?.uuid), parseReport(server)]))
}
