/** Is loaded into a process by `--import`. Opens a second port, at which the benchmark reads what the process uses. */
import { readFileSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { GCProfiler, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { serve as listen } from '@hono/node-server'
import { Hono } from 'hono'

const app = new Hono()
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Returns the bytes that were resident at most since the last reset, as the kernel has counted them. */
const maxRss = () => 1024 * Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
/** What resets it. */
const resetMaxRss = () => writeFileSync('/proc/self/clear_refs', '5')

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()

/** Processor time in milliseconds, resident bytes now and at most, and delays of the event loop, since the last reset. */
app.get('/usage', (c) => {
  const { user, system } = process.cpuUsage()
  const usage = {
    processorMs: (user + system) / 1000,
    rssBytes: process.memoryUsage.rss(),
    maxRssBytes: maxRss(),
    delayP99Ms: delay.percentile(99) / 1e6,
    delayMaxMs: delay.max / 1e6,
    uptimeMs: performance.now(),
  }
  if (c.req.query('reset') !== undefined) {
    delay.reset()
    resetMaxRss()
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
