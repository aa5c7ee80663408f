import { DaemonError } from '../adapters/daemon-error.ts'
import type { CallGuard } from '../adapters/daemon-http.ts'
import type { Metrics } from '../metrics.ts'

/** Returns the guard with metrics: calls by their outcome, and the seconds that they took. */
export const measuredGuard =
  (metrics: Metrics, guard: CallGuard): CallGuard =>
  async (call, options) => {
    const timedCall = async () => {
      const startedAt = performance.now()
      try {
        return await call()
      } finally {
        metrics.observe('roost_daemon_call_duration_seconds', (performance.now() - startedAt) / 1000, {})
      }
    }
    try {
      const result = await guard(timedCall, options)
      metrics.count('roost_daemon_calls_total', { outcome: 'answered' })
      return result
    } catch (error) {
      metrics.count('roost_daemon_calls_total', { outcome: outcomeOf(error) })
      throw error
    }
  }

function outcomeOf(error: unknown): string {
  if (!(error instanceof DaemonError)) return 'unanswered'
  if (error.retryAfterSeconds !== null) return 'spared'
  return error.status === null ? 'unanswered' : 'refused'
}
