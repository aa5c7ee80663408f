import { lookup } from 'node:dns'
import { request } from 'node:https'
import type { LookupFunction } from 'node:net'
import { FetchRefusal, privateAddress, type SendGet } from '../adapters/public-fetch.ts'
import { toResponse } from './node-daemon-fetch.ts'

/** Sends a GET by Node, over a connection of its own to an address that was checked after it was resolved. */
export const nodeSendGet: SendGet = (url, { signal, isAllowed }) =>
  new Promise((resolve, reject) => {
    const headers = { 'user-agent': 'Roost', accept: 'application/json, application/yaml, text/plain' }
    const outgoing = request(url, { agent: false, signal, headers, lookup: checkedLookup(isAllowed) })
    outgoing.once('response', (incoming) => resolve(toResponse(incoming)))
    outgoing.on('error', (error) => reject(toRefusal(error)))
    outgoing.end()
  })

/** Resolves a name when connecting, so that it cannot change after its addresses were checked. */
const checkedLookup =
  (isAllowed: (address: string) => boolean): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error || !first) return callback(error ?? new Error(`${hostname} has no address`), '')
      if (!addresses.every(({ address }) => isAllowed(address))) return callback(privateAddress(hostname), '')
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family)
    })
  }

/** Names the code of a failure: its message could contain addresses of the panel's network. */
function toRefusal(error: Error & { code?: string }): Error {
  if (error instanceof FetchRefusal) return error
  const { code } = error
  const detail = `The address cannot be reached (${code ?? 'no answer'}).`
  return code
    ? new FetchRefusal('address_unreachable_by', detail, { code })
    : new FetchRefusal('address_unreachable', detail)
}
