import type { Context } from 'hono'
import { Hono } from 'hono'
import { permissionGroups } from '../../domain/permissions.ts'
import {
  clientServerFilters,
  clientServerSorts,
  type ServerScope,
  serverScopes,
} from '../../domain/servers/client-scope.ts'
import {
  clientServersColumn,
  type ServerInclude,
  serverIncludes,
  toClientServers,
} from '../../domain/servers/client-servers.ts'
import {
  serverSummariesColumn,
  summaryFilters,
  toServerSummaries,
} from '../../domain/servers/server-summaries.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { listing, readIncludes, readListing } from '../../http/listing.ts'
import { readQuery } from '../../http/input.ts'
import { answerJson, sendJson } from '../../http/json-text.ts'
import { publicUrl } from '../../http/public-url.ts'
import { returns, summary } from '../../http/route.ts'
import { reads, signedIn } from './middleware.ts'
import { PermissionsResource } from './resources/permissions.ts'
import { writeServers } from './resources/server-text.ts'
import { ServerSummaryResource } from './resources/server-summary.ts'
import { ServerResource } from './resources/server.ts'

const listOptions = {
  filters: clientServerFilters,
  types: serverScopes,
  sorts: clientServerSorts,
  perPage: 50,
  maxPerPage: 100,
} as const

const summaryOptions = { ...listOptions, filters: summaryFilters, perPage: 100 } as const

/** Spec: docs/servers.md#lists-and-search. */
export const servers = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List your servers'),
    signedIn,
    listing(listOptions),
    reads(async (c) =>
      clientServersColumn(
        await readScope(c),
        readListing(listOptions, await readQuery(c)),
        await readServerIncludes(c),
      ),
    ),
    returns(200, ServerResource.Page),
    async (c) => {
      const include = await readServerIncludes(c)
      const page = toClientServers(c.get('panel'), c.get('data'), c.req.valid('query'), include)
      return sendJson(c, writeServers(page, publicUrl(c)))
    },
  )

  .get(
    '/servers',
    summary('List your servers in short'),
    signedIn,
    listing(summaryOptions),
    reads(async (c) =>
      serverSummariesColumn(await readScope(c), readListing(summaryOptions, await readQuery(c))),
    ),
    returns(200, ServerSummaryResource.Page),
    (c) => {
      const page = toServerSummaries(c.get('panel'), c.get('data'), c.req.valid('query'))
      return answerJson(c, ServerSummaryResource.page(page, publicUrl(c)))
    },
  )

  .get(
    '/permissions',
    summary('List the permissions of subusers'),
    signedIn,
    returns(200, PermissionsResource.One),
    (c) => c.json(PermissionsResource.one(permissionGroups)),
  )

/** Reads the relations of a server in `include`. Ignores unknown names. */
export async function readServerIncludes(c: Context): Promise<ServerInclude[]> {
  const requested = await readIncludes(c)
  return serverIncludes.filter((name) => requested.includes(name))
}

/** Reads which servers `type` asks for; unknown values mean those the caller has access to. */
async function readScope(c: Context): Promise<ServerScope> {
  const { type } = await readQuery(c)
  return serverScopes.find((scope) => scope === type) ?? 'accessible'
}
