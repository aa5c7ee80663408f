import { Hono } from 'hono'
import * as z from 'zod'
import { checkHealth } from '../domain/health.ts'
import type { HttpEnv } from '../http/environment.ts'
import { returns, summary } from '../http/route.ts'
import { anybody, noCredential } from './browser/env.ts'

const State = () => z.enum(['ok', 'down'])
const HealthReport = () =>
  z.object({
    status: z.enum(['ok', 'degraded', 'down']),
    parts: z.object({ database: State(), cache: State(), queue: State(), objects: State() }),
  })

/** What browsers and monitors call. */
export const browser = new Hono<HttpEnv>().get(
  '/health',
  summary('Show whether the panel can serve'),
  noCredential,
  anybody,
  returns(200, HealthReport),
  async (c) => {
    const health = await checkHealth(c.var.panel)
    return c.json(health, health.status === 'down' ? 503 : 200)
  },
)
