import { Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import { cancelTransfer, findTransfer, startTransfer, TransferInput } from '../../domain/transfers.ts'
import type { HttpEnv } from '../../http/environment.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { acl } from './env.ts'
import { ServerTransferResource } from './resources/server-transfer.ts'

const ById = () => z.object({ server: pathId() })

/** Moves of servers between nodes, which only the daemon's side of the specification speaks of. */
export const transfers = new Hono<HttpEnv>()
  .get(
    '/:server/transfer',
    summary('Show the newest transfer of a server'),
    acl('servers', 'read'),
    params(ById),
    returns(200, ServerTransferResource.One),
    async (c) =>
      c.json(ServerTransferResource.one(await findTransfer(c.var.panel, c.req.valid('param').server))),
  )

  .post(
    '/:server/transfer',
    summary('Move a server to another node'),
    acl('servers', 'write'),
    params(ById),
    body(TransferInput),
    returns(202, ServerTransferResource.One),
    async (c) => {
      const transfer = await startTransfer(c.var.panel, c.req.valid('param').server, c.req.valid('json'))
      return c.json(ServerTransferResource.one(transfer), 202)
    },
  )

  .delete(
    '/:server/transfer',
    summary('Give the transfer of a server up'),
    acl('servers', 'write'),
    params(ById),
    returns(204),
    async (c) => {
      await cancelTransfer(c.var.panel, c.req.valid('param').server)
      return c.body(null, 204)
    },
  )
