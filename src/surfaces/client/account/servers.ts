import { Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../../domain/fields.ts'
import {
  createServerFolder,
  deleteServerFolder,
  listServerFolders,
  renameServerFolder,
  ServerFolderInput,
} from '../../../domain/server-folders/folders.ts'
import { placeServers, ServerPlacementInput } from '../../../domain/server-folders/placements.ts'
import { FilterChoicesQuery, filterChoicesColumn } from '../../../domain/servers/filter-choices.ts'
import type { HttpEnv } from '../../../http/http-env.ts'
import { readQuery } from '../../../http/input.ts'
import { answerJson } from '../../../http/json-text.ts'
import { body, params, query, returns, summary } from '../../../http/route.ts'
import { reads, signedIn } from '../middleware.ts'
import { ServerFiltersResource } from '../resources/server-filters.ts'
import { ServerFolderResource } from '../resources/server-folder.ts'

const FolderParams = () => z.object({ folder: pathId() })

/** How the caller arranges their servers: an extension of the ecosystem's API. Spec: docs/servers.md#favourites-and-folders. */
export const placedServers = new Hono<HttpEnv>()
  .patch(
    '/',
    summary('Mark servers as favourites or put them into a folder'),
    signedIn,
    body(ServerPlacementInput),
    returns(204),
    async (c) => {
      await placeServers(c.var.panel, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .get(
    '/filters',
    summary('List the nodes and eggs of your servers'),
    signedIn,
    query(FilterChoicesQuery),
    reads(async (c) =>
      filterChoicesColumn(FilterChoicesQuery().parse(await readQuery(c)).type ?? 'accessible'),
    ),
    returns(200, ServerFiltersResource.One),
    (c) => answerJson(c, ServerFiltersResource.one(c.get('data'))),
  )

  .get(
    '/folders',
    summary('List your folders'),
    signedIn,
    returns(200, ServerFolderResource.List),
    async (c) => c.json(ServerFolderResource.list(await listServerFolders(c.var.panel))),
  )

  .post(
    '/folders',
    summary('Create a folder'),
    signedIn,
    body(ServerFolderInput),
    returns(200, ServerFolderResource.One),
    async (c) => c.json(ServerFolderResource.one(await createServerFolder(c.var.panel, c.req.valid('json')))),
  )

  .patch(
    '/folders/:folder',
    summary('Rename a folder'),
    signedIn,
    params(FolderParams),
    body(ServerFolderInput),
    returns(200, ServerFolderResource.One),
    async (c) => {
      const { folder } = c.req.valid('param')
      return c.json(
        ServerFolderResource.one(await renameServerFolder(c.var.panel, folder, c.req.valid('json'))),
      )
    },
  )

  .delete(
    '/folders/:folder',
    summary('Delete a folder and keep its servers'),
    signedIn,
    params(FolderParams),
    returns(204),
    async (c) => {
      await deleteServerFolder(c.var.panel, c.req.valid('param').folder)
      return c.body(null, 204)
    },
  )
