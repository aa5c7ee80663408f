import { and, eq, or } from 'drizzle-orm'
import { paginate, type RowPage } from '../../db/pagination.ts'
import { fieldsOf, findRow, type ServerFields } from '../../db/relations.ts'
import { servers } from '../../db/schema.ts'
import type { Server } from '../../db/tables/servers.ts'
import { notFound } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { allFilters, containing, type ListRequest, orderOf } from '../filters.ts'

/** A server with what every form of it needs. */
export type DetailedServer = Server & ServerFields

const filters = {
  uuid: containing(servers.uuid),
  uuidShort: containing(servers.uuidShort),
  name: containing(servers.name),
  description: containing(servers.description),
  image: containing(servers.image),
  external_id: containing(servers.externalId),
}

/** Names that `filter[…]` may have in lists of servers. */
export const serverFilters = Object.keys(filters)

/**
 * One page of all servers. `search` matches name, uuid and external id in part.
 * Spec: Application API, servers.
 */
export async function listServers(
  panel: Panel,
  request: ListRequest & { search: string | null },
  include: string[],
): Promise<RowPage<DetailedServer>> {
  const { search } = request
  const page = await paginate(panel.db, {
    ...request,
    table: servers,
    fields: fieldsOf('server', servers, include),
    where: and(
      allFilters(filters, request.filters),
      search === null
        ? undefined
        : or(
            ...[servers.name, servers.uuid, servers.externalId].map((column) => containing(column)([search])),
          ),
    ),
    orderBy: orderOf({ id: servers.id, uuid: servers.uuid }, request.sorts),
  })
  return page as RowPage<DetailedServer>
}

/** The server with its included relations. Refuses with 404 when there is none. */
export async function findServer(panel: Panel, id: number, include: string[] = []): Promise<DetailedServer> {
  return detailed(await findRow(panel.db, 'server', servers, eq(servers.id, id), include))
}

/** The server with this external id. Refuses with 404 when there is none. */
export async function findServerByExternalId(
  panel: Panel,
  externalId: string,
  include: string[] = [],
): Promise<DetailedServer> {
  return detailed(await findRow(panel.db, 'server', servers, eq(servers.externalId, externalId), include))
}

function detailed(row: Server | null): DetailedServer {
  if (!row) throw notFound()
  return row as DetailedServer
}
