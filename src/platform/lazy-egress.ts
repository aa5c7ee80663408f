import type { Socket } from 'node:net'
import type { Egress } from '../adapters/egress.ts'

/**
 * Calls other machines by Node: public ones, and those in `privateNetworks` (CIDR). The code for it is loaded with the
 * first call.
 */
export function lazyEgress(privateNetworks: readonly string[]): Egress<Socket> {
  let loaded: Egress<Socket> | null = null
  const egress = async () => {
    const [{ egressRule }, { nodeEgress }] = await Promise.all([
      import('../adapters/egress.ts'),
      import('./node-egress.ts'),
    ])
    return (loaded ??= nodeEgress(egressRule(privateNetworks)))
  }
  return {
    fetch: async (...input) => (await egress()).fetch(...input),
    connect: async (...input) => (await egress()).connect(...input),
    resolve: async (...input) => (await egress()).resolve(...input),
  }
}
