import { Readable } from 'node:stream'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono, type Context } from 'hono'
import type { Daemon } from '../daemon.ts'
import { refuseDenied } from '../file-denylist.ts'
import { answerFileError, FileError } from '../file-errors.ts'
import { sniffMime } from '../file-object.ts'
import { requireServer, type DaemonEnv } from '../http-context.ts'
import { listDirectory, openFile, volumeOf, writeFile, type OpenFile } from '../server-files.ts'

/** Wings: GET /api/servers/{uuid}/files/contents, list-directory, POST …/files/write */
export function fileRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const { profile } = daemon.settings
  const app = new Hono<DaemonEnv>()
  const known = requireServer(daemon)
  app.onError(answerFileError(daemon))
  app.get('/api/servers/:server/files/contents', known, (c) => showContents(daemon, c))
  app.get('/api/servers/:server/files/list-directory', known, async (c) =>
    c.json(await listDirectory(volumeOf(daemon, c.get('server')), c.req.query('directory') ?? '', profile)),
  )
  app.post('/api/servers/:server/files/write', known, async (c) => {
    const path = c.req.query('file') ?? ''
    refuseDenied(c.get('server'), path)
    if (c.req.header('Transfer-Encoding') !== undefined) {
      throw new FileError(400, 'The request does not say how long the file is.')
    }
    await writeFile(volumeOf(daemon, c.get('server')), path, c.env.incoming)
    return c.body(null, 204)
  })
  return app
}

/** Streams an open file from its beginning, as long as it was when it was opened; closes it in the end. */
export function streamFile({ handle, stats }: OpenFile): ReadableStream {
  return Readable.toWeb(
    handle.createReadStream({ start: 0, end: Math.max(stats.size, 1) - 1 }),
  ) as ReadableStream
}

/** The header that makes browsers save a file under its name. Wings writes UTF-8 here, which Node cannot. */
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

/** 1.11 promises a directory's contents and then breaks off; pelican alone keeps denied files to itself. */
async function showContents(daemon: Daemon, c: Context<DaemonEnv>): Promise<Response> {
  const { profile } = daemon.settings
  const path = c.req.query('file') ?? ''
  if (profile === 'pelican') refuseDenied(c.get('server'), path)
  const file = await openFile(volumeOf(daemon, c.get('server')), path)
  if (!file.stats.isFile()) {
    await file.handle.close()
    if (profile === '1.11' && file.stats.isDirectory()) return breakOff(c)
    throw new FileError(400, 'This is no regular file.')
  }
  const mime = await sniffMime(file.handle)
  c.header('X-Mime-Type', mime)
  c.header('Content-Length', String(file.stats.size))
  c.header('Content-Type', mime)
  if (c.req.query('download')) {
    c.header('Content-Disposition', attachment(file.name))
    c.header('Content-Type', 'application/octet-stream')
  }
  return c.body(streamFile(file))
}

function breakOff(c: Context<DaemonEnv>): Response {
  c.header('X-Mime-Type', 'inode/directory')
  c.header('Content-Length', '4096')
  const { outgoing } = c.env
  outgoing.writeHead(200, Object.fromEntries(c.res.headers))
  outgoing.flushHeaders()
  outgoing.socket?.end()
  return RESPONSE_ALREADY_SENT
}
