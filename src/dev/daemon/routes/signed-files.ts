import { posix } from 'node:path'
import { Hono, type Context, type MiddlewareHandler } from 'hono'
import { openBackup } from '../backups.ts'
import type { Daemon } from '../daemon.ts'
import { refuseDenied } from '../file-denylist.ts'
import { handleFileErrors, FileError, ignoreMissing } from '../file-errors.ts'
import type { GameServer } from '../game-server.ts'
import { clientAddress, errorResponse, type DaemonEnv } from '../http-context.ts'
import { readBoundary } from '../multipart-parts.ts'
import { openFile, placeFile, volumeOf, type OpenFile } from '../server-files.ts'
import { cleanPath } from '../server-paths.ts'
import { hasScope, verifyToken, type TokenClaims } from '../token.ts'
import { receiveFiles } from '../uploads.ts'
import { attachment, streamFile } from './files.ts'

const mebibyte = 1024 * 1024

/** Creates the routes that browsers use with a token of the panel. Wings: GET /download/file, GET /download/backup, POST /upload/file */
export function signedFileRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  app.onError(handleFileErrors(daemon))
  const booted: MiddlewareHandler<DaemonEnv> = async (c, next) =>
    daemon.booted ? next() : errorResponse(c, 503, 'The daemon is still starting.')
  app.get('/download/file', booted, (c) => download(daemon, c))
  app.get('/download/backup', booted, (c) => downloadBackup(daemon, c))
  app.post('/upload/file', booted, (c) => upload(daemon, c))
  return app
}

/**
 * Verifies a token for one use and gives its server. Throws for an invalid or expired one, which is answered with 500.
 * Refuses with 404 a token that was used, is revoked or has another scope, and a server that is not on this node.
 */
function authorize(
  daemon: Daemon,
  token: string,
  scope: string,
): { server: GameServer; claims: TokenClaims } {
  const { profile } = daemon.settings
  const claims = verifyToken(token, daemon.credentials.inbound.token)
  const server = daemon.servers.get(claims.server_uuid ?? '')
  const isRevoked = server && profile !== '1.11' && daemon.denylist.isDenied(claims, server.uuid)
  const hasNoUser = profile === 'pelican' && claims.user_uuid === undefined
  if (!server || isRevoked || hasNoUser || !daemon.oneTimeTokens.take(claims.unique_id ?? ''))
    throw notFound()
  if (!hasScope(claims, scope, profile)) throw notFound()
  return { server, claims }
}

function notFound(): FileError {
  return new FileError(404, 'The requested resource does not exist.')
}

async function download(daemon: Daemon, c: Context<DaemonEnv>): Promise<Response> {
  const { server, claims } = authorize(daemon, c.req.query('token') ?? '', 'file-download')
  const file = await openFile(volumeOf(daemon, server), claims.file_path ?? '')
  if (!file.stats.isFile()) {
    await file.handle.close()
    if (daemon.settings.profile === '1.11') throw new Error(`${claims.file_path} is not a file`)
    throw new FileError(400, 'This is not a regular file.')
  }
  return sendFile(c, file)
}

/** Sends the archive of a backup on this node. */
async function downloadBackup(daemon: Daemon, c: Context<DaemonEnv>): Promise<Response> {
  const { server, claims } = authorize(daemon, c.req.query('token') ?? '', 'backup-download')
  const file = await openBackup(daemon, server, claims.backup_uuid ?? '').catch(ignoreMissing)
  if (!file) throw notFound()
  return sendFile(c, file)
}

function sendFile(c: Context<DaemonEnv>, file: OpenFile): Response {
  c.header('Content-Type', 'application/octet-stream')
  c.header('Content-Length', String(file.stats.size))
  c.header('Content-Disposition', attachment(file.name))
  return c.body(streamFile(file))
}

/** Receives files and records an event of the token's user for each. */
async function upload(daemon: Daemon, c: Context<DaemonEnv>): Promise<Response> {
  const { server, claims } = authorize(daemon, c.req.query('token') ?? '', 'file-upload')
  const boundary = readBoundary(c.req.header('Content-Type'))
  if (boundary === undefined) throw new FileError(400, 'The body is not a multipart form.')
  const directory = c.req.query('directory') ?? ''
  const volume = volumeOf(daemon, server)
  const ip = clientAddress(c.env.incoming)
  const user = claims.user_uuid ?? null
  await receiveFiles(volume, c.env.incoming, boundary, readUploadLimit(daemon), async (files) => {
    for (const { name, spooled } of files) {
      const path = cleanPath(directory, name)
      refuseDenied(server, path)
      await placeFile(volume, path, spooled)
      const metadata = { file: name, directory: posix.normalize(directory).replace(/(?<=.)\/$/, '') }
      daemon.activity.add({ user, server: server.uuid, event: 'server:file.uploaded', metadata, ip })
    }
  })
  return c.body(null, 200)
}

/** Reads the limit of each uploaded file, in bytes. */
function readUploadLimit(daemon: Daemon): number {
  const api = daemon.config['api'] as Record<string, unknown>
  return Number(api['upload_limit']) * mebibyte
}
