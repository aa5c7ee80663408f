import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import * as z from 'zod'
import { bearerToken } from '../domain/credentials.ts'
import { checkHealth } from '../domain/health.ts'
import { equalSecrets } from '../domain/secrets.ts'
import { notFound, unauthenticated } from '../errors.ts'
import type { HttpEnv } from '../http/environment.ts'
import { stating } from '../http/facts.ts'
import { anybody, noCredential } from '../http/open-route.ts'
import { returns, summary } from '../http/route.ts'

const State = () => z.enum(['ok', 'failed', 'unknown'])
const HealthReport = () =>
  z.object({
    status: z.enum(['ok', 'degraded', 'down']),
    parts: z.object({
      database: State(),
      cache: State(),
      queue: State(),
      objects: State(),
      tick: State(),
      migrations: State(),
    }),
    milliseconds: z.object({ database: z.int(), cache: z.int(), queue: z.int(), objects: z.int() }),
    tick_age_seconds: z.int().nullable(),
    pending_migrations: z.int().nullable(),
  })

/** The caller knows the token for metrics. Refuses with 401, and everybody with 404 where none is configured. */
const metricsToken = stating(
  { kind: 'credential', name: 'metrics token' },
  createMiddleware<HttpEnv>(async (c, next) => {
    const { metricsToken: expected } = c.var.panel.config
    if (!expected) throw notFound()
    const token = bearerToken(c.req.header('authorization'))
    if (token === null || !equalSecrets(token, expected)) throw unauthenticated()
    await next()
  }),
)

/** Text that no browser takes for a page. */
const metricsHeaders = {
  'content-type': 'text/plain; version=0.0.4; charset=utf-8',
  'content-security-policy': "default-src 'none'; sandbox",
}

/** What monitors and load balancers call. */
export const operations = new Hono<HttpEnv>()
  .get(
    '/health',
    summary('Show whether the panel can serve'),
    noCredential,
    anybody,
    returns(200, HealthReport),
    async (c) => {
      const { tickAge, pendingMigrations, ...health } = await checkHealth(c.var.panel)
      const report = { ...health, tick_age_seconds: tickAge, pending_migrations: pendingMigrations }
      return c.json(report, health.status === 'down' ? 503 : 200)
    },
  )

  .get(
    '/metrics',
    summary('Show what this process has counted'),
    metricsToken,
    anybody,
    returns(200),
    (c) => {
      for (const [name, value] of Object.entries(metricsHeaders)) c.header(name, value)
      return c.body(c.var.panel.metrics.text())
    },
  )
