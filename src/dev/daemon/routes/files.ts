import { Readable } from 'node:stream'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono, type Context } from 'hono'
import type { Daemon } from '../daemon.ts'
import { refuseDenied } from '../file-denylist.ts'
import { handleFileErrors, FileError } from '../file-errors.ts'
import { sniffHandle } from '../file-object.ts'
import { requireServer, type DaemonEnv } from '../http-context.ts'
import { listDirectory, openFile, volumeOf, writeFile, type OpenFile } from '../server-files.ts'

/** Creates the routes that read and write files. Wings: GET /api/servers/{uuid}/files/contents, list-directory, POST …/files/write */
export function fileRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const { profile } = daemon.settings
  const app = new Hono<DaemonEnv>()
  const withServer = requireServer(daemon)
  app.onError(handleFileErrors(daemon))
  app.get('/api/servers/:server/files/contents', withServer, (c) => showContents(daemon, c))
  app.get('/api/servers/:server/files/list-directory', withServer, async (c) =>
    c.json(await listDirectory(volumeOf(daemon, c.get('server')), c.req.query('directory') ?? '', profile)),
  )
  app.post('/api/servers/:server/files/write', withServer, async (c) => {
    const path = c.req.query('file') ?? ''
    refuseDenied(c.get('server'), path)
    if (c.req.header('Transfer-Encoding') !== undefined) {
      throw new FileError(400, 'The request has no Content-Length.')
    }
    await writeFile(volumeOf(daemon, c.get('server')), path, c.env.incoming)
    return c.body(null, 204)
  })
  return app
}

/** Streams an open file with the length it had when it was opened, and closes it at the end. */
export function streamFile({ handle, stats }: OpenFile): ReadableStream {
  return Readable.toWeb(
    handle.createReadStream({ start: 0, end: Math.max(stats.size, 1) - 1 }),
  ) as ReadableStream
}

/** Builds the header that makes browsers save a file under its name. Wings writes UTF-8, which Node does not allow. */
export function attachment(name: string): string {
  const plain = JSON.stringify(name).replace(/[^ -~]/g, '_')
  const whole = encodeURIComponent(name).replace(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16)}`,
  )
  return /[^ -~]/.test(name)
    ? `attachment; filename=${plain}; filename*=UTF-8''${whole}`
    : `attachment; filename=${plain}`
}

/** Sends a file. 1.11 answers with a directory and closes the connection; only pelican refuses denied files. */
async function showContents(daemon: Daemon, c: Context<DaemonEnv>): Promise<Response> {
  const { profile } = daemon.settings
  const path = c.req.query('file') ?? ''
  if (profile === 'pelican') refuseDenied(c.get('server'), path)
  const file = await openFile(volumeOf(daemon, c.get('server')), path)
  if (!file.stats.isFile()) {
    await file.handle.close()
    if (profile === '1.11' && file.stats.isDirectory()) return truncateResponse(c)
    throw new FileError(400, 'This is not a regular file.')
  }
  const mime = await sniffHandle(file.handle)
  c.header('X-Mime-Type', mime)
  c.header('Content-Length', String(file.stats.size))
  c.header('Content-Type', mime)
  if (c.req.query('download')) {
    c.header('Content-Disposition', attachment(file.name))
    c.header('Content-Type', 'application/octet-stream')
  }
  return c.body(streamFile(file))
}

function truncateResponse(c: Context<DaemonEnv>): Response {
  c.header('X-Mime-Type', 'inode/directory')
  c.header('Content-Length', '4096')
  const { outgoing } = c.env
  outgoing.writeHead(200, Object.fromEntries(c.res.headers))
  outgoing.flushHeaders()
  outgoing.socket?.end()
  return RESPONSE_ALREADY_SENT
}
