import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import type { DaemonFetch } from '../adapters/daemon-http.ts'
import { type EgressRule, requireCallable } from '../adapters/egress.ts'
import { checkedLookup, type ResolveName } from './node-egress.ts'

/** Milliseconds for opening a connection: a machine that is off must not hold a request longer. */
const connectTimeoutMs = 5_000
/** Milliseconds for which an idle connection is kept; daemons close theirs later. */
const idleTimeoutMs = 4_000

const agentOptions = { keepAlive: true, scheduling: 'lifo' as const, timeout: idleTimeoutMs }

/**
 * Sends requests over connections that are kept open, as `fetch` does without following redirects, at a third of its
 * processor time, to addresses that `mayCall` allows. Rejects with the reason of the signal once it has fired, also while
 * the body is read.
 */
export function nodeDaemonFetch(mayCall: EgressRule, resolveName?: ResolveName): DaemonFetch {
  const connections = {
    lookup: checkedLookup(mayCall, resolveName),
    http: new HttpAgent(agentOptions),
    https: new HttpsAgent(agentOptions),
  }
  return async (url, init) => {
    const address = new URL(url)
    const host = address.hostname.replace(/^\[(.*)\]$/, '$1')
    // Names are checked when they are resolved.
    if (isIP(host) !== 0 && !mayCall(host)) requireCallable(host, mayCall)
    return send(address, init, connections)
  }
}

const send = (
  url: URL,
  { method, headers, body, signal }: Parameters<DaemonFetch>[1],
  { lookup, http, https }: { lookup: LookupFunction; http: HttpAgent; https: HttpsAgent },
): Promise<Response> =>
  new Promise((resolve, reject) => {
    const isSecure = url.protocol === 'https:'
    const outgoing = (isSecure ? requestHttps : requestHttp)(url, {
      method,
      lookup,
      headers: { 'user-agent': 'node', ...headers },
      agent: isSecure ? https : http,
    })
    let answer: IncomingMessage | null = null
    const abort = () => (answer ?? outgoing).destroy(signal.reason as Error)
    signal.addEventListener('abort', abort)
    outgoing.once('close', () => signal.removeEventListener('abort', abort))
    outgoing.once('socket', limitConnectTime)
    outgoing.once('response', (incoming) => {
      answer = incoming
      resolve(toResponse(incoming))
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })

function limitConnectTime(socket: Socket): void {
  if (!socket.connecting) return
  const timer = setTimeout(() => socket.destroy(new Error('The connection took too long.')), connectTimeoutMs)
  const clear = () => clearTimeout(timer)
  socket.once('connect', clear)
  socket.once('close', clear)
}

/** Statuses without a body. */
const bodylessStatuses = [204, 205, 304]

/** Returns an answer of Node as a `Response`, whose body is read as it arrives. */
export function toResponse(incoming: IncomingMessage): Response {
  const { statusCode: status = 0, headers } = incoming
  const entries = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  const hasBody = headers['content-length'] !== '0' && !bodylessStatuses.includes(status)
  // Read to its end, the connection can be used again.
  if (!hasBody) incoming.resume()
  const body = hasBody ? (Readable.toWeb(incoming) as ReadableStream<Uint8Array<ArrayBuffer>>) : null
  return new Response(body, { status, headers: entries })
}
