import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import { BuildInput, changeBuild } from '../../domain/servers/build.ts'
import { createServer } from '../../domain/servers/create.ts'
import { deleteServer } from '../../domain/servers/delete.ts'
import { changeDetails, DetailsInput } from '../../domain/servers/details.ts'
import { ServerInput } from '../../domain/servers/input.ts'
import { InstallationInput, setInstallation } from '../../domain/servers/installation-state.ts'
import { findServer, findServerByExternalId, listServers, serverFilters } from '../../domain/servers/list.ts'
import { reinstallServer } from '../../domain/servers/reinstall.ts'
import { changeStartup, StartupInput } from '../../domain/servers/startup.ts'
import { serverSorts } from '../../domain/servers/sorts.ts'
import { setSuspended } from '../../domain/servers/suspension.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { listing } from '../../http/listing.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { answerOne, answerPage } from './answers.ts'
import { acl } from './middleware.ts'
import { includesOf } from './relations.ts'
import { ServerResource } from './resources/server.ts'

const ServerParams = () => z.object({ server: pathId() })
const ExternalIdParams = () => z.object({ external_id: z.string().min(1).max(191) })
const listOptions = {
  filters: serverFilters,
  sorts: serverSorts,
  perPage: 50,
  maxPerPage: 500,
  hasSearch: true,
}

/** Answers with the server as it is now and its included relations. */
async function answerServer(c: Context<HttpEnv>, id: number, status: 200 | 201 = 200) {
  const includes = await includesOf(c, 'server')
  return answerOne(c, 'server', await findServer(c.var.panel, id, includes.allowed), includes, { status })
}

/** Spec: docs/servers.md#creation, docs/servers.md#details-build-and-startup. */
export const servers = new Hono<HttpEnv>()
  .get(
    '/',
    summary('List servers'),
    acl('servers', 'read'),
    listing(listOptions),
    returns(200, ServerResource.Page),
    async (c) => {
      const includes = await includesOf(c, 'server')
      const page = await listServers(c.var.panel, c.req.valid('query'), includes.allowed)
      return answerPage(c, 'server', page, includes)
    },
  )

  .get(
    // An id may contain slashes, which some gateways decode.
    '/external/:external_id{.+}',
    summary('Show the server with an external ID'),
    acl('servers', 'read'),
    params(ExternalIdParams),
    returns(200, ServerResource.One),
    async (c) => {
      const includes = await includesOf(c, 'server')
      const server = await findServerByExternalId(
        c.var.panel,
        c.req.valid('param').external_id,
        includes.allowed,
      )
      return answerOne(c, 'server', server, includes)
    },
  )

  .get(
    '/:server',
    summary('Show a server'),
    acl('servers', 'read'),
    params(ServerParams),
    returns(200, ServerResource.One),
    async (c) => {
      const includes = await includesOf(c, 'server')
      const server = await findServer(c.var.panel, c.req.valid('param').server, includes.allowed)
      return answerOne(c, 'server', server, includes)
    },
  )

  .post(
    '/',
    summary('Create a server'),
    acl('servers', 'write'),
    body(ServerInput),
    returns(201, ServerResource.One),
    async (c) => {
      const { id } = await createServer(c.var.panel, c.req.valid('json'))
      return answerServer(c, id, 201)
    },
  )

  .delete(
    '/:server',
    summary('Delete a server'),
    acl('servers', 'write'),
    params(ServerParams),
    returns(204),
    async (c) => {
      await deleteServer(c.var.panel, c.req.valid('param').server, false)
      return c.body(null, 204)
    },
  )

  .delete(
    '/:server/force',
    summary('Delete a server, even if its node cannot be reached'),
    acl('servers', 'write'),
    params(ServerParams),
    returns(204),
    async (c) => {
      await deleteServer(c.var.panel, c.req.valid('param').server, true)
      return c.body(null, 204)
    },
  )

  .patch(
    '/:server/details',
    summary('Update the details of a server'),
    acl('servers', 'write'),
    params(ServerParams),
    body(DetailsInput),
    returns(200, ServerResource.One),
    async (c) => {
      const { server } = c.req.valid('param')
      await changeDetails(c.var.panel, server, c.req.valid('json'))
      return answerServer(c, server)
    },
  )

  .patch(
    '/:server/build',
    summary('Update the build of a server: limits and allocations'),
    acl('servers', 'write'),
    params(ServerParams),
    body(BuildInput),
    returns(200, ServerResource.One),
    async (c) => {
      const { server } = c.req.valid('param')
      await changeBuild(c.var.panel, server, c.req.valid('json'))
      return answerServer(c, server)
    },
  )

  .patch(
    '/:server/startup',
    summary('Update the startup of a server'),
    acl('servers', 'write'),
    params(ServerParams),
    body(StartupInput),
    returns(200, ServerResource.One),
    async (c) => {
      const { server } = c.req.valid('param')
      await changeStartup(c.var.panel, server, c.req.valid('json'))
      return answerServer(c, server)
    },
  )

  .post(
    '/:server/suspend',
    summary('Suspend a server'),
    acl('servers', 'write'),
    params(ServerParams),
    returns(204),
    async (c) => {
      await setSuspended(c.var.panel, c.req.valid('param').server, true)
      return c.body(null, 204)
    },
  )

  .post(
    '/:server/unsuspend',
    summary('Unsuspend a server'),
    acl('servers', 'write'),
    params(ServerParams),
    returns(204),
    async (c) => {
      await setSuspended(c.var.panel, c.req.valid('param').server, false)
      return c.body(null, 204)
    },
  )

  .post(
    '/:server/installation',
    summary('Mark a server as installed, or its installation as failed'),
    acl('servers', 'write'),
    params(ServerParams),
    body(InstallationInput),
    returns(204),
    async (c) => {
      await setInstallation(c.var.panel, c.req.valid('param').server, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .post(
    '/:server/reinstall',
    summary('Reinstall a server'),
    acl('servers', 'write'),
    params(ServerParams),
    returns(204),
    async (c) => {
      await reinstallServer(c.var.panel, c.req.valid('param').server)
      return c.body(null, 204)
    },
  )
