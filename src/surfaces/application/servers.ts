import { Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import { createServer } from '../../domain/servers/create.ts'
import { deleteServer } from '../../domain/servers/delete.ts'
import { ServerInput } from '../../domain/servers/input.ts'
import { findServer, findServerByExternalId, listServers, serverFilters } from '../../domain/servers/list.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { listing } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { acl } from './env.ts'
import { includesOf, presentOne, presentPage } from './relations.ts'
import { ServerResource } from './resources/server.ts'

const ById = () => z.object({ server: pathId() })
const ByExternalId = () => z.object({ external_id: z.string().min(1).max(191) })
const List = { filters: serverFilters, sorts: ['id', 'uuid'], perPage: 50, mostPerPage: 500, hasSearch: true }

/** Spec: Application API, servers. */
export const servers = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List servers'),
    acl('servers', 'read'),
    listing(List),
    returns(200, ServerResource.Page),
    async (c) => {
      const includes = includesOf(c, 'server')
      const page = await listServers(c.var.panel, c.req.valid('query'), includes.allowed)
      return c.json(presentPage('server', page, includes, publicUrl(c)))
    },
  )

  .get(
    '/external/:external_id',
    summary('Show the server with an external id'),
    acl('servers', 'read'),
    params(ByExternalId),
    returns(200, ServerResource.One),
    async (c) => {
      const includes = includesOf(c, 'server')
      const server = await findServerByExternalId(
        c.var.panel,
        c.req.valid('param').external_id,
        includes.allowed,
      )
      return c.json(presentOne('server', server, includes))
    },
  )

  .get(
    '/:server',
    summary('Show a server'),
    acl('servers', 'read'),
    params(ById),
    returns(200, ServerResource.One),
    async (c) => {
      const includes = includesOf(c, 'server')
      const server = await findServer(c.var.panel, c.req.valid('param').server, includes.allowed)
      return c.json(presentOne('server', server, includes))
    },
  )

  .post(
    '/',
    summary('Create a server'),
    acl('servers', 'write'),
    body(ServerInput),
    returns(201, ServerResource.One),
    async (c) => {
      const includes = includesOf(c, 'server')
      const { id } = await createServer(c.var.panel, c.req.valid('json'))
      return c.json(presentOne('server', await findServer(c.var.panel, id, includes.allowed), includes), 201)
    },
  )

  .delete(
    '/:server',
    summary('Delete a server'),
    acl('servers', 'write'),
    params(ById),
    returns(204),
    async (c) => {
      await deleteServer(c.var.panel, c.req.valid('param').server, false)
      return c.body(null, 204)
    },
  )

  .delete(
    '/:server/force',
    summary('Delete a server even when its node does not agree'),
    acl('servers', 'write'),
    params(ById),
    returns(204),
    async (c) => {
      await deleteServer(c.var.panel, c.req.valid('param').server, true)
      return c.body(null, 204)
    },
  )
