import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import { BuildInput, changeBuild } from '../../domain/servers/build.ts'
import { changeDetails, DetailsInput } from '../../domain/servers/details.ts'
import { findServer } from '../../domain/servers/list.ts'
import { reinstallServer } from '../../domain/servers/reinstall.ts'
import { changeStartup, StartupInput } from '../../domain/servers/startup.ts'
import { setSuspended } from '../../domain/servers/suspension.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { acl } from './env.ts'
import { includesOf, presentOne } from './relations.ts'
import { ServerResource } from './resources/server.ts'

const ById = () => z.object({ server: pathId() })

/** The server as it is now, with what was asked to be included. */
async function present(c: Context<HttpEnv>, id: number) {
  const includes = includesOf(c, 'server')
  return presentOne('server', await findServer(c.var.panel, id, includes.allowed), includes)
}

/** Spec: Application API, servers/{server}: what changes one. */
export const serverChanges = new Hono<HttpEnv>()
  .patch(
    '/:server/details',
    summary("Change a server's name, owner and other details"),
    acl('servers', 'write'),
    params(ById),
    body(DetailsInput),
    returns(200, ServerResource.One),
    async (c) => {
      const { server } = c.req.valid('param')
      await changeDetails(c.var.panel, server, c.req.valid('json'))
      return c.json(await present(c, server))
    },
  )

  .patch(
    '/:server/build',
    summary("Change a server's limits and allocations and tell its daemon"),
    acl('servers', 'write'),
    params(ById),
    body(BuildInput),
    returns(200, ServerResource.One),
    async (c) => {
      const { server } = c.req.valid('param')
      await changeBuild(c.var.panel, server, c.req.valid('json'))
      return c.json(await present(c, server))
    },
  )

  .patch(
    '/:server/startup',
    summary('Change how a server is started'),
    acl('servers', 'write'),
    params(ById),
    body(StartupInput),
    returns(200, ServerResource.One),
    async (c) => {
      const { server } = c.req.valid('param')
      await changeStartup(c.var.panel, server, c.req.valid('json'))
      return c.json(await present(c, server))
    },
  )

  .post(
    '/:server/suspend',
    summary('Suspend a server'),
    acl('servers', 'write'),
    params(ById),
    returns(204),
    async (c) => {
      await setSuspended(c.var.panel, c.req.valid('param').server, true)
      return c.body(null, 204)
    },
  )

  .post(
    '/:server/unsuspend',
    summary('End the suspension of a server'),
    acl('servers', 'write'),
    params(ById),
    returns(204),
    async (c) => {
      await setSuspended(c.var.panel, c.req.valid('param').server, false)
      return c.body(null, 204)
    },
  )

  .post(
    '/:server/reinstall',
    summary('Install a server again'),
    acl('servers', 'write'),
    params(ById),
    returns(204),
    async (c) => {
      await reinstallServer(c.var.panel, c.req.valid('param').server)
      return c.body(null, 204)
    },
  )
