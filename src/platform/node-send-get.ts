import { request } from 'node:https'
import { EgressError } from '../adapters/egress.ts'
import { FetchRefusal, privateAddress, type SendGet } from '../adapters/public-fetch.ts'
import { toResponse } from './node-daemon-fetch.ts'
import { checkedLookup } from './node-egress.ts'

/** Sends a GET by Node, over a connection of its own to an address that was checked after it was resolved. */
export const nodeSendGet: SendGet = (url, { signal, isAllowed }) =>
  new Promise((resolve, reject) => {
    const headers = { 'user-agent': 'Roost', accept: 'application/json, application/yaml, text/plain' }
    const outgoing = request(url, { agent: false, signal, headers, lookup: checkedLookup(isAllowed) })
    outgoing.once('response', (incoming) => resolve(toResponse(incoming)))
    outgoing.on('error', (error) => reject(toRefusal(error, url.hostname)))
    outgoing.end()
  })

/** Names the code of a failure: its message could contain addresses of the panel's network. */
function toRefusal(error: Error & { code?: string }, host: string): Error {
  if (error instanceof EgressError) return privateAddress(host)
  const { code } = error
  const detail = `The address cannot be reached (${code ?? 'no answer'}).`
  return code
    ? new FetchRefusal('address_unreachable_by', detail, { code })
    : new FetchRefusal('address_unreachable', detail)
}
