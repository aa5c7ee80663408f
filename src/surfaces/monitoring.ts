import { Hono } from 'hono'
import { createMiddleware } from 'hono/factory'
import * as z from 'zod'
import { bearerToken } from '../domain/auth/credentials.ts'
import { checkHealth } from '../domain/operations/health.ts'
import { equalSecrets } from '../domain/secrets.ts'
import { notFound, unauthenticated } from '../errors.ts'
import type { HttpEnv } from '../http/http-env.ts'
import { withMetadata } from '../http/metadata.ts'
import { noCredential, noPermission } from '../http/public-route.ts'
import { returns, summary } from '../http/route.ts'
import { metricsText } from '../metrics-text.ts'
import { version } from '../version.ts'

const ServiceState = () => z.enum(['ok', 'failed', 'unknown'])
const HealthReport = () =>
  z.object({
    status: z.enum(['ok', 'degraded', 'down']),
    version: z.string(),
    parts: z.object({
      database: ServiceState(),
      cache: ServiceState(),
      queue: ServiceState(),
      objects: ServiceState(),
      tick: ServiceState(),
      migrations: ServiceState(),
    }),
    milliseconds: z.object({ database: z.int(), cache: z.int(), queue: z.int(), objects: z.int() }),
    tick_age_seconds: z.int().nullable(),
    pending_migrations: z.int().nullable(),
  })

/** Requires the metrics token. Refuses with 401, and with 404 where none is configured. */
const metricsToken = withMetadata(
  { kind: 'credential', name: 'metrics token' },
  createMiddleware<HttpEnv>(async (c, next) => {
    const { metricsToken: expected } = c.var.panel.config
    if (!expected) throw notFound()
    const token = bearerToken(c.req.header('authorization'))
    if (token === null || !equalSecrets(token, expected)) throw unauthenticated()
    await next()
  }),
)

/** The policy keeps a browser from running the text as a page. */
const metricsHeaders = {
  'content-type': 'text/plain; version=0.0.4; charset=utf-8',
  'content-security-policy': "default-src 'none'; sandbox",
}

/** The routes that monitors and load balancers call. */
export const monitoring = new Hono<HttpEnv>()
  .get(
    '/health',
    summary('Get the health of the panel'),
    noCredential,
    noPermission,
    returns(200, HealthReport),
    async (c) => {
      const { tickAge, pendingMigrations, ...health } = await checkHealth(c.var.panel)
      const report = {
        ...health,
        version,
        tick_age_seconds: tickAge,
        pending_migrations: pendingMigrations,
      }
      return c.json(report, health.status === 'down' ? 503 : 200)
    },
  )

  .get(
    '/metrics',
    summary('Get the metrics of this process'),
    metricsToken,
    noPermission,
    returns(200),
    async (c) => {
      const { panel } = c.var
      const text = (await panel.readMetrics?.()) ?? metricsText(panel.metrics)
      for (const [name, value] of Object.entries(metricsHeaders)) c.header(name, value)
      return c.body(text)
    },
  )
