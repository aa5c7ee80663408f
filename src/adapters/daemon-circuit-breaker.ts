import { DaemonError } from './daemon-error.ts'
import type { CallGuard } from './daemon-http.ts'

/**
 * When a daemon last answered, until when it gets no calls, and since when it owes an answer, null when it gave one;
 * milliseconds.
 */
type Circuit = { answeredAt: number; openUntil: number; cooldownMs: number; silentAt: number | null }

/** State of the circuit breakers of this process, by the uuid of the node. Plain numbers, which requests may share on every platform. */
export type CircuitBreakers = Map<string, Circuit>

/** Milliseconds of the first and of the longest cooldown; each failed probe doubles it. */
const minCooldownMs = 5_000
const maxCooldownMs = 30_000
/** Milliseconds for which a daemon that gave no answer counts as silent. */
const silenceMs = 5 * 60_000
/** Milliseconds after which a failure counts as slow. A connection that is refused at once blocks no request. */
const slowFailureMs = 2_000

/**
 * Returns a guard that opens after a slow failure of a call, unless another call was answered meanwhile. While it is
 * open, calls fail at once with the seconds to wait. Then a single call probes the daemon, and any answer, even an
 * error, closes the circuit. Spec: docs/rules.md#p-10.
 */
export function circuitBreaker(
  circuits: CircuitBreakers,
  node: string,
  now: () => Date,
  timeoutMs: number,
): CallGuard {
  const slowFailureLimitMs = Math.min(slowFailureMs, timeoutMs / 2)
  return async (call, { hasOwnTimeout }) => {
    const circuit = circuits.get(node) ?? newCircuit()
    circuits.set(node, circuit)
    const startedAt = now().getTime()
    if (circuit.openUntil > startedAt) {
      const retryAfterSeconds = Math.ceil((circuit.openUntil - startedAt) / 1000)
      throw new DaemonError(null, 'The node has not answered lately.', { retryAfterSeconds })
    }
    // While this call probes, others continue to fail.
    if (circuit.cooldownMs > 0) circuit.openUntil = startedAt + circuit.cooldownMs
    const callStartedAt = performance.now()
    try {
      const result = await call()
      closeCircuit(circuit)
      return result
    } catch (error) {
      if (!(error instanceof DaemonError) || error.status !== null) {
        closeCircuit(circuit)
        throw error
      }
      if (!hasOwnTimeout && circuit.answeredAt <= callStartedAt) circuit.silentAt = now().getTime()
      if (
        !hasOwnTimeout &&
        circuit.answeredAt <= callStartedAt &&
        performance.now() - callStartedAt >= slowFailureLimitMs
      ) {
        circuit.cooldownMs = Math.min(maxCooldownMs, circuit.cooldownMs * 2 || minCooldownMs)
        circuit.openUntil = now().getTime() + circuit.cooldownMs
      } else if (!hasOwnTimeout) Object.assign(circuit, { openUntil: 0, cooldownMs: 0 })
      throw error
    }
  }
}

function closeCircuit(circuit: Circuit): void {
  Object.assign(circuit, { answeredAt: performance.now(), openUntil: 0, cooldownMs: 0, silentAt: null })
}

const newCircuit = (): Circuit => ({ answeredAt: 0, openUntil: 0, cooldownMs: 0, silentAt: null })

/** Whether the circuit of a daemon is open, or its last call of the last five minutes got no answer. */
export function isSilent(circuits: CircuitBreakers, node: string, now: Date): boolean {
  const { openUntil = 0, silentAt = null } = circuits.get(node) ?? {}
  return openUntil > now.getTime() || (silentAt !== null && now.getTime() - silentAt < silenceMs)
}
