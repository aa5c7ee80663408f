import { Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import { cancelTransfer } from '../../domain/transfers/cancel.ts'
import { findTransfer } from '../../domain/transfers/completion.ts'
import { startTransfer, TransferInput } from '../../domain/transfers/start.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { body, params, returns, summary } from '../../http/route.ts'
import { acl } from './middleware.ts'
import { ServerTransferResource } from './resources/server-transfer.ts'

const ServerParams = () => z.object({ server: pathId() })

/** Transfers of servers between nodes: an extension of the ecosystem's API. */
export const transfers = new Hono<HttpEnv>()
  .get(
    '/:server/transfer',
    summary('Show the latest transfer of a server'),
    acl('servers', 'read'),
    params(ServerParams),
    returns(200, ServerTransferResource.One),
    async (c) =>
      c.json(ServerTransferResource.one(await findTransfer(c.var.panel, c.req.valid('param').server))),
  )

  .post(
    '/:server/transfer',
    summary('Transfer a server to another node'),
    acl('servers', 'write'),
    params(ServerParams),
    body(TransferInput),
    returns(202, ServerTransferResource.One),
    async (c) => {
      const transfer = await startTransfer(c.var.panel, c.req.valid('param').server, c.req.valid('json'))
      return c.json(ServerTransferResource.one(transfer), 202)
    },
  )

  .delete(
    '/:server/transfer',
    summary('Cancel the transfer of a server'),
    acl('servers', 'write'),
    params(ServerParams),
    returns(204),
    async (c) => {
      await cancelTransfer(c.var.panel, c.req.valid('param').server)
      return c.body(null, 204)
    },
  )
