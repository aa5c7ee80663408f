import { type CircuitGuard, DaemonError } from '../adapters/daemon-http.ts'
import type { Metrics } from '../metrics.ts'

/** The same guard, whose calls are counted by what came of them. */
export const countedGuard =
  (metrics: Metrics, guard: CircuitGuard): CircuitGuard =>
  async (call, options) => {
    try {
      const result = await guard(call, options)
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
