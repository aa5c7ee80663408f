import { Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import { addServerMount, removeServerMount, ServerMountInput } from '../../domain/mounts/server-mounts.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { acl } from './middleware.ts'

const ServerParams = () => z.object({ server: pathId() })
const ServerMountParams = () => ServerParams().extend({ mount: pathId() })

/** Mounts of servers: an extension of the ecosystem's API. Spec: docs/servers.md#mounts. */
export const serverMounts = new Hono<HttpEnv>()
  .post(
    '/:server/mounts',
    summary('Give a server a mount that its egg and its node allow'),
    acl('servers', 'write'),
    acl('mounts', 'read'),
    params(ServerParams),
    body(ServerMountInput),
    returns(204),
    async (c) => {
      await addServerMount(c.var.panel, c.req.valid('param').server, c.req.valid('json'))
      return c.body(null, 204)
    },
  )

  .delete(
    '/:server/mounts/:mount',
    summary('Take a mount from a server'),
    acl('servers', 'write'),
    acl('mounts', 'read'),
    params(ServerMountParams),
    returns(204),
    async (c) => {
      const { server, mount } = c.req.valid('param')
      await removeServerMount(c.var.panel, server, mount)
      return c.body(null, 204)
    },
  )
