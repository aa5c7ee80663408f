import { type CircuitGuard, DaemonError } from './daemon-http.ts'

/** What is known of one daemon: when it last answered, and until when it is not asked. Milliseconds. */
type Circuit = { answeredAt: number; openUntil: number; rest: number }

/** What this process knows of daemons, by node; plain numbers, so requests may share it on every platform. */
export type Circuits = Map<string, Circuit>

/** Milliseconds for which a daemon is left alone at first, and at most: each vain probe doubles them. */
const shortestRest = 5_000
const longestRest = 30_000
/** Milliseconds that a call must have waited in vain: one that is refused at once costs nobody anything. */
const vainWait = 2_000

/**
 * Lets calls to one node through while its daemon answers. Once a call has waited in vain and nobody else
 * was answered meanwhile, further ones fail at once with the seconds to wait; then a single one probes, and
 * an answer, even a refusal, lets everybody through again. Spec: none; promise P-10.
 */
export function circuitGuard(
  circuits: Circuits,
  node: string,
  now: () => Date,
  timeout: number,
): CircuitGuard {
  const longWait = Math.min(vainWait, timeout / 2)
  return async (call, { patient }) => {
    const circuit = circuits.get(node) ?? { answeredAt: 0, openUntil: 0, rest: 0 }
    circuits.set(node, circuit)
    const askedAt = now().getTime()
    if (circuit.openUntil > askedAt) {
      const retryAfter = Math.ceil((circuit.openUntil - askedAt) / 1000)
      throw new DaemonError(null, 'The node has not answered lately.', { retryAfter })
    }
    // While one call probes, the others go on being refused.
    if (circuit.rest > 0) circuit.openUntil = askedAt + circuit.rest
    const before = performance.now()
    try {
      const result = await call()
      closeCircuit(circuit)
      return result
    } catch (error) {
      if (!(error instanceof DaemonError) || error.status !== null) closeCircuit(circuit)
      else if (!patient && circuit.answeredAt <= before && performance.now() - before >= longWait) {
        circuit.rest = Math.min(longestRest, circuit.rest * 2 || shortestRest)
        circuit.openUntil = now().getTime() + circuit.rest
      } else if (!patient) Object.assign(circuit, { openUntil: 0, rest: 0 })
      throw error
    }
  }
}

function closeCircuit(circuit: Circuit): void {
  Object.assign(circuit, { answeredAt: performance.now(), openUntil: 0, rest: 0 })
}
