import { performance } from 'node:perf_hooks'
import { collectDefaultMetrics, Gauge, type MetricObject, Registry } from 'prom-client'
import type { PoolState } from './client-pool.ts'
import { pendingStatements } from './statement-stats.ts'

/** Gauges of prom-client whose names say that they are counters. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]
/** Milliseconds between two looks at the event loop. */
const loopResolutionMs = 20

/** What one process measures of itself, as prom-client writes it. */
export type ProcessMetrics = MetricObject[]

/**
 * Measures this process from now on: processor, memory, garbage collection, event loop, and its connections to the
 * database. `pool` returns null where the driver has no connections to count.
 */
export function measureProcess(pool: () => PoolState | null): () => Promise<ProcessMetrics> {
  const register = new Registry()
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: loopResolutionMs })
  for (const name of misnamed) register.removeSingleMetric(name)
  const gauge = (name: string, help: string, collect: (this: Gauge) => void, labelNames: string[] = []) =>
    new Gauge({ name, help, labelNames, registers: [register], collect })
  let last = performance.eventLoopUtilization()
  gauge(
    'roost_event_loop_utilization_ratio',
    'Share of the time since the last scrape in which the event loop worked.',
    function () {
      this.set(performance.eventLoopUtilization(last).utilization)
      last = performance.eventLoopUtilization()
    },
  )
  gauge('roost_statements_pending', 'Statements that wait for a connection or an answer.', function () {
    this.set(pendingStatements())
  })
  if (pool()) addPoolGauges(gauge, pool)
  return async () => (await register.getMetricsAsJSON()) as ProcessMetrics
}

type AddGauge = (name: string, help: string, collect: (this: Gauge) => void, labels?: string[]) => Gauge

function addPoolGauges(gauge: AddGauge, pool: () => PoolState | null): void {
  gauge(
    'roost_database_connections',
    'Connections to the database by state: busy or idle.',
    function () {
      const { open, idle } = pool() ?? { open: 0, idle: 0 }
      this.set({ state: 'busy' }, open - idle)
      this.set({ state: 'idle' }, idle)
    },
    ['state'],
  )
  gauge('roost_database_connections_limit', 'Connections that the pool opens at most.', function () {
    this.set(pool()?.limit ?? 0)
  })
  gauge('roost_database_waiting', 'Statements and transactions that wait for a connection.', function () {
    this.set(pool()?.waiting ?? 0)
  })
}
