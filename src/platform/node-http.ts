import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'
import { canonicalAddress } from '../ip-addresses.ts'
import { withTimeout } from '../with-timeout.ts'
import { acceptAt, type Accepting } from './shared-port.ts'

/** Milliseconds for a whole request: the lifetime of links for uploads to the embedded object store. */
const requestTimeoutMs = 3_600_000

/** Milliseconds after which Node closes an idle connection of a caller. */
const keepAliveTimeoutMs = 5_000
/** The same for proxies, longer than Caddy reuses it (120 s): a request on a connection that is just closed is lost, and a proxy sends those that change something only once. */
const proxyKeepAliveTimeoutMs = 130_000

/** The variables of a port; behind proxies idle connections are kept for longer. */
type ListenEnv = { HOST?: string | undefined; PORT: number; TRUSTED_PROXIES?: number }

type Fetch = (request: Request, bindings: unknown) => Response | Promise<Response>

/**
 * `close` accepts no more connections and resolves once all requests are answered; it cuts off those that are left at
 * `deadline` (milliseconds since 1970). `drain` accepts no more connections either, but leaves the others to their callers:
 * each closes with its next answer, or is left when it has been idle for as long as callers without a proxy were told.
 */
export type Listener = {
  port: number
  close: (deadline?: number) => Promise<void>
  drain: () => Promise<void>
}

/** Ports that are tried until one is free on both loopback addresses. */
const maxPortAttempts = 20
/** Errors where this machine has no such address. */
const missingAddressCodes = ['EADDRNOTAVAIL', 'EAFNOSUPPORT']

/**
 * Opens a port that answers requests with `fetch`; port 0 is any free one. Without `HOST` it is open at 127.0.0.1 and,
 * where it exists, at ::1, since `localhost` is either.
 */
export async function listenHttp(
  { HOST, PORT, TRUSTED_PROXIES = 0 }: ListenEnv,
  fetch: Fetch,
): Promise<Listener> {
  const keepAliveTimeout = TRUSTED_PROXIES > 0 ? proxyKeepAliveTimeoutMs : keepAliveTimeoutMs
  const listen = (hostname: string, port: number) => listenAt({ hostname, port, keepAliveTimeout }, fetch)
  if (HOST !== undefined) return listen(HOST, PORT)
  for (let attempt = 1; ; attempt += 1) {
    const first = await listen('127.0.0.1', PORT)
    try {
      const second = await listen('::1', first.port)
      const both = [first, second]
      return {
        port: first.port,
        close: async (deadline) => void (await Promise.all(both.map((each) => each.close(deadline)))),
        drain: async () => void (await Promise.all(both.map((each) => each.drain()))),
      }
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (missingAddressCodes.includes(code)) return first
      await first.close(Date.now())
      if (code !== 'EADDRINUSE' || PORT !== 0 || attempt >= maxPortAttempts) throw error
    }
  }
}

async function listenAt(
  { hostname, port, keepAliveTimeout }: { hostname: string; port: number; keepAliveTimeout: number },
  fetch: Fetch,
): Promise<Listener> {
  const serverOptions = { requestTimeout: requestTimeoutMs, keepAliveTimeout }
  const server = createAdaptorServer({ fetch, hostname, serverOptions }) as Server
  server.on('clientError', refuseUnreadable)
  // Connections that are kept alive would hold a closing server open.
  let isDraining = false
  server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
    if (isDraining) response.shouldKeepAlive = false
    response.once('close', () => {
      if (!accepting.isOpen() && !isDraining) setImmediate(() => server.closeIdleConnections())
    })
  })
  const accepting = await acceptAt(server, { host: hostname, port })
  return {
    port: accepting.port,
    close: (deadline) => {
      isDraining = false
      return closeGracefully(server, accepting, deadline)
    },
    drain: async () => {
      isDraining = true
      await withTimeout(accepting.stop(), keepAliveTimeoutMs + idleMarginMs, null)
    },
  }
}

/** What no request could be read from, by the code of Node's error; every other fault is a 400. */
const unreadableRequests: Record<string, { status: number; code: string; detail: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'RequestHeaderFieldsTooLargeHttpException',
    detail: 'The headers and the address of a request must not be larger than 16 KiB together.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    code: 'RequestTimeoutHttpException',
    detail: 'The request was sent too slowly.',
  },
}
const malformedRequest = {
  status: 400,
  code: 'BadRequestHttpException',
  detail: 'The request is not valid HTTP.',
}

/** Answers what is no readable request in the error shape of the panel, and closes the connection. */
function refuseUnreadable(
  error: NodeJS.ErrnoException,
  socket: Socket & { _httpMessage?: ServerResponse },
): void {
  // Of a connection that is closed, or on which an answer has begun, nothing more can be made.
  if (!socket.writable || error.code === 'ECONNRESET' || socket._httpMessage?.headersSent) {
    socket.destroy()
    return
  }
  const { status, code, detail } = unreadableRequests[error.code ?? ''] ?? malformedRequest
  const body = JSON.stringify({ errors: [{ code, status: String(status), detail }] })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store, private',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Milliseconds after which a connection that was idle for `keepAliveTimeoutMs` is closed for sure. */
const idleMarginMs = 2_000

async function closeGracefully(server: Server, accepting: Accepting, deadline: number | undefined) {
  const forceCloseTimer =
    deadline === undefined ? undefined : setTimeout(() => server.closeAllConnections(), deadline - Date.now())
  const stopped = accepting.stop()
  // Closes idle connections.
  server.close()
  await stopped
  clearTimeout(forceCloseTimer)
}

/** Reads the body of the request from its socket; what is not read is discarded. */
export function incomingBody(c: Context<{ Bindings: HttpBindings }>): Request['body'] {
  const { incoming } = c.env
  const { headers } = incoming
  if (!headers['content-length'] && !headers['transfer-encoding']) return null
  const chunks = (incoming as IncomingMessage).iterator({ destroyOnReturn: false })
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value as Uint8Array<ArrayBuffer>)
    },
    cancel() {
      // Not awaited: the client may never send the rest.
      void chunks.return?.()
      incoming.resume()
    },
  })
}

/** Returns what writes headers in front of the answer; null for a request that came from no socket. */
export const outgoingHeaders = (c: Context<{ Bindings: HttpBindings }>): ServerResponse | null =>
  (c.env?.outgoing as ServerResponse | undefined) ?? null

/** Calls the listener once the answer is sent; never for a request that came from no socket, or whose caller is gone. */
export const whenSent = (c: Context<{ Bindings: HttpBindings }>, listener: () => void) =>
  void (c.env?.outgoing as ServerResponse | undefined)?.once('finish', listener)

/** Addresses in canonical form: most requests come from the same few. */
const canonicalAddresses = new Map<string, string>()
const maxCanonicalAddresses = 1000

/** Returns the address of the socket; behind trusted proxies, the entry that the outermost of them added. */
export function socketAddress(c: Context<{ Bindings: HttpBindings }>, trustedProxies: number): string {
  const address = forwardedAddress(c, trustedProxies) || (c.env?.incoming?.socket.remoteAddress ?? '')
  const known = canonicalAddresses.get(address)
  if (known !== undefined) return known
  const canonical = canonicalAddress(address) ?? '0.0.0.0'
  if (canonicalAddresses.size >= maxCanonicalAddresses) canonicalAddresses.clear()
  canonicalAddresses.set(address, canonical)
  return canonical
}

function forwardedAddress(c: Context, trustedProxies: number): string | undefined {
  if (trustedProxies === 0) return undefined
  return c.req.header('x-forwarded-for')?.split(',').at(-trustedProxies)?.trim()
}
