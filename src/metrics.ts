type Definition = { help: string; labels: readonly string[]; buckets?: readonly number[] }

const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The metrics. Labels take their values from lists in the code, which keeps the number of series small. */
const definitions = {
  roost_requests_total: { help: 'Answered requests.', labels: ['surface', 'route', 'status'] },
  roost_request_duration_seconds: {
    help: 'Seconds until the response began.',
    labels: ['surface', 'route'],
    buckets: durationBuckets,
  },
  roost_request_statements: {
    help: 'Statements that a request sent to the database before its response began.',
    labels: ['surface'],
    buckets: [0, 1, 2, 3, 5, 8, 13, 21, 34],
  },
  roost_request_statement_seconds: {
    help: 'Seconds for which a request waited for its statements, in total.',
    labels: ['surface'],
    buckets: durationBuckets,
  },
  roost_failures_total: { help: 'Responses of 500 and above, by error code.', labels: ['error'] },
  roost_events_total: { help: 'Entries written to the audit log.', labels: ['event'] },
  roost_jobs_total: { help: 'Runs of jobs by outcome: done, postponed or dead.', labels: ['job', 'outcome'] },
  roost_job_duration_seconds: {
    help: 'Seconds that a job took, whatever its outcome.',
    labels: ['job'],
    buckets: durationBuckets,
  },
  roost_ticks_total: { help: 'Minute ticks by outcome: done or failed.', labels: ['outcome'] },
  roost_tick_duration_seconds: {
    help: 'Seconds that a minute tick took.',
    labels: [],
    buckets: durationBuckets,
  },
  roost_tick_lateness_seconds: {
    help: 'Seconds by which a tick was more than a minute after the previous completed one.',
    labels: [],
    buckets: [1, 5, 15, 30, 60, 120, 300, 900, 3600],
  },
  roost_daemon_calls_total: {
    help: 'Calls to daemons by outcome: answered, refused, unanswered, or spared (not sent to a node that did not answer before).',
    labels: ['outcome'],
  },
  roost_daemon_call_duration_seconds: {
    help: 'Seconds until a daemon answered or the call timed out, without spared calls.',
    labels: [],
    buckets: durationBuckets,
  },
  roost_queue_messages_total: {
    help: 'Messages of the queue by the key that signed them: current, next, or none of ours.',
    labels: ['key'],
  },
} as const satisfies Record<string, Definition>

type Definitions = typeof definitions
type Name = keyof Definitions
type HistogramName = { [N in Name]: Definitions[N] extends { buckets: unknown } ? N : never }[Name]
type Labels<N extends Name> = Record<Definitions[N]['labels'][number], string>

/** The metrics of one process or isolate since its start. */
export type Metrics = {
  /** Increments a counter. */
  count: <N extends Exclude<Name, HistogramName>>(name: N, labels: Labels<N>) => void
  /** Adds a value to a histogram. */
  observe: <N extends HistogramName>(name: N, value: number, labels: Labels<N>) => void
  /** Returns what does the same for one series: a caller that keeps it looks up its labels once. */
  series: <N extends Name>(name: N, labels: Labels<N>) => { add: (value: number) => void }
  /** Returns all metrics in the text format of Prometheus, version 0.0.4. */
  text: () => string
}

/** `hits` has one number per bucket, and a last one for values above all buckets. */
type Series = { labels: string[]; hits: number[]; sum: number }

/** Further series of a metric are counted with the label `other`. */
const maxSeriesPerMetric = 1000

/** Creates metrics without values. */
export function createMetrics(): Metrics {
  const metrics = new Map<Name, Map<string, Series>>()
  const seriesOf = (name: Name, labels: Record<string, string>): Series => {
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
    text: () => [...metrics].map(([name, all]) => renderMetric(name, [...all.values()])).join(''),
  }
}

function renderMetric(name: Name, all: Series[]): string {
  const definition: Definition = definitions[name]
  const lines = all.flatMap((series) =>
    (definition.buckets ? renderHistogram : renderCounter)(name, definition, series),
  )
  const type = definition.buckets ? 'histogram' : 'counter'
  return [`# HELP ${name} ${definition.help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')
}

const renderCounter = (name: string, { labels }: Definition, series: Series): string[] => [
  `${name}${formatLabels(labels, series.labels)} ${series.sum}`,
]

function renderHistogram(name: string, { labels, buckets = [] }: Definition, series: Series): string[] {
  let cumulativeCount = 0
  const counts = [...buckets.map(String), '+Inf'].map((bound, index) => {
    cumulativeCount += series.hits[index] ?? 0
    return `${name}_bucket${formatLabels([...labels, 'le'], [...series.labels, bound])} ${cumulativeCount}`
  })
  const labelsText = formatLabels(labels, series.labels)
  return [
    ...counts,
    `${name}_sum${labelsText} ${series.sum}`,
    `${name}_count${labelsText} ${cumulativeCount}`,
  ]
}

function formatLabels(names: readonly string[], values: readonly string[]): string {
  if (names.length === 0) return ''
  const escaped = values.map((value) =>
    value.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`)),
  )
  return `{${names.map((name, index) => `${name}="${escaped[index]}"`).join(',')}}`
}
