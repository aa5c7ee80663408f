import { Hono } from 'hono'
import { finishTransfer } from '../../domain/transfers/completion.ts'
import { returns, summary } from '../../http/route.ts'
import { type RemoteEnv, serversOfNode } from './middleware.ts'

/** The results of transfers; the daemon's body, `null`, is not read. Spec: docs/servers.md#transfers. */
export const transfers = new Hono<RemoteEnv>()
  .post(
    '/:uuid/transfer/success',
    summary('Report a successful transfer'),
    serversOfNode,
    returns(204),
    async (c) => {
      await finishTransfer(c.var.panel, c.var.node, c.req.param('uuid'), true)
      return c.body(null, 204)
    },
  )

  .post(
    '/:uuid/transfer/failure',
    summary('Report a failed transfer'),
    serversOfNode,
    returns(204),
    async (c) => {
      await finishTransfer(c.var.panel, c.var.node, c.req.param('uuid'), false)
      return c.body(null, 204)
    },
  )
