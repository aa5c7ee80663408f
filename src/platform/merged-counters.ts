import type { MetricName, Metrics, Series } from '../metrics.ts'

/** The counters and histograms of a process, as one sends them to another. */
export type Counters = [name: MetricName, series: Series[]][]

/** Copies the counters of this process. */
export const countersOf = ({ all }: Pick<Metrics, 'all'>): Counters =>
  Array.from(all, ([name, series]) => [name, [...series.values()]])

/** Adds up the counters of several processes, by their labels. */
export function mergeCounters(all: readonly Counters[]): Counters {
  const merged = new Map<MetricName, Map<string, Series>>()
  for (const [name, found] of all.flat()) {
    const known = merged.get(name) ?? new Map<string, Series>()
    merged.set(name, known)
    for (const { labels, hits, sum } of found) {
      const key = labels.join('\n')
      const before = known.get(key)
      known.set(key, {
        labels,
        hits: hits.map((count, at) => count + (before?.hits[at] ?? 0)),
        sum: sum + (before?.sum ?? 0),
      })
    }
  }
  return countersOf({ all: merged })
}

/** Returns counters in the form that a process keeps its own in. */
export const toMetrics = (counters: Counters): Pick<Metrics, 'all'> => ({
  all: new Map(
    counters.map(([name, found]) => [name, new Map(found.map((each) => [each.labels.join('\n'), each]))]),
  ),
})
