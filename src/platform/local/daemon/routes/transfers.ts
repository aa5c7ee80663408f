import { Hono } from 'hono'
import type { Daemon } from '../daemon.ts'
import { fetchConfiguration } from '../game-server.ts'
import { errorAnswer, requireServer, type DaemonEnv } from '../http-context.ts'
import { receiveServer } from '../incoming-transfer.ts'
import { boundaryOf } from '../multipart-parts.ts'
import { sendServer } from '../outgoing-transfer.ts'
import { describe } from '../panel-client.ts'
import { readBody, readString } from '../request-body.ts'
import { hasScope, verifyToken } from '../token.ts'

/** The door for other daemons, who show a token of the panel. Wings: POST /api/transfers */
export function incomingTransferRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  app.post('/api/transfers', async (c) => {
    const [scheme, token = ''] = (c.req.header('Authorization') ?? '').split(' ')
    if (scheme !== 'Bearer') return errorAnswer(c, 401, 'The request carries no bearer token.')
    const uuid = admittedServer(daemon, token)
    if (uuid === undefined) return errorAnswer(c, 403, 'The token does not admit a server to this node.')
    if (!daemon.booted) return errorAnswer(c, 503, 'The daemon is still starting.')
    const boundary = boundaryOf(c.req.header('Content-Type'))
    if (boundary === undefined) return errorAnswer(c, 400, 'The body is no multipart form.')
    try {
      const configuration = await fetchConfiguration(daemon, uuid)
      if (daemon.servers.has(uuid)) return errorAnswer(c, 409, 'The server is on this node already.')
      await receiveServer(daemon, configuration, c.env.incoming, boundary)
    } catch (error) {
      return errorAnswer(c, 500, `The server was not received: ${describe(error)}`)
    }
    return c.body(null, 200)
  })
  return app
}

/** What the panel orders of the source, and of the target. Wings: POST, DELETE …/transfer, DELETE /api/transfers/{uuid} */
export function transferRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  const known = requireServer(daemon)
  app.post('/api/servers/:server/transfer', known, async (c) => {
    const server = c.get('server')
    const body = await readBody(c.req)
    const destination = { url: readString(body, 'url'), token: readString(body, 'token') }
    if (destination.url === '' || destination.token === '') {
      return errorAnswer(c, 400, 'The request names no address or no token.')
    }
    if (server.transfer) return errorAnswer(c, 409, 'The server is being transferred already.')
    if (server.installation) return errorAnswer(c, 409, 'The server is being installed.')
    if (!(await sendServer(daemon, server, destination))) {
      return errorAnswer(c, 500, 'The server could not be stopped.')
    }
    return c.body(null, 202)
  })
  app.delete('/api/servers/:server/transfer', known, (c) => {
    const { transfer } = c.get('server')
    if (transfer?.direction !== 'outgoing') return errorAnswer(c, 409, 'The server is not being transferred.')
    transfer.abort()
    return c.body(null, 202)
  })
  app.delete('/api/transfers/:server', known, (c) => {
    if (daemon.settings.profile === '1.11') throw new Error('this release fails here')
    const { transfer } = c.get('server')
    if (transfer?.direction !== 'incoming') return errorAnswer(c, 409, 'The server is not being received.')
    transfer.abort()
    return c.body(null, 202)
  })
  return app
}

/** The server which a token lets in. */
function admittedServer(daemon: Daemon, token: string): string | undefined {
  try {
    const claims = verifyToken(token, daemon.credentials.inbound.token)
    return hasScope(claims, 'transfer', daemon.settings.profile) ? claims.sub : undefined
  } catch {
    return undefined
  }
}
