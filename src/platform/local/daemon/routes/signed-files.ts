import { posix } from 'node:path'
import { Hono, type Context, type MiddlewareHandler } from 'hono'
import { openBackup } from '../backups.ts'
import type { Daemon } from '../daemon.ts'
import { refuseDenied } from '../file-denylist.ts'
import { answerFileError, FileError, ignoreMissing } from '../file-errors.ts'
import type { GameServer } from '../game-server.ts'
import { clientAddress, errorAnswer, type DaemonEnv } from '../http-context.ts'
import { boundaryOf } from '../multipart-parts.ts'
import { openFile, placeFile, volumeOf, type OpenFile } from '../server-files.ts'
import { cleanPath } from '../server-paths.ts'
import { hasScope, verifyToken, type TokenClaims } from '../token.ts'
import { receiveFiles } from '../uploads.ts'
import { attachment, streamFile } from './files.ts'

const mebibyte = 1024 * 1024

/** What browsers do with an address that the panel signed. Wings: GET /download/file, GET /download/backup, POST /upload/file */
export function signedFileRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  app.onError(answerFileError(daemon))
  const booted: MiddlewareHandler<DaemonEnv> = async (c, next) =>
    daemon.booted ? next() : errorAnswer(c, 503, 'The daemon is still starting.')
  app.get('/download/file', booted, (c) => download(daemon, c))
  app.get('/download/backup', booted, (c) => downloadBackup(daemon, c))
  app.post('/upload/file', booted, (c) => upload(daemon, c))
  return app
}

/**
 * Whom a token admits where, once. Throws for a bad or expired one, which is answered with 500; refuses with 404
 * one that was used, is revoked or is meant for something else, and a server that is not here.
 */
function admit(daemon: Daemon, token: string, scope: string): { server: GameServer; claims: TokenClaims } {
  const { profile } = daemon.settings
  const claims = verifyToken(token, daemon.credentials.inbound.token)
  const server = daemon.servers.get(claims.server_uuid ?? '')
  const isRevoked = server && profile !== '1.11' && daemon.denylist.isDenied(claims, server.uuid)
  const isNameless = profile === 'pelican' && claims.user_uuid === undefined
  if (!server || isRevoked || isNameless || !daemon.oneTimeTokens.take(claims.unique_id ?? ''))
    throw unknown()
  if (!hasScope(claims, scope, profile)) throw unknown()
  return { server, claims }
}

function unknown(): FileError {
  return new FileError(404, 'There is nothing at this address.')
}

async function download(daemon: Daemon, c: Context<DaemonEnv>): Promise<Response> {
  const { server, claims } = admit(daemon, c.req.query('token') ?? '', 'file-download')
  const file = await openFile(volumeOf(daemon, server), claims.file_path ?? '')
  if (!file.stats.isFile()) {
    await file.handle.close()
    if (daemon.settings.profile === '1.11') throw new Error(`${claims.file_path} is no file`)
    throw new FileError(400, 'This is no regular file.')
  }
  return sendFile(c, file)
}

/** Archives that are on this node alone. */
async function downloadBackup(daemon: Daemon, c: Context<DaemonEnv>): Promise<Response> {
  const { server, claims } = admit(daemon, c.req.query('token') ?? '', 'backup-download')
  const file = await openBackup(daemon, server, claims.backup_uuid ?? '').catch(ignoreMissing)
  if (!file) throw unknown()
  return sendFile(c, file)
}

function sendFile(c: Context<DaemonEnv>, file: OpenFile): Response {
  c.header('Content-Type', 'application/octet-stream')
  c.header('Content-Length', String(file.stats.size))
  c.header('Content-Disposition', attachment(file.name))
  return c.body(streamFile(file))
}

/** Each file is one event of the token's user. */
async function upload(daemon: Daemon, c: Context<DaemonEnv>): Promise<Response> {
  const { server, claims } = admit(daemon, c.req.query('token') ?? '', 'file-upload')
  const boundary = boundaryOf(c.req.header('Content-Type'))
  if (boundary === undefined) throw new FileError(400, 'The body is no multipart form.')
  const directory = c.req.query('directory') ?? ''
  const volume = volumeOf(daemon, server)
  const ip = clientAddress(c.env.incoming)
  const user = claims.user_uuid ?? null
  await receiveFiles(volume, c.env.incoming, boundary, uploadLimit(daemon), async (files) => {
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

/** In bytes, for each file. */
function uploadLimit(daemon: Daemon): number {
  const api = daemon.config['api'] as Record<string, unknown>
  return Number(api['upload_limit']) * mebibyte
}
