import { monitorEventLoopDelay } from 'node:perf_hooks'
import { serve as listen } from '@hono/node-server'
import { eq, sql } from 'drizzle-orm'
import { Hono } from 'hono'
import { prepared } from '../../src/db/database.ts'
import { locations } from '../../src/db/schema.ts'
import { serve } from '../../src/platform/serve.ts'
import { surfaces } from '../../src/surfaces/all.ts'
import { openBenchServices } from './services.ts'

const url = process.argv[2]
if (!url) throw new Error('Usage: server.ts <database url>')

let statements = 0
const services = await openBenchServices(url, () => {
  statements += 1
})
const memoryIntervalMs = 5
const nanosecondsPerMs = 1e6
let delay: ReturnType<typeof monitorEventLoopDelay> | null = null
let memoryBefore = 0
let maxMemory = 0
setInterval(() => (maxMemory = Math.max(maxMemory, process.memoryUsage.rss())), memoryIntervalMs).unref()

/** Returns the delay of the event loop and the growth of memory since the last call. */
function takeUsage() {
  const usage = {
    delayP99Ms: (delay?.percentile(99) ?? 0) / nanosecondsPerMs,
    delayMaxMs: (delay?.max ?? 0) / nanosecondsPerMs,
    memoryGrowthBytes: Math.max(0, maxMemory - memoryBefore),
  }
  delay?.disable()
  delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  memoryBefore = process.memoryUsage.rss()
  maxMemory = memoryBefore
  return usage
}

const app = serve(
  {
    services: async () => services,
    clientAddress: (c) => c.req.header('x-bench-address') ?? '127.0.0.1',
    waitUntil: () => undefined,
  },
  ...surfaces,
)

/** The reference: a bare route with one indexed, prepared query on the same driver. */
const bare = new Hono()
  .get('/bare', async (c) => {
    const statement = prepared(services.db, 'bench_bare', (db) =>
      db
        .select()
        .from(locations)
        .where(eq(locations.id, sql.placeholder('id')))
        .prepare('bench_bare'),
    )
    return c.json(await statement.execute({ id: 1 }))
  })
  .get('/statements', (c) => c.json({ statements }))
  .get('/usage', (c) => c.json(takeUsage()))

process.on('SIGINT', () => process.exit(0))
listen(
  {
    fetch: (request) =>
      /^\/(?:api|auth)\//.test(new URL(request.url).pathname) ? app.fetch(request) : bare.fetch(request),
    hostname: '127.0.0.1',
    port: 0,
  },
  ({ port }) => console.log(`listening ${port}`),
)
