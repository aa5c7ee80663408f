import { Hono } from 'hono'
import * as z from 'zod'
import { maxServers, readBatchStats } from '../../domain/servers/batch-stats.ts'
import { refuseOtherMethods } from '../../http/errors.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { query, returns, summary } from '../../http/route.ts'
import { signedIn } from './middleware.ts'
import { presentBatchStats, StatsBatch } from './resources/stats.ts'

/** Identifiers of servers, as a comma list or an array. */
const BatchQuery = () =>
  z.object({
    servers: z
      .preprocess(
        (value: string | string[]) =>
          typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value,
        z.array(z.string().max(36, 'max')).min(1, 'required').max(maxServers, 'max'),
      )
      .describe('UUIDs or identifiers, separated by commas'),
  })

/** Resource use for the list of servers: an extension of the ecosystem's API, which has it for one server. */
export const batchResources = new Hono<HttpEnv>()
  .get(
    '/servers/resources',
    summary('Get the resource use of several servers'),
    signedIn,
    query(BatchQuery),
    returns(200, StatsBatch),
    async (c) => c.json(presentBatchStats(await readBatchStats(c.var.panel, c.req.valid('query').servers))),
  )
  .use('/servers/resources', refuseOtherMethods)
