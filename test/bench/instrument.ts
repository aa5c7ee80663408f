/**
 * Is loaded into the process of the panel by `--import`. Opens a second port, at which the benchmark reads what the
 * process uses, and at which the same process answers the baselines.
 */
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { GCProfiler, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { serve as listen } from '@hono/node-server'
import { Hono } from 'hono'
import { Pool } from 'pg'
import type { Statement } from './statement-proxy.ts'

/** The statements of one request, in their order, and the size of its answer. */
export type Baseline = { name: string; requests: Statement[][]; bytes: number; changing: boolean }

const pool = new Pool({
  connectionString: process.env.BENCH_BASELINE_URL,
  max: Number(process.env.BENCH_POOL_SIZE ?? 10),
  idleTimeoutMillis: 300_000,
})
pool.on('error', () => undefined)
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

/** Leaves values as the database sent them: the baseline reads no column. */
const asText = { getTypeParser: () => (value: string | null) => value } as never
const names = new Map<string, string>()
let serial = 0

/** Replaces digests, so that a batch that is sent again is stored again. */
const withNewDigests = (value: string | null) =>
  value?.replaceAll(/(?<="digest":")[0-9a-f]{64}/g, () => {
    serial += 1
    return serial.toString(16).padStart(64, '0')
  }) ?? null

/** Baseline B of a route: its statements, prepared, and a static body as long as its answer. */
app.post('/baselines', async (c) => {
  const { name, requests, bytes, changing } = (await c.req.json()) as Baseline
  const body = Buffer.from(`{"data":"${'x'.repeat(Math.max(0, bytes - 11))}"}`)
  let turn = 0
  const prepare = (text: string) => {
    const known = names.get(text) ?? `baseline_${names.size}`
    names.set(text, known)
    return known
  }
  const prepared = requests.map((statements) =>
    statements.map((each) => ({ ...each, name: prepare(each.text) })),
  )
  baselines.set(name, async () => {
    const statements = prepared[turn % prepared.length] ?? []
    turn += 1
    for (const { text, values, name: statementName } of statements) {
      await pool.query({
        name: statementName,
        text,
        values: changing ? values.map(withNewDigests) : values,
        rowMode: 'array',
        types: asText,
      })
    }
    return body
  })
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
