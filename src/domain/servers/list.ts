import { and, eq, inArray, isNull, or, sql } from 'drizzle-orm'
import type { RowPage } from '../../db/pagination.ts'
import { findRow, listRows } from '../../db/related-rows.ts'
import type { ServerFields } from '../../db/relations.ts'
import { nodes, servers } from '../../db/schema.ts'
import { foreignShort, type Server, serverStatuses } from '../../db/tables/servers.ts'
import { notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { combineFilters, containsFilter, idFilter, type ListRequest, shapeName } from '../filters.ts'
import { addressSearch } from './search.ts'
import { orderOfServers } from './sorts.ts'
import { stateFilter } from './state-filter.ts'

/** A server with its related rows. */
export type DetailedServer = Server & ServerFields

const foreignShortFilter = containsFilter(foreignShort(servers))

const filters = {
  id: idFilter(servers.id),
  uuid: containsFilter(servers.uuid),
  // Mostly it begins the uuid, which has an index for parts; the others have one of their own.
  uuidShort: (values: string[]) =>
    or(
      and(containsFilter(servers.uuid)(values), containsFilter(servers.uuidShort)(values)),
      foreignShortFilter(values),
    ),
  name: containsFilter(servers.name),
  description: containsFilter(servers.description),
  image: containsFilter(servers.image),
  external_id: containsFilter(servers.externalId),
  user_id: idFilter(servers.ownerId),
  node_id: idFilter(servers.nodeId),
  egg_id: idFilter(servers.eggId),
  location_id: (values: string[]) =>
    sql`${servers.nodeId} in (select ${nodes.id} from ${nodes} where ${idFilter(nodes.locationId)(values)})`,
  status: statusFilter,
  state: stateFilter,
}

/** Matches servers with one of the statuses; `normal` is that of those without one. */
function statusFilter(values: string[]) {
  const named = serverStatuses.filter((status) => values.includes(status))
  return or(inArray(servers.status, named), values.includes('normal') ? isNull(servers.status) : undefined)
}

/** Names that `filter[…]` may have. */
export const serverFilters = Object.keys(filters)

/**
 * Lists one page of all servers. `search` matches parts of name, uuid and external id, and an address with its port.
 * Spec: getApplicationServers.
 */
export function listServers(
  panel: Panel,
  request: ListRequest & { search: string | null },
  include: string[],
): Promise<RowPage<DetailedServer>> {
  const { search } = request
  return listRows(panel.db, 'server', {
    ...request,
    name: shapeName(request),
    include,
    search: and(
      combineFilters(filters, request.filters),
      search === null
        ? undefined
        : or(
            addressSearch(search) ?? undefined,
            ...[servers.name, servers.uuid, servers.externalId].map((column) =>
              containsFilter(column)([search]),
            ),
            foreignShortFilter([search]),
          ),
    ),
    ...orderOfServers(request.sorts),
  })
}

/** Finds a server with its included relations. Refuses with 404. */
export async function findServer(panel: Panel, id: number, include: string[] = []): Promise<DetailedServer> {
  return requireServer(await findRow<DetailedServer>(panel.db, 'server', eq(servers.id, id), include))
}

/** Finds a server by its external id. Refuses with 404. */
export async function findServerByExternalId(
  panel: Panel,
  externalId: string,
  include: string[] = [],
): Promise<DetailedServer> {
  return requireServer(
    await findRow<DetailedServer>(panel.db, 'server', eq(servers.externalId, externalId), include),
  )
}

function requireServer(row: DetailedServer | null): DetailedServer {
  if (!row) throw notFound()
  return row
}
