import { Hono, type MiddlewareHandler } from 'hono'
import type { Daemon } from '../daemon.ts'
import { answerFileError, FileError } from '../file-errors.ts'
import { describeFile, sniffPlace } from '../file-object.ts'
import { errorAnswer, requireServer, type DaemonEnv } from '../http-context.ts'
import { startPull, type PullRequest } from '../pulls.ts'
import { readBody, readBoolean, readString } from '../request-body.ts'
import { lookUp, volumeOf } from '../server-files.ts'

const mostPulls = 3

/** Wings: GET, POST /api/servers/{uuid}/files/pull, DELETE …/pull/{identifier} */
export function fileTransferRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  const known = [requireServer(daemon), requirePulls(daemon)] as const
  app.onError(answerFileError(daemon))
  app.get('/api/servers/:server/files/pull', ...known, (c) => {
    const pulls = [...c.get('server').pulls.values()]
    const downloads = pulls.map(({ identifier, progress }) => ({
      Identifier: identifier,
      Progress: progress,
    }))
    return c.json({ downloads: downloads.length > 0 ? downloads : null })
  })
  app.post('/api/servers/:server/files/pull', ...known, async (c) => {
    const server = c.get('server')
    const body = await readBody(c.req)
    const request = readRequest(body)
    const foreground = readBoolean(body, 'foreground')
    if (server.pulls.size >= mostPulls) throw new FileError(400, 'Three files are being fetched already.')
    const pull = startPull(daemon, server, request)
    if (!foreground) return c.json({ identifier: pull.identifier }, 202)
    const path = await pull.ended.catch(() => undefined)
    if (path === undefined) return errorAnswer(c, 500, 'The file could not be fetched.')
    const { place, stats } = await lookUp(volumeOf(daemon, server), path)
    const name = path.split('/').at(-1) ?? ''
    return c.json(describeFile(name, stats, await sniffPlace(place, stats), daemon.settings.profile))
  })
  app.delete('/api/servers/:server/files/pull/:identifier', ...known, async (c) => {
    const pull = c.get('server').pulls.get(c.req.param('identifier'))
    pull?.cancel()
    await pull?.ended.catch(() => undefined)
    return c.body(null, 204)
  })
  return app
}

function requirePulls(daemon: Daemon): MiddlewareHandler<DaemonEnv> {
  return async (c, next) => {
    const api = daemon.config['api'] as Record<string, unknown>
    if (api['disable_remote_download'] === true) return errorAnswer(c, 400, 'This node fetches no files.')
    return next()
  }
}

function readRequest(body: Record<string, unknown>): PullRequest {
  const [url, directory] = [
    readString(body, 'url'),
    readString(body, 'root') || readString(body, 'directory'),
  ]
  if (directory === '' || !URL.canParse(url))
    throw new FileError(400, 'The request names no folder or no address.')
  const fileName = readString(body, 'file_name')
  return { url: new URL(url), directory, fileName, useHeader: readBoolean(body, 'use_header') }
}
