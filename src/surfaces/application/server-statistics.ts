import { Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import { readServerStatistics, StatisticsQuery } from '../../domain/heartbeats/statistics.ts'
import type { HttpEnv } from '../../http/http-env.ts'
import { params, query, returns, summary } from '../../http/route.ts'
import { acl } from './middleware.ts'
import { ServerStatisticsResource } from './resources/statistics.ts'

const ServerParams = () => z.object({ server: pathId() })

/** The stored usage of a server. Spec: docs/nodes.md#statistics. */
export const serverStatistics = new Hono<HttpEnv>().get(
  '/:server/statistics',
  summary('Show the usage of a server over time'),
  acl('servers', 'read'),
  params(ServerParams),
  query(StatisticsQuery),
  returns(200, ServerStatisticsResource.One),
  async (c) => {
    const { server } = c.req.valid('param')
    const found = await readServerStatistics(c.var.panel, server, c.req.valid('query').period)
    return c.json(ServerStatisticsResource.one(found))
  },
)
