import { randomUUID, timingSafeEqual } from 'node:crypto'
import { Hono, type MiddlewareHandler } from 'hono'
import type { Daemon } from './daemon.ts'
import { injectFaults } from './faults.ts'
import { errorAnswer, type DaemonEnv } from './http-context.ts'
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

/** The routes of one area, with full paths. */
export type Area = (daemon: Daemon) => Hono<DaemonEnv>

/** Areas that check a signed token themselves. */
const publicAreas: Area[] = [webSocketRoutes, incomingTransferRoutes, signedFileRoutes]

/** Areas behind the node's bearer token. */
const guardedAreas: Area[] = [
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
 * The daemon's HTTP API. Public routes come first; then the token is checked, so that unknown paths answer 401
 * without a token and 404 with one. Wings: transport rules.
 */
export function createHttpApp(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  app.use(identifyRequest)
  app.use(allowOrigins(daemon))
  app.use(injectFaults(daemon.faults))
  for (const area of publicAreas) app.route('/', area(daemon))
  app.use(requireToken(daemon))
  app.use(requireBoot(daemon))
  for (const area of guardedAreas) app.route('/', area(daemon))
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
      return errorAnswer(c, 401, 'The request carries no bearer token.')
    }
    if (!isSameSecret(rest.join(' '), daemon.credentials.inbound.token)) {
      return errorAnswer(c, 403, 'The bearer token is not the one of this node.')
    }
    return next()
  }
}

function isSameSecret(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * Wings boots first and listens later. This daemon shares a process with the panel it boots from, so it listens
 * at once and answers 503 for everything that concerns servers until the boot is over.
 */
function requireBoot(daemon: Daemon): MiddlewareHandler<DaemonEnv> {
  return async (c, next) => {
    const concernsServers = /^\/api\/(servers|deauthorize-user|transfers)(\/|$)/.test(c.req.path)
    if (concernsServers && !daemon.booted) return errorAnswer(c, 503, 'The daemon is still starting.')
    return next()
  }
}
