import { type CircuitGuard, DaemonError } from '../adapters/daemon-http.ts'
import type { Metrics } from '../metrics.ts'

/** The same guard, whose calls are counted by what came of them, with the seconds they took. */
export const countedGuard =
  (metrics: Metrics, guard: CircuitGuard): CircuitGuard =>
  async (call, options) => {
    const timed = async () => {
      const began = performance.now()
      try {
        return await call()
      } finally {
        metrics.observe('roost_daemon_call_duration_seconds', (performance.now() - began) / 1000, {})
      }
    }
    try {
      const result = await guard(timed, options)
      metrics.count('roost_daemon_calls_total', { outcome: 'answered' })
      return result
    } catch (error) {
      metrics.count('roost_daemon_calls_total', { outcome: outcomeOf(error) })
      throw error
    }
  }

function outcomeOf(error: unknown): string {
  if (!(error instanceof DaemonError)) return 'unanswered'
  if (error.retryAfter !== null) return 'spared'
  return error.status === null ? 'unanswered' : 'refused'
}
