import type { NodeProbe } from '../adapters/node-probe.ts'

/** Probes a daemon; TLS is loaded with the first one, since it would take a sixth of every cold start. */
export const lazyNodeProbe: NodeProbe = async (target) => (await import('./node-probe.ts')).nodeProbe(target)
