import { Hono } from 'hono'
import { serverUsageColumn } from '../../domain/heartbeats/server-usage.ts'
import { StatisticsQuery } from '../../domain/heartbeats/statistics.ts'
import { readQuery } from '../../http/input.ts'
import { answerJson } from '../../http/json-text.ts'
import { query, returns, summary } from '../../http/route.ts'
import { accessToServer, available, readsOfServer, type ServerEnv } from './middleware.ts'
import { ServerUsageResource } from './resources/server-usage.ts'

/** The stored usage of a server. Spec: docs/servers.md#usage-over-time. */
export const statistics = new Hono<ServerEnv>().get(
  '/',
  summary('Show the usage of a server over time'),
  available,
  accessToServer,
  query(StatisticsQuery),
  readsOfServer(async (c) =>
    serverUsageColumn(c.get('panel'), StatisticsQuery().parse(await readQuery(c)).period),
  ),
  returns(200, ServerUsageResource.One),
  (c) => answerJson(c, ServerUsageResource.one({ ...c.get('data'), ...c.req.valid('query') })),
)
