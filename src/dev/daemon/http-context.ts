import type { IncomingMessage } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import type { Context, MiddlewareHandler } from 'hono'
import type { Daemon } from './daemon.ts'
import type { GameServer } from './game-server.ts'

export type DaemonEnv = {
  Bindings: HttpBindings
  Variables: { requestId: string; server: GameServer }
}

/** Answers with an error as Wings does: `{error, request_id}`. */
export function errorResponse(
  c: Context<DaemonEnv>,
  status: 400 | 401 | 403 | 404 | 409 | 422 | 500 | 502 | 503,
  text: string,
): Response {
  return c.json({ error: text, request_id: c.get('requestId') }, status)
}

/** Gives the IP address of the client. */
export function clientAddress(request: IncomingMessage): string {
  return (request.socket.remoteAddress ?? '127.0.0.1').replace(/^::ffff:/, '')
}

/** Creates the middleware that puts the server named by `:server` into the context. Refuses with 404. */
export function requireServer(daemon: Daemon): MiddlewareHandler<DaemonEnv> {
  return async (c, next) => {
    const server = daemon.servers.get(c.req.param('server') ?? '')
    if (!server) return errorResponse(c, 404, 'The requested server does not exist on this node.')
    c.set('server', server)
    return next()
  }
}
