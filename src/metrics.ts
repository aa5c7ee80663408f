type Definition = { help: string; labels: readonly string[]; buckets?: readonly number[] }

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** All that is counted. Every label takes its values from a list in the code, so there are few series. */
const definitions = {
  roost_requests_total: { help: 'Requests that were answered.', labels: ['surface', 'route', 'status'] },
  roost_request_duration_seconds: {
    help: 'Seconds until the answer began.',
    labels: ['surface', 'route'],
    buckets: seconds,
  },
  roost_request_statements: {
    help: 'Statements that a request sent to the database before its answer began.',
    labels: ['surface'],
    buckets: [0, 1, 2, 3, 5, 8, 13, 21, 34],
  },
  roost_request_statement_seconds: {
    help: 'Seconds for which a request waited for its statements, added up.',
    labels: ['surface'],
    buckets: seconds,
  },
  roost_failures_total: { help: 'Answers of 500 and above, by what failed.', labels: ['error'] },
  roost_events_total: { help: 'Entries written into the audit log.', labels: ['event'] },
  roost_jobs_total: { help: 'Jobs that were run: done, postponed or given up.', labels: ['job', 'outcome'] },
  roost_job_duration_seconds: {
    help: 'Seconds which a job took, whatever came of it.',
    labels: ['job'],
    buckets: seconds,
  },
  roost_ticks_total: { help: 'Minute ticks: done or failed.', labels: ['outcome'] },
  roost_tick_duration_seconds: { help: 'Seconds which a minute tick took.', labels: [], buckets: seconds },
  roost_tick_lateness_seconds: {
    help: 'Seconds beyond a minute since the tick before that was done.',
    labels: [],
    buckets: [1, 5, 15, 30, 60, 120, 300, 900, 3600],
  },
  roost_daemon_calls_total: {
    help: 'Calls to daemons: answered, refused, unanswered, or spared because the daemon did not answer before.',
    labels: ['outcome'],
  },
  roost_daemon_call_duration_seconds: {
    help: 'Seconds until a daemon answered, or was waited for no longer; spared calls do not count.',
    labels: [],
    buckets: seconds,
  },
  roost_queue_messages_total: {
    help: 'Messages of the queue by the key that signed them: current, next or none.',
    labels: ['key'],
  },
} as const satisfies Record<string, Definition>

type Definitions = typeof definitions
type Name = keyof Definitions
type HistogramName = { [N in Name]: Definitions[N] extends { buckets: unknown } ? N : never }[Name]
type Labels<N extends Name> = Record<Definitions[N]['labels'][number], string>

/** What one process or isolate has counted since it began. */
export type Metrics = {
  /** Adds one. */
  count: <N extends Exclude<Name, HistogramName>>(name: N, labels: Labels<N>) => void
  /** Adds one value to a histogram. */
  observe: <N extends HistogramName>(name: N, value: number, labels: Labels<N>) => void
  /** All of it in the text format of Prometheus, version 0.0.4. */
  text: () => string
}

/** `hits` of each bucket and, last, of what is above them all. */
type Series = { labels: string[]; hits: number[]; sum: number }

/** Series of one metric; what would be one more is counted under `other`. */
const mostSeries = 1000

/** Counters that stand at nothing. */
export function openMetrics(): Metrics {
  const metrics = new Map<Name, Map<string, Series>>()
  const seriesOf = (name: Name, labels: Record<string, string>): Series => {
    const definition: Definition = definitions[name]
    const all = metrics.get(name) ?? new Map<string, Series>()
    metrics.set(name, all)
    let values = definition.labels.map((label) => labels[label] ?? '')
    if (all.size >= mostSeries && !all.has(values.join('\n'))) values = values.map(() => 'other')
    const key = values.join('\n')
    const hits = Array.from({ length: (definition.buckets?.length ?? 0) + 1 }, () => 0)
    const series = all.get(key) ?? { labels: values, hits, sum: 0 }
    all.set(key, series)
    return series
  }
  const add = (name: Name, value: number, labels: Record<string, string>) => {
    const { buckets = [] }: Definition = definitions[name]
    const series = seriesOf(name, labels)
    const bucket = buckets.findIndex((bound) => value <= bound)
    const at = bucket === -1 ? buckets.length : bucket
    series.hits[at] = (series.hits[at] ?? 0) + 1
    series.sum += value
  }
  return {
    count: (name, labels) => add(name, 1, labels),
    observe: (name, value, labels) => add(name, value, labels),
    text: () => [...metrics].map(([name, all]) => textOf(name, [...all.values()])).join(''),
  }
}

function textOf(name: Name, all: Series[]): string {
  const definition: Definition = definitions[name]
  const lines = all.flatMap((series) => (definition.buckets ? histogram : counter)(name, definition, series))
  const type = definition.buckets ? 'histogram' : 'counter'
  return [`# HELP ${name} ${definition.help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')
}

const counter = (name: string, { labels }: Definition, series: Series): string[] => [
  `${name}${marks(labels, series.labels)} ${series.sum}`,
]

function histogram(name: string, { labels, buckets = [] }: Definition, series: Series): string[] {
  let below = 0
  const counts = [...buckets.map(String), '+Inf'].map((bound, at) => {
    below += series.hits[at] ?? 0
    return `${name}_bucket${marks([...labels, 'le'], [...series.labels, bound])} ${below}`
  })
  const own = marks(labels, series.labels)
  return [...counts, `${name}_sum${own} ${series.sum}`, `${name}_count${own} ${below}`]
}

function marks(names: readonly string[], values: readonly string[]): string {
  if (names.length === 0) return ''
  const escaped = values.map((value) =>
    value.replace(/[\\"\n]/g, (sign) => (sign === '\n' ? '\\n' : `\\${sign}`)),
  )
  return `{${names.map((name, at) => `${name}="${escaped[at]}"`).join(',')}}`
}
