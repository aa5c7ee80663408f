import { type Definition, definitions, type MetricName, type Metrics, type Series } from './metrics.ts'

/** What `/metrics` says of each metric; only the function that answers there needs it. */
const descriptions: Record<MetricName, string> = {
  roost_requests_total: 'Answered requests.',
  roost_request_duration_seconds: 'Seconds until the response began.',
  roost_request_statements: 'Statements that a request sent to the database before its response began.',
  roost_request_statement_seconds: 'Seconds for which a request waited for its statements, in total.',
  roost_failures_total: 'Responses of 500 and above, by error code.',
  roost_events_total: 'Entries written to the audit log.',
  roost_jobs_total: 'Runs of jobs by outcome: done, postponed or dead.',
  roost_job_duration_seconds: 'Seconds that a job took, whatever its outcome.',
  roost_ticks_total: 'Minute ticks by outcome: done or failed.',
  roost_tick_duration_seconds: 'Seconds that a minute tick took.',
  roost_tick_lateness_seconds:
    'Seconds by which a tick was more than a minute after the previous completed one.',
  roost_daemon_calls_total:
    'Calls to daemons by outcome: answered, refused, unanswered, or spared (not sent to a node that did not answer before).',
  roost_daemon_call_duration_seconds:
    'Seconds until a daemon answered or the call timed out, without spared calls.',
  roost_queue_messages_total:
    'Messages of the queue by the key that signed them: current, next, or none of ours.',
}

/** Writes all metrics in the text format of Prometheus, version 0.0.4. */
export const metricsText = ({ all }: Pick<Metrics, 'all'>): string =>
  [...all].map(([name, series]) => renderMetric(name, [...series.values()])).join('')

function renderMetric(name: MetricName, all: Series[]): string {
  const definition: Definition = definitions[name]
  const lines = all.flatMap((series) =>
    (definition.buckets ? renderHistogram : renderCounter)(name, definition, series),
  )
  const type = definition.buckets ? 'histogram' : 'counter'
  return [`# HELP ${name} ${descriptions[name]}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n')
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
