import { Hono } from 'hono'
import { compress, decompress } from '../archives.ts'
import type { Daemon } from '../daemon.ts'
import { createFileDenylist } from '../file-denylist.ts'
import { handleFileErrors, FileError } from '../file-errors.ts'
import { requireServer, type DaemonEnv } from '../http-context.ts'
import { readBody, readString, readStrings } from '../request-body.ts'
import { volumeOf } from '../server-files.ts'

/** Creates the routes of archives; both go on when the client disconnects. Wings: POST /api/servers/{uuid}/files/compress, decompress */
export function fileArchiveRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  const withServer = requireServer(daemon)
  app.onError(handleFileErrors(daemon))
  app.post('/api/servers/:server/files/compress', withServer, async (c) => {
    const body = await readBody(c.req)
    const [root, names] = [readString(body, 'root'), readStrings(body, 'files')]
    if (names.length === 0) throw new FileError(422, 'The request names no files.')
    return c.json(await compress(volumeOf(daemon, c.get('server')), root, names, daemon.settings.profile))
  })
  app.post('/api/servers/:server/files/decompress', withServer, async (c) => {
    const body = await readBody(c.req)
    const [root, file] = [readString(body, 'root'), readString(body, 'file')]
    await decompress(volumeOf(daemon, c.get('server')), root, file, createFileDenylist(c.get('server')))
    return c.body(null, 204)
  })
  return app
}
