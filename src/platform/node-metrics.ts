import cluster from 'node:cluster'
import { once } from 'node:events'
import { AggregatorRegistry } from 'prom-client'
import { metricsText } from '../metrics-text.ts'
import type { Panel } from '../panel.ts'
import { withTimeout } from '../with-timeout.ts'
import type { PoolState } from './client-pool.ts'
import { countersOf, toMetrics } from './merged-counters.ts'
import { panelGauges } from './panel-gauges.ts'
import { isMessage, type MetricsMessage, type MetricsOfAllMessage, sendUp } from './process-messages.ts'
import { measureProcess, type ProcessMetrics } from './process-metrics.ts'

/** Milliseconds for the metrics of the other processes, of which each has two seconds. */
const timeoutMs = 4000

type Gathered = Omit<MetricsOfAllMessage, 'kind'>

/** `close` says what this process has counted, so that it stays counted when the process has ended. */
export type NodeMetrics = { read: () => Promise<string>; close: () => Promise<void> }

/**
 * Measures this process. `read` writes the metrics of the whole panel in the text format of Prometheus:
 * counters of all processes added up, what each process measures of itself with its place as the label `process`, and
 * gauges of the panel.
 */
export function openNodeMetrics(panel: Panel, pool: () => PoolState | null): NodeMetrics {
  const measure = measureProcess(pool)
  const writeGauges = panelGauges(panel)
  const own = async (): Promise<Gathered> => ({
    counters: countersOf(panel.metrics),
    processes: [{ place: 1, metrics: await measure() }],
  })
  const say = async (round: number) => {
    const message = { round, counters: countersOf(panel.metrics), metrics: await measure() }
    await sendUp({ kind: 'metrics', ...message } satisfies MetricsMessage)
  }
  if (cluster.isWorker) listen(say)
  const read = async () => {
    const gathered = (cluster.isWorker ? await askAll() : null) ?? (await own())
    // Only then: the statements of the gauges themselves would wait in line, and be seen there.
    const gauges = await writeGauges()
    return `${metricsText(toMetrics(gathered.counters))}${await writeProcesses(gathered)}${gauges}`
  }
  return { read, close: async () => (cluster.isWorker ? say(0) : undefined) }
}

/** Says the metrics of this process when they are asked for. */
function listen(say: (round: number) => Promise<void>): void {
  process.on('message', (message: unknown) => {
    if (isMessage(message, 'metrics-read')) void say((message as { round: number }).round)
  })
}

/** Asks the process that started this one for the metrics of all; null when it does not answer. */
async function askAll(): Promise<Gathered | null> {
  const stop = new AbortController()
  const answer = untilMetricsOfAll(stop.signal).catch(() => null)
  process.send?.({ kind: 'metrics-wanted' })
  const gathered = await withTimeout(answer, timeoutMs, null)
  stop.abort()
  return gathered
}

async function untilMetricsOfAll(signal: AbortSignal): Promise<Gathered> {
  for (;;) {
    const [message] = (await once(process, 'message', { signal })) as [unknown]
    if (isMessage(message, 'metrics-of-all')) return message as MetricsOfAllMessage
  }
}

/** Writes what processes measured of themselves, each with its place. */
function writeProcesses({ processes }: Gathered): Promise<string> {
  const labelled = processes.map(({ place, metrics }) => metrics.map((metric) => withPlace(metric, place)))
  return AggregatorRegistry.aggregate(labelled as never).metrics()
}

/** Adds the place to a metric, and keeps the values of processes apart from each other. */
const withPlace = (metric: ProcessMetrics[number], place: number) => ({
  ...metric,
  aggregator: 'sum',
  values: (metric as unknown as { values: { labels: object }[] }).values.map((value) => ({
    ...value,
    labels: { process: String(place), ...value.labels },
  })),
})
