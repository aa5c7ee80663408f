import { Hono } from 'hono'
import { finishTransfer } from '../../domain/transfer-reports.ts'
import { returns, summary } from '../../http/route.ts'
import { ownServers, type RemoteEnv } from './env.ts'

/** What a daemon sends along, the word null, is of no interest. Spec: Remote API, transfers. */
export const transfers = new Hono<RemoteEnv>()
  .post(
    '/:uuid/transfer/success',
    summary('Tell that a server has arrived'),
    ownServers,
    returns(204),
    async (c) => {
      await finishTransfer(c.var.panel, c.var.node, c.req.param('uuid'), true)
      return c.body(null, 204)
    },
  )

  .post(
    '/:uuid/transfer/failure',
    summary('Tell that a server could not be moved'),
    ownServers,
    returns(204),
    async (c) => {
      await finishTransfer(c.var.panel, c.var.node, c.req.param('uuid'), false)
      return c.body(null, 204)
    },
  )
