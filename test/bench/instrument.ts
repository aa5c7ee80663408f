/** Is loaded into a process by `--import`. Opens a second port, at which the benchmark reads what the process uses. */
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { GCProfiler } from 'node:v8'

// Not by Hono, whose copy here would replace the global `Request` and `Response` of the panel, and not by a context
// of its own for the collection of garbage: with both a request takes the panel one and a half times as long.
const collectGarbage = () => globalThis.gc?.()

/** Returns the bytes that were resident at most since the last reset, as the kernel has counted them. */
const maxRss = () => 1024 * Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
/** What resets it. */
const resetMaxRss = () => writeFileSync('/proc/self/clear_refs', '5')

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()

/** Processor time in milliseconds, resident bytes now and at most, and delays of the event loop, since the last reset. */
function readUsage({ url = '' }: IncomingMessage) {
  const { user, system } = process.cpuUsage()
  const usage = {
    processorMs: (user + system) / 1000,
    rssBytes: process.memoryUsage.rss(),
    maxRssBytes: maxRss(),
    delayP99Ms: delay.percentile(99) / 1e6,
    delayMaxMs: delay.max / 1e6,
    uptimeMs: performance.now(),
  }
  if (url.endsWith('?reset')) {
    delay.reset()
    resetMaxRss()
  }
  return usage
}

let allocation: { profiler: GCProfiler; used: number } | null = null

/** Begins to count the bytes that are allocated on the heap of JavaScript. */
function countAllocations() {
  collectGarbage()
  const profiler = new GCProfiler()
  profiler.start()
  allocation = { profiler, used: process.memoryUsage().heapUsed }
  return {}
}

/** Returns how many bytes were allocated since then: what is in use more than before, and what each collection freed. */
function readAllocations() {
  if (!allocation) return null
  const used = process.memoryUsage().heapUsed
  const { statistics } = allocation.profiler.stop() as ReturnType<GCProfiler['stop']> & {
    statistics: { beforeGC: Heap; afterGC: Heap }[]
  }
  const freed = statistics.reduce(
    (sum, { beforeGC, afterGC }) =>
      sum + beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize,
    0,
  )
  return { bytes: used - allocation.used + freed }
}
type Heap = { heapStatistics: { usedHeapSize: number } }

/** What it answers, by method and path. Collecting garbage makes memory at rest what is held. */
const answers: Record<string, (request: IncomingMessage) => object | null> = {
  'GET /usage': readUsage,
  'POST /gc': () => {
    collectGarbage()
    return {}
  },
  'POST /allocations': countAllocations,
  'GET /allocations': readAllocations,
}

createServer((request, response) => {
  const [path = ''] = (request.url ?? '').split('?')
  const answer = answers[`${request.method} ${path}`]?.(request) ?? null
  response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
})
  .listen(Number(process.env.BENCH_INSTRUMENT_PORT), '127.0.0.1')
  .unref()
