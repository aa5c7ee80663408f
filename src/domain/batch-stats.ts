import { and, eq, inArray, isNull, or, sql } from 'drizzle-orm'
import { DaemonError, type ListedServer } from '../adapters/daemon.ts'
import { nodes, servers, subusers, transfers } from '../db/schema.ts'
import type { Node } from '../db/tables/nodes.ts'
import type { Server } from '../db/tables/servers.ts'
import { ApiError, unauthenticated } from '../errors.ts'
import type { Panel } from '../panel.ts'
import { serverNames } from './server-names.ts'
import { refuseConflict } from './server-state.ts'
import {
  joinFlight,
  rememberedReport,
  rememberReport,
  type Report,
  reportOf,
  type ServerStats,
  statsOf,
} from './stats.ts'

/** The stats of servers by uuid, and the uuids of those of which nothing can be said now. */
export type BatchStats = { known: { uuid: string; stats: ServerStats }[]; unavailable: string[] }

type Reached = { server: Pick<Server, 'uuid' | 'status'>; node: Node; isTransferring: boolean }

/** Servers of which one request may ask. */
export const mostServers = 100

/**
 * State and use of the named servers (uuids or identifiers) that the caller reaches, in the order of their
 * ids; others are left out. As old as `readStats` gives them, by one statement and one call to each node.
 * A server is unavailable while its node does not answer or does not know it, and while its state is in the
 * way as it is for `readStats`. Refuses with 401 callers that are no person. Wings: GET /api/servers.
 */
export async function readBatchStats(panel: Panel, names: readonly string[]): Promise<BatchStats> {
  const reached = await findReached(panel, names)
  const byNode = Map.groupBy(reached.filter(isMeasurable), ({ node }) => node.id)
  const reports = new Map<string, Report>(
    (await Promise.all([...byNode.values()].map((group) => reportsOn(panel, group)))).flat(),
  )
  return {
    known: reached.flatMap(({ server }) => {
      const report = reports.get(server.uuid)
      return report ? [{ uuid: server.uuid, stats: statsOf(server, report) }] : []
    }),
    unavailable: reached.map(({ server }) => server.uuid).filter((uuid) => !reports.has(uuid)),
  }
}

function findReached(panel: Panel, names: readonly string[]): Promise<Reached[]> {
  const { actor } = panel
  if (actor.kind !== 'user') throw unauthenticated()
  const wanted = names.map(serverNames)
  const uuids = wanted.flatMap(({ uuid }) => uuid ?? [])
  const shorts = wanted.flatMap(({ short }) => short ?? [])
  const letInto = panel.db
    .select({ id: subusers.serverId })
    .from(subusers)
    .where(eq(subusers.userId, actor.user.id))
  const isWithinReach = or(eq(servers.ownerId, actor.user.id), inArray(servers.id, letInto))
  const open = panel.db
    .select({ one: sql`1` })
    .from(transfers)
    .where(and(eq(transfers.serverId, servers.id), isNull(transfers.successful)))
  return panel.db
    .select({
      server: { uuid: servers.uuid, status: servers.status },
      node: nodes,
      isTransferring: sql<boolean>`exists (${open})`,
    })
    .from(servers)
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .where(
      and(
        or(inArray(servers.uuid, uuids), inArray(servers.uuidShort, shorts)),
        actor.user.rootAdmin ? undefined : isWithinReach,
      ),
    )
    .orderBy(servers.id)
}

/** Suspension is shown, other states are in the way: the same to everybody. */
function isMeasurable(reached: Reached): boolean {
  try {
    refuseConflict(reached, ['suspended'])
    return true
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return false
  }
}

/** Reports on servers of one node: remembered ones, and for the rest what its daemon says, if it says anything. */
async function reportsOn(panel: Panel, group: Reached[]): Promise<[string, Report][]> {
  const [node] = group.map((reached) => reached.node)
  const remembered = await Promise.all(
    group.map(async ({ server }) => ({
      uuid: server.uuid,
      report: await rememberedReport(panel, server.uuid),
    })),
  )
  const known = remembered.flatMap(({ uuid, report }): [string, Report][] => (report ? [[uuid, report]] : []))
  const missing = remembered.filter(({ report }) => !report)
  if (!node || missing.length === 0) return known
  const listed = await joinFlight(panel, `stats-node:${node.uuid}`, () => listReports(panel, node))
  const fresh = missing.flatMap(({ uuid }): [string, Report][] => {
    const report = listed.get(uuid)
    return report ? [[uuid, report]] : []
  })
  await Promise.all(fresh.map(([uuid, report]) => rememberReport(panel, uuid, report)))
  return [...known, ...fresh]
}

/** What the daemon says of all of its servers, by uuid; nothing when it does not answer. */
async function listReports(panel: Panel, node: Node): Promise<Map<string, Report>> {
  const answer: unknown = await panel
    .daemon(node)
    .listServers()
    .catch((error: unknown) => {
      if (!(error instanceof DaemonError)) throw error
      return []
    })
  const listed = Array.isArray(answer) ? (answer as (ListedServer | null)[]) : []
  return new Map(listed.map((server) => [String(server?.configuration?.uuid), reportOf(server)]))
}
