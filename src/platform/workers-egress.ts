import { connect, type Socket } from 'node:net'
import { type Egress, egressRule, requireCallable } from '../adapters/egress.ts'
import { whenConnected } from './open-socket.ts'

/**
 * Calls other machines from a Worker: public ones, and those in `privateNetworks` (CIDR) where something leads there. A
 * Worker cannot resolve names itself. It checks hosts that are written as addresses and known names, and Cloudflare's
 * network connects to public addresses only.
 */
export function workersEgress(privateNetworks: readonly string[]): Egress<Socket> {
  const mayCall = egressRule(privateNetworks)
  return {
    fetch: async (url, init) => {
      requireCallable(new URL(url).hostname, mayCall)
      return fetch(url, { ...init, redirect: 'manual' })
    },
    connect: async ({ host, port }, signal) => {
      requireCallable(host, mayCall)
      return whenConnected(connect(port, host), signal)
    },
    resolve: async (host) => {
      requireCallable(host, mayCall)
      return [host]
    },
  }
}
