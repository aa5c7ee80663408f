/**
 * Is loaded into the process of the panel by `--import`. Opens a second port, at which the benchmark reads what the
 * process uses, and at which the same process answers the baselines.
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { GCProfiler, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { serve as listen } from '@hono/node-server'
import { Hono } from 'hono'
import pg from 'pg'
import { openStatementPool } from '../../src/platform/statement-pool.ts'
import type { Statement } from './statement-proxy.ts'

/** The statements of one request, in their order, and the size of its answer. */
export type Baseline = { name: string; requests: Statement[][]; bytes: number; changing: boolean }

const size = Number(process.env.BENCH_POOL_SIZE ?? 10)
const connectionString = process.env.BENCH_BASELINE_URL ?? ''
const pool = new pg.Pool({ connectionString, max: size, idleTimeoutMillis: 300_000 })
pool.on('error', () => undefined)
/** The driver of the panel. */
const panelPool = openStatementPool({ connectionString }, { size, timeoutMs: 10_000, idleTimeoutMs: 300_000 })
const app = new Hono()
const baselines = new Map<string, () => Promise<Buffer>>()

/** Baseline A: one prepared query by a key. */
app.get('/bare', async (c) => {
  const { rows } = await pool.query({
    name: 'bare',
    text: 'select * from locations where id = $1',
    values: [1],
  })
  return c.json(rows)
})

/** Parses JSON and leaves everything else as text, as a route needs it, whatever the panel has set for its own driver. */
const asDelivered = {
  getTypeParser: (type: number) =>
    type === pg.types.builtins.JSON || type === pg.types.builtins.JSONB
      ? (value: string): unknown => JSON.parse(value)
      : (value: string) => value,
} as never
const names = new Map<string, string>()
let serial = 0

/** Replaces digests, so that a batch that is sent again is stored again. */
const withNewDigests = (value: string | null) =>
  value?.replaceAll(/(?<="digest":")[0-9a-f]{64}/g, () => {
    serial += 1
    return serial.toString(16).padStart(64, '0')
  }) ?? null

type Query = (statement: Statement) => Promise<unknown>

/** Sends a statement as baseline A does: by `pg`, prepared, with its rows as objects. */
const queryByPg: Query = ({ text, values }) => {
  const name = names.get(text) ?? `baseline_${names.size}`
  names.set(text, name)
  return pool.query({ name, text, values, types: asDelivered })
}
const queryByPanelPool: Query = ({ text, values }) =>
  panelPool.query({ text, rowMode: 'array', types: asDelivered }, values)

/**
 * Baselines of a route: its statements by `pg` (B) and by the driver of the panel, and a static body as long as its
 * answer. What the route makes of the rows is its own.
 */
app.post('/baselines', async (c) => {
  const { name, requests, bytes, changing } = (await c.req.json()) as Baseline
  const body = Buffer.from(`{"data":"${'x'.repeat(Math.max(0, bytes - 11))}"}`)
  let turn = 0
  const answerBy = (query: Query) => async () => {
    const statements = requests[turn % requests.length] ?? []
    turn += 1
    for (const { text, values } of statements)
      await query({ text, values: changing ? values.map(withNewDigests) : values })
    return body
  }
  baselines.set(name, answerBy(queryByPg))
  baselines.set(`${name}-by-driver`, answerBy(queryByPanelPool))
  return c.json({})
})
app.get('/baselines/:name', async (c) => {
  const answer = await baselines.get(c.req.param('name'))?.()
  return answer ? c.body(answer as never, 200, { 'content-type': 'application/json' }) : c.notFound()
})

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const memoryIntervalMs = 5
let maxRss = 0
setInterval(() => (maxRss = Math.max(maxRss, process.memoryUsage.rss())), memoryIntervalMs).unref()
const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()

/** Processor time in milliseconds, resident bytes now and at most, and delays of the event loop, since the last reset. */
app.get('/usage', (c) => {
  const { user, system } = process.cpuUsage()
  const usage = {
    processorMs: (user + system) / 1000,
    rssBytes: process.memoryUsage.rss(),
    maxRssBytes: maxRss,
    delayP99Ms: delay.percentile(99) / 1e6,
    delayMaxMs: delay.max / 1e6,
    uptimeMs: performance.now(),
  }
  if (c.req.query('reset') !== undefined) {
    delay.reset()
    maxRss = usage.rssBytes
  }
  return c.json(usage)
})

/** Collects garbage, so that memory at rest is what is held. */
app.post('/gc', (c) => {
  collectGarbage()
  return c.json({})
})

let allocation: { profiler: GCProfiler; used: number } | null = null

/** Begins to count the bytes that are allocated on the heap of JavaScript. */
app.post('/allocations', (c) => {
  collectGarbage()
  const profiler = new GCProfiler()
  profiler.start()
  allocation = { profiler, used: process.memoryUsage().heapUsed }
  return c.json({})
})

/** Returns how many bytes were allocated since then: what is in use more than before, and what each collection freed. */
app.get('/allocations', (c) => {
  if (!allocation) return c.notFound()
  const used = process.memoryUsage().heapUsed
  const { statistics } = allocation.profiler.stop() as ReturnType<GCProfiler['stop']> & {
    statistics: { beforeGC: Heap; afterGC: Heap }[]
  }
  const freed = statistics.reduce(
    (sum, { beforeGC, afterGC }) =>
      sum + beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize,
    0,
  )
  return c.json({ bytes: used - allocation.used + freed })
})
type Heap = { heapStatistics: { usedHeapSize: number } }

listen({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.BENCH_INSTRUMENT_PORT) }).unref()
