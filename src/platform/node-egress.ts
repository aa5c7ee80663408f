import { lookup as lookupAddresses, type LookupAddress, type LookupAllOptions } from 'node:dns'
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import {
  type Egress,
  EgressError,
  type EgressRule,
  isNeverCalled,
  requireCallable,
} from '../adapters/egress.ts'
import { dispatcherClass } from './connect-timeout.ts'
import { whenConnected } from './open-socket.ts'

/** Resolves a name to all of its addresses, as `dns.lookup` does. */
export type ResolveName = (
  name: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/** Milliseconds for opening a connection: a machine that is off must not hold a request longer. */
const connectTimeoutMs = 5_000

/** Returns a lookup for connections, which gives them the addresses that may be called, or an `EgressError`. */
export const checkedLookup =
  (mayCall: EgressRule, resolve: ResolveName = lookupAddresses): LookupFunction =>
  (name, options, done) =>
    resolve(name, { ...options, all: true }, (error, addresses) => {
      const callable = addresses?.filter(({ address }) => mayCall(address)) ?? []
      const [first] = callable
      if (!first) return done(error ?? refusalOf(name, addresses), '')
      return options.all ? done(null, callable) : done(null, first.address, first.family)
    })

const refusalOf = (name: string, addresses: LookupAddress[]): Error =>
  addresses.length === 0
    ? new Error(`${name} has no address.`)
    : new EgressError(
        name,
        addresses.every(({ address }) => isNeverCalled(address)),
      )

/** Calls other machines by Node: each connection resolves its name once, and goes to an address that was checked. */
export function nodeEgress(mayCall: EgressRule, resolve: ResolveName = lookupAddresses): Egress<Socket> {
  const lookup = checkedLookup(mayCall, resolve)
  let dispatcher: object | null = null
  return {
    fetch: async (url, init) => {
      requireCallable(new URL(url).hostname, mayCall)
      dispatcher ??= new (await dispatcherClass())({ connect: { timeout: connectTimeoutMs, lookup } })
      return fetch(url, { ...init, redirect: 'manual', dispatcher } as RequestInit)
    },
    connect: async (address, signal) => {
      const host = address.host.replace(/^\[(.*)\]$/, '$1')
      requireCallable(host, mayCall)
      return whenConnected(connect({ host, port: address.port, lookup }), signal)
    },
    resolve: async (written) => {
      const host = written.replace(/^\[(.*)\]$/, '$1')
      requireCallable(host, mayCall)
      return isIP(host) === 0 ? resolveAll(host, lookup) : [host]
    },
  }
}

const resolveAll = (host: string, lookup: LookupFunction) =>
  new Promise<string[]>((done, reject) =>
    lookup(host, { all: true }, (error, found) => {
      if (error) return reject(error)
      const addresses = typeof found === 'string' ? [found] : found.map(({ address }) => address)
      return done(addresses.toSorted((a, b) => isIP(a) - isIP(b)))
    }),
  )
