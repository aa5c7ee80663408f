import type { Socket } from 'node:net'
import type { Egress } from '../adapters/egress.ts'
import type { NodeProbe } from '../adapters/node-probe.ts'

/** Probes a daemon; TLS is loaded with the first one, since it would take a sixth of every cold start. */
export const lazyNodeProbe =
  (egress: Egress<Socket>): NodeProbe =>
  async (target) =>
    (await import('./node-probe.ts')).nodeProbe(egress)(target)
