import { randomUUID, timingSafeEqual } from 'node:crypto'
import { Hono, type MiddlewareHandler } from 'hono'
import type { Daemon } from './daemon.ts'
import { injectFaults } from './faults.ts'
import { errorResponse, type DaemonEnv } from './http-context.ts'
import { BodyError } from './request-body.ts'
import { backupRoutes } from './routes/backups.ts'
import { consoleRoutes } from './routes/console.ts'
import { fileArchiveRoutes } from './routes/file-archives.ts'
import { fileChangeRoutes } from './routes/file-changes.ts'
import { fileTransferRoutes } from './routes/file-transfers.ts'
import { fileRoutes } from './routes/files.ts'
import { installRoutes } from './routes/install.ts'
import { powerRoutes } from './routes/power.ts'
import { revocationRoutes } from './routes/revocation.ts'
import { serverRoutes } from './routes/servers.ts'
import { sftpRoutes } from './routes/sftp.ts'
import { signedFileRoutes } from './routes/signed-files.ts'
import { systemRoutes } from './routes/system.ts'
import { incomingTransferRoutes, transferRoutes } from './routes/transfers.ts'
import { webSocketRoutes } from './routes/websocket.ts'

/** Creates the routes of one subject, with full paths. */
export type Routes = (daemon: Daemon) => Hono<DaemonEnv>

/** Routes that check a signed token themselves. */
const publicRoutes: Routes[] = [webSocketRoutes, incomingTransferRoutes, signedFileRoutes]

/** Routes behind the node's bearer token. */
const guardedRoutes: Routes[] = [
  systemRoutes,
  serverRoutes,
  powerRoutes,
  consoleRoutes,
  installRoutes,
  revocationRoutes,
  transferRoutes,
  sftpRoutes,
  fileRoutes,
  fileChangeRoutes,
  fileArchiveRoutes,
  fileTransferRoutes,
  backupRoutes,
]

/**
 * Creates the daemon's HTTP API. Public routes come first; then the token is checked, so that unknown paths answer
 * 401 without a token and 404 with one. Wings: docs/wings.md#transport.
 */
export function createHttpApp(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  app.use(identifyRequest)
  app.use(allowOrigins(daemon))
  app.use(injectFaults(daemon.faults))
  for (const routes of publicRoutes) app.route('/', routes(daemon))
  app.use(requireToken(daemon))
  app.use(requireBoot(daemon))
  for (const routes of guardedRoutes) app.route('/', routes(daemon))
  app.notFound((c) => c.text('404 page not found', 404))
  app.onError((error, c) => {
    if (error instanceof BodyError) {
      return c.text(JSON.stringify({ error: error.message, request_id: c.get('requestId') }), 400)
    }
    daemon.log(`${c.req.method} ${c.req.path}: ${error.stack ?? error.message}`)
    return c.body(null, 500)
  })
  return app
}

const identifyRequest: MiddlewareHandler<DaemonEnv> = async (c, next) => {
  c.set('requestId', randomUUID())
  c.header('X-Request-Id', c.get('requestId'))
  await next()
}

function allowOrigins(daemon: Daemon): MiddlewareHandler<DaemonEnv> {
  const { panelOrigin, allowedOrigins } = daemon.settings
  const headers =
    'Accept, Accept-Encoding, Authorization, Cache-Control, Content-Type, Content-Length, Origin, X-Real-IP, X-CSRF-Token'
  return async (c, next) => {
    const origin = c.req.header('Origin')
    const listed = allowedOrigins.find((entry) => entry === '*' || entry === origin)
    c.header('Access-Control-Allow-Origin', listed ?? panelOrigin)
    c.header('Access-Control-Allow-Credentials', 'true')
    c.header('Access-Control-Allow-Methods', 'GET, POST, PATCH, PUT, DELETE, OPTIONS')
    c.header('Access-Control-Allow-Headers', headers)
    c.header('Access-Control-Max-Age', '7200')
    if (c.req.method === 'OPTIONS') return c.body(null, 204)
    return next()
  }
}

function requireToken(daemon: Daemon): MiddlewareHandler<DaemonEnv> {
  return async (c, next) => {
    const [scheme, ...rest] = (c.req.header('Authorization') ?? '').split(' ')
    if (scheme !== 'Bearer' || rest.length === 0) {
      c.header('WWW-Authenticate', 'Bearer')
      return errorResponse(c, 401, 'The request has no bearer token.')
    }
    if (!isSameSecret(rest.join(' '), daemon.credentials.inbound.token)) {
      return errorResponse(c, 403, 'The bearer token is not valid for this node.')
    }
    return next()
  }
}

function isSameSecret(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * Answers 503 for servers until the boot is over. Wings boots first and listens later; this daemon may share a
 * process with the panel it boots from, so it listens at once.
 */
function requireBoot(daemon: Daemon): MiddlewareHandler<DaemonEnv> {
  return async (c, next) => {
    const concernsServers = /^\/api\/(servers|deauthorize-user|transfers)(\/|$)/.test(c.req.path)
    if (concernsServers && !daemon.booted) return errorResponse(c, 503, 'The daemon is still starting.')
    return next()
  }
}
