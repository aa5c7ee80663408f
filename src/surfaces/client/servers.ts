import type { Context } from 'hono'
import { Hono } from 'hono'
import {
  listClientServers,
  serverFilters,
  serverIncludes,
  type ServerInclude,
  type ServerScope,
  serverScopes,
} from '../../domain/client-servers.ts'
import { permissionGroups } from '../../domain/permissions.ts'
import { listing, readIncludes } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { parseQuery } from '../../http/query-string.ts'
import { returns, summary } from '../../http/route.ts'
import { type ClientEnv, signedIn } from './env.ts'
import { PermissionCatalogueResource } from './resources/permission-catalogue.ts'
import { ServerResource } from './resources/server.ts'

const List = { filters: serverFilters, perPage: 50, mostPerPage: 100 }

/** Spec: Client API, account: the list of servers and the catalogue of permissions. */
export const servers = new Hono<ClientEnv>()
  .get(
    '/',
    summary('List the servers within reach'),
    signedIn,
    listing(List),
    returns(200, ServerResource.Page),
    async (c) => {
      const { panel } = c.var
      const page = await listClientServers(panel, scopeIn(c), c.req.valid('query'), serverIncludesIn(c))
      return c.json(ServerResource.page(page, publicUrl(c)))
    },
  )

  .get(
    '/permissions',
    summary('List the permissions a subuser can hold'),
    signedIn,
    returns(200, PermissionCatalogueResource.One),
    (c) => c.json(PermissionCatalogueResource.one(permissionGroups)),
  )

/** The relations of a server that `include` asks for. Unknown names are ignored. */
export function serverIncludesIn(c: Context): ServerInclude[] {
  const asked = readIncludes(parseQuery(c.req.queries()).include)
  return serverIncludes.filter((name) => asked.includes(name))
}

/** The servers that `type` asks for; unknown words mean those the caller owns or was let into. */
function scopeIn(c: Context): ServerScope {
  const { type } = parseQuery(c.req.queries())
  return serverScopes.find((scope) => scope === type) ?? 'accessible'
}
