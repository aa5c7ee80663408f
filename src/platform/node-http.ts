import { type HttpBindings, serve as listen } from '@hono/node-server'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Context } from 'hono'
import { canonicalAddress } from '../addresses.ts'

/** Milliseconds for a whole request: as long as links live by which archives are sent to the embedded object store. */
const requestTimeout = 3_600_000

type Fetch = (request: Request, bindings: unknown) => Response | Promise<Response>

/**
 * A port of this machine that hands its requests to `fetch`, once it is open. Port 0 is any free one. `close`
 * takes no connection any more and ends when all requests are answered,
 * or cuts off those that are left `until` then (milliseconds since 1970; without it, never).
 */
export function listenOn(
  address: { HOST: string; PORT: number },
  fetch: Fetch,
): Promise<{ port: number; close: (until?: number) => Promise<void> }> {
  return new Promise((resolve, reject) => {
    const options = { fetch, hostname: address.HOST, port: address.PORT, serverOptions: { requestTimeout } }
    const server = listen(options, ({ port }) =>
      resolve({ port, close: (until) => closeOrderly(server, until) }),
    ) as Server
    server.on('error', reject)
    server.on('request', (_request: IncomingMessage, answer: ServerResponse) => {
      answer.once('close', () => setImmediate(() => letGo(server)))
    })
  })
}

/** A connection that is kept alive would hold a server open that takes no further ones. */
function letGo(server: Server): void {
  if (!server.listening) server.closeIdleConnections()
}

function closeOrderly(server: Server, until: number | undefined): Promise<void> {
  const cut =
    until === undefined ? undefined : setTimeout(() => server.closeAllConnections(), until - Date.now())
  return new Promise((done) => {
    server.close(() => {
      clearTimeout(cut)
      done()
    })
  })
}

/** The socket's address; behind trusted proxies, the entry which the outermost of them added. */
export function socketAddress(c: Context<{ Bindings: HttpBindings }>, trustedProxies: number): string {
  const forwarded = (c.req.header('x-forwarded-for') ?? '').split(',').map((part) => part.trim())
  const claimed = trustedProxies > 0 ? forwarded.at(-trustedProxies) : undefined
  return canonicalAddress(claimed || (c.env?.incoming?.socket.remoteAddress ?? '')) ?? '0.0.0.0'
}
