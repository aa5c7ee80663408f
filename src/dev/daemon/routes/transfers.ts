import { Hono } from 'hono'
import type { Daemon } from '../daemon.ts'
import { fetchConfiguration } from '../game-server.ts'
import { errorResponse, requireServer, type DaemonEnv } from '../http-context.ts'
import { receiveServer } from '../incoming-transfer.ts'
import { readBoundary } from '../multipart-parts.ts'
import { sendServer } from '../outgoing-transfer.ts'
import { describeError } from '../panel-client.ts'
import { readBody, readString } from '../request-body.ts'
import { hasScope, verifyToken } from '../token.ts'

/** Creates the route by which other daemons send a server, with a token of the panel. Wings: POST /api/transfers */
export function incomingTransferRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  app.post('/api/transfers', async (c) => {
    const [scheme, token = ''] = (c.req.header('Authorization') ?? '').split(' ')
    if (scheme !== 'Bearer') return errorResponse(c, 401, 'The request has no bearer token.')
    const uuid = findTransferredServer(daemon, token)
    if (uuid === undefined)
      return errorResponse(c, 403, 'The token is not valid for a transfer to this node.')
    if (!daemon.booted) return errorResponse(c, 503, 'The daemon is still starting.')
    const boundary = readBoundary(c.req.header('Content-Type'))
    if (boundary === undefined) return errorResponse(c, 400, 'The body is not a multipart form.')
    try {
      const configuration = await fetchConfiguration(daemon, uuid)
      if (daemon.servers.has(uuid)) return errorResponse(c, 409, 'The server is already on this node.')
      await receiveServer(daemon, configuration, c.env.incoming, boundary)
    } catch (error) {
      return errorResponse(c, 500, `The server was not received: ${describeError(error)}`)
    }
    return c.body(null, 200)
  })
  return app
}

/** Creates the routes by which the panel starts and cancels transfers. Wings: POST, DELETE …/transfer, DELETE /api/transfers/{uuid} */
export function transferRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  const withServer = requireServer(daemon)
  app.post('/api/servers/:server/transfer', withServer, async (c) => {
    const server = c.get('server')
    const body = await readBody(c.req)
    const destination = { url: readString(body, 'url'), token: readString(body, 'token') }
    if (destination.url === '' || destination.token === '') {
      return errorResponse(c, 400, 'The request has no URL or no token.')
    }
    if (server.transfer) return errorResponse(c, 409, 'The server is already being transferred.')
    if (server.installation) return errorResponse(c, 409, 'The server is being installed.')
    if (!(await sendServer(daemon, server, destination))) {
      return errorResponse(c, 500, 'The server could not be stopped.')
    }
    return c.body(null, 202)
  })
  app.delete('/api/servers/:server/transfer', withServer, (c) => {
    const { transfer } = c.get('server')
    if (transfer?.direction !== 'outgoing')
      return errorResponse(c, 409, 'The server is not being transferred.')
    transfer.abort()
    return c.body(null, 202)
  })
  app.delete('/api/transfers/:server', withServer, (c) => {
    if (daemon.settings.profile === '1.11') throw new Error('Wings 1.11 fails here')
    const { transfer } = c.get('server')
    if (transfer?.direction !== 'incoming') return errorResponse(c, 409, 'The server is not being received.')
    transfer.abort()
    return c.body(null, 202)
  })
  return app
}

/** Finds the UUID of the server that a token allows to be received. */
function findTransferredServer(daemon: Daemon, token: string): string | undefined {
  try {
    const claims = verifyToken(token, daemon.credentials.inbound.token)
    return hasScope(claims, 'transfer', daemon.settings.profile) ? claims.sub : undefined
  } catch {
    return undefined
  }
}
