/** The names of a metric's labels, and the upper bounds of its buckets, if it has any. */
export type Definition = { labels: readonly string[]; buckets?: readonly number[] }

const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The metrics. Labels take their values from lists in the code, which keeps the number of series small. */
export const definitions = {
  roost_requests_total: { labels: ['surface', 'route', 'status'] },
  roost_request_duration_seconds: { labels: ['surface', 'route'], buckets: durationBuckets },
  roost_request_statements: { labels: ['surface'], buckets: [0, 1, 2, 3, 5, 8, 13, 21, 34] },
  roost_request_statement_seconds: { labels: ['surface'], buckets: durationBuckets },
  roost_failures_total: { labels: ['error'] },
  roost_events_total: { labels: ['event'] },
  roost_jobs_total: { labels: ['job', 'outcome'] },
  roost_job_duration_seconds: { labels: ['job'], buckets: durationBuckets },
  roost_ticks_total: { labels: ['outcome'] },
  roost_tick_duration_seconds: { labels: [], buckets: durationBuckets },
  roost_tick_lateness_seconds: { labels: [], buckets: [1, 5, 15, 30, 60, 120, 300, 900, 3600] },
  roost_daemon_calls_total: { labels: ['outcome'] },
  roost_daemon_call_duration_seconds: { labels: [], buckets: durationBuckets },
  roost_queue_messages_total: { labels: ['key'] },
} as const satisfies Record<string, Definition>

type Definitions = typeof definitions
/** The name of a metric. */
export type MetricName = keyof Definitions
type HistogramName = {
  [N in MetricName]: Definitions[N] extends { buckets: unknown } ? N : never
}[MetricName]
type Labels<N extends MetricName> = Record<Definitions[N]['labels'][number], string>

/** The metrics of one process or isolate since its start. */
export type Metrics = {
  /** Increments a counter. */
  count: <N extends Exclude<MetricName, HistogramName>>(name: N, labels: Labels<N>) => void
  /** Adds a value to a histogram. */
  observe: <N extends HistogramName>(name: N, value: number, labels: Labels<N>) => void
  /** Returns what does the same for one series: a caller that keeps it looks up its labels once. */
  series: <N extends MetricName>(name: N, labels: Labels<N>) => { add: (value: number) => void }
  /** Every metric that has a value, with its series. */
  all: ReadonlyMap<MetricName, ReadonlyMap<string, Series>>
}

/** `hits` has one number per bucket, and a last one for values above all buckets. */
export type Series = { labels: string[]; hits: number[]; sum: number }

/** Further series of a metric are counted with the label `other`. */
const maxSeriesPerMetric = 1000

/** Creates metrics without values. */
export function createMetrics(): Metrics {
  const metrics = new Map<MetricName, Map<string, Series>>()
  const seriesOf = (name: MetricName, labels: Record<string, string>): Series => {
    const definition: Definition = definitions[name]
    const all = metrics.get(name) ?? new Map<string, Series>()
    metrics.set(name, all)
    let values = definition.labels.map((label) => labels[label] ?? '')
    if (all.size >= maxSeriesPerMetric && !all.has(values.join('\n'))) values = values.map(() => 'other')
    const key = values.join('\n')
    const known = all.get(key)
    if (known) return known
    const hits = Array.from({ length: (definition.buckets?.length ?? 0) + 1 }, () => 0)
    const series = { labels: values, hits, sum: 0 }
    all.set(key, series)
    return series
  }
  const addTo = (series: Series, buckets: readonly number[], value: number) => {
    let index = 0
    while (index < buckets.length && value > (buckets[index] ?? 0)) index += 1
    series.hits[index] = (series.hits[index] ?? 0) + 1
    series.sum += value
  }
  const series: Metrics['series'] = (name, labels) => {
    const { buckets = [] }: Definition = definitions[name]
    const found = seriesOf(name, labels)
    return { add: (value) => addTo(found, buckets, value) }
  }
  return {
    count: (name, labels) => series(name, labels as never).add(1),
    observe: (name, value, labels) => series(name, labels as never).add(value),
    series,
    all: metrics,
  }
}
