import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { DataColumn } from '../../db/data-column.ts'
import { embedOnce, embedOne, type ValuesOf } from '../../db/embed.ts'
import { type FoundPage, preparedPage, type RowPage, toPage } from '../../db/pagination.ts'
import {
  allocations,
  eggs,
  gameQueries,
  locations,
  nodes,
  serverPlacements,
  servers,
  serverStates,
  users,
} from '../../db/schema.ts'
import type { GameIcon } from '../../db/tables/eggs.ts'
import type { ProcessState } from '../../db/tables/server-states.ts'
import type { Server } from '../../db/tables/servers.ts'
import type { Panel } from '../../panel.ts'
import { requireCaller } from '../auth/caller.ts'
import { combineFilters, idFilter, type ListRequest } from '../filters.ts'
import { detectGame } from '../games/protocols.ts'
import { type GrantedPermissions, resolvePermissions } from '../permissions.ts'
import { hasOpenTransfer } from './access.ts'
import { clientServerFilters, pageOfScope, scopeFilters, type ServerScope } from './client-scope.ts'
import { inheritedFeatures } from './client-servers.ts'

const summaryColumns = [
  'id',
  'uuid',
  'uuidShort',
  'nodeId',
  'ownerId',
  'eggId',
  'name',
  'status',
  'memory',
  'disk',
  'cpu',
] as const satisfies (keyof Server)[]

/** What a list shows of a server, as one caller may see it. */
export type ServerSummary = {
  server: Pick<Server, (typeof summaryColumns)[number]>
  node: { name: string; isUnderMaintenance: boolean; location: string }
  egg: { name: string; game: string | null; icon: GameIcon | null }
  address: { ip: string; alias: string | null; port: number } | null
  isTransferring: boolean
  /** Of the process, as the node reported it last; null when it never has. */
  state: ProcessState | null
  /** The latest answer of the game while it is fresh; null otherwise. */
  players: { online: number | null; max: number | null; version: string | null } | null
  isFavourite: boolean
  folderId: number | null
  isOwner: boolean
  permissions: GrantedPermissions
}

/** Milliseconds for which an answer of a game is shown in lists. */
const maxAnswerAgeMs = 15 * 60_000

const truths = ['1', 'true']

/** Matches servers that the caller has marked as favourites, or the others. */
function favouriteFilter(values: string[]): SQL {
  const isMarked = placedServers(sql`${serverPlacements.isFavourite}`)
  return values.some((value) => truths.includes(value)) ? isMarked : sql`not (${isMarked})`
}

const placedServers = (condition: SQL): SQL =>
  sql`${servers.id} in (select ${serverPlacements.serverId} from ${serverPlacements} where ${serverPlacements.userId} = ${users.id} and ${condition})`

const filters = {
  ...scopeFilters,
  favourite: favouriteFilter,
  folder: (values: string[]) => placedServers(sql`${idFilter(serverPlacements.folderId)(values)}`),
}

/** Names that `filter[…]` may have in lists of summaries. */
export const summaryFilters = [...clientServerFilters, 'favourite', 'folder'] as const

/**
 * Selects one page of the servers in the scope with what a list shows, by id or in the order of `sort`, for the caller of
 * the statement (`users`). Spec: docs/servers.md#short-list.
 */
export function serverSummariesColumn(
  scope: ServerScope,
  request: ListRequest,
): DataColumn<FoundPage<ListedSummary>> {
  const { permissions, hasValues, rows } = pageOfScope(
    scope,
    request.sorts,
    combineFilters(filters, request.filters),
  )
  const shape = () => ({
    table: servers,
    columns: summaryColumns,
    fields: { ...summaryFields(), permissions },
    ...rows(),
  })
  const page = preparedPage({ name: `server_summaries_${scope}`, shape, values: {} }, request)
  return hasValues ? { ...page, name: null } : page
}

/** Returns the page that `serverSummariesColumn` found. Refuses with 401 callers without a user. */
export function toServerSummaries(
  panel: Panel,
  found: FoundPage<ListedSummary>,
  request: ListRequest,
): RowPage<ServerSummary> {
  const user = requireCaller(panel)
  const { rows, ...page } = toPage(found, request)
  const eggsById = new Map(rows.flatMap(({ eggId, egg }) => (egg ? [[eggId, toEgg(egg)] as const] : [])))
  const nodesById = new Map(
    rows.flatMap(({ nodeId, node }) => (node ? [[nodeId, toNode(node)] as const] : [])),
  )
  const shownSince = panel.now().getTime() - maxAnswerAgeMs
  return {
    ...page,
    rows: rows.map((row) => {
      const [egg, node] = [eggsById.get(row.eggId), nodesById.get(row.nodeId)]
      if (!egg || !node) throw new Error('A page of servers lacks one of their eggs or nodes.')
      const { answer, allocation, placement } = row
      const isFresh = answer !== null && (answer.checkedAt?.getTime() ?? 0) >= shownSince
      return {
        server: row,
        node,
        egg,
        address: allocation && { ip: allocation.ip, alias: allocation.ipAlias, port: allocation.port },
        isTransferring: row.isTransferring,
        state: row.state,
        players: isFresh ? { online: answer.players, max: answer.maxPlayers, version: answer.version } : null,
        isFavourite: placement?.isFavourite ?? false,
        folderId: placement?.folderId ?? null,
        isOwner: row.ownerId === user.id,
        permissions: resolvePermissions(row, user, row.permissions) ?? [],
      }
    }),
  }
}

const toEgg = (egg: ListedEgg): ServerSummary['egg'] => ({
  name: egg.name,
  game: detectGame(egg),
  icon: egg.icon,
})

const toNode = ({ name, maintenanceMode, location }: ListedNode): ServerSummary['node'] => ({
  name,
  isUnderMaintenance: maintenanceMode,
  location: location?.short ?? '',
})

const embedEgg = () =>
  embedOne(eggs, {
    columns: ['name', 'queryGame', 'icon', 'startup'],
    where: (egg) => eq(egg.id, servers.eggId),
    with: (egg) => ({ features: inheritedFeatures(egg) }),
  })

const embedNode = () =>
  embedOne(nodes, {
    columns: ['name', 'maintenanceMode'],
    where: (node) => eq(node.id, servers.nodeId),
    with: (node) => ({
      location: embedOne(locations, {
        columns: ['short'],
        where: (location) => eq(location.id, node.locationId),
      }),
    }),
  })

/** Returns what a summary shows beside its row; each egg and node of the page once, with the first of its servers. */
const summaryFields = () => ({
  egg: embedOnce(embedEgg(), servers.eggId, servers.id),
  node: embedOnce(embedNode(), servers.nodeId, servers.id),
  allocation: embedOne(allocations, {
    columns: ['ip', 'ipAlias', 'port'],
    where: (each) => eq(each.id, servers.allocationId),
  }),
  isTransferring: hasOpenTransfer(),
  state: sql<ProcessState | null>`(select ${serverStates.state} from ${serverStates} where ${serverStates.id} = ${servers.id})`,
  answer: embedOne(gameQueries, {
    columns: ['players', 'maxPlayers', 'version', 'checkedAt'],
    where: (each) => and(eq(each.serverId, servers.id), eq(each.status, 'online')),
  }),
  placement: embedOne(serverPlacements, {
    columns: ['isFavourite', 'folderId'],
    where: (each) => and(eq(each.userId, users.id), eq(each.serverId, servers.id)),
  }),
})

type SummaryFields = ValuesOf<ReturnType<typeof summaryFields>>
type ListedEgg = NonNullable<SummaryFields['egg']>
type ListedNode = NonNullable<SummaryFields['node']>
type ListedSummary = SummaryFields & { permissions: string[] | null } & ServerSummary['server']
