import { Hono } from 'hono'
import * as z from 'zod'
import { mostServers, readBatchStats } from '../../domain/batch-stats.ts'
import { query, returns, summary } from '../../http/route.ts'
import { type ClientEnv, signedIn } from './env.ts'
import { presentBatchStats, StatsBatch } from './resources/stats.ts'

/** Names of servers, as a comma list or an array. */
const Wanted = () =>
  z.object({
    servers: z
      .preprocess(
        (value) => (typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value),
        z.array(z.string().max(36, 'max')).min(1, 'required').max(mostServers, 'max'),
      )
      .describe('Uuids or identifiers, joined by commas'),
  })

/** What the list of servers shows of each; the specification has it for single servers. */
export const batchResources = new Hono<ClientEnv>().get(
  '/servers/resources',
  summary('Show state and resource use of several servers'),
  signedIn,
  query(Wanted),
  returns(200, StatsBatch),
  async (c) => c.json(presentBatchStats(await readBatchStats(c.var.panel, c.req.valid('query').servers))),
)
