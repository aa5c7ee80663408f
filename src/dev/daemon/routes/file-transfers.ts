import { Hono, type MiddlewareHandler } from 'hono'
import type { Daemon } from '../daemon.ts'
import { handleFileErrors, FileError } from '../file-errors.ts'
import { describeFile, sniffPath } from '../file-object.ts'
import { errorResponse, requireServer, type DaemonEnv } from '../http-context.ts'
import { startPull, type PullRequest } from '../pulls.ts'
import { readBody, readBoolean, readString } from '../request-body.ts'
import { statPath, volumeOf } from '../server-files.ts'

const maxPulls = 3

/** Creates the routes of pulls. Wings: GET, POST /api/servers/{uuid}/files/pull, DELETE …/pull/{identifier} */
export function fileTransferRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  const withServer = [requireServer(daemon), requirePulls(daemon)] as const
  app.onError(handleFileErrors(daemon))
  app.get('/api/servers/:server/files/pull', ...withServer, (c) => {
    const pulls = [...c.get('server').pulls.values()]
    const downloads = pulls.map(({ identifier, progress }) => ({
      Identifier: identifier,
      Progress: progress,
    }))
    return c.json({ downloads: downloads.length > 0 ? downloads : null })
  })
  app.post('/api/servers/:server/files/pull', ...withServer, async (c) => {
    const server = c.get('server')
    const body = await readBody(c.req)
    const request = readRequest(body)
    const foreground = readBoolean(body, 'foreground')
    if (server.pulls.size >= maxPulls)
      throw new FileError(400, 'This server already has three running pulls.')
    const pull = startPull(daemon, server, request)
    if (!foreground) return c.json({ identifier: pull.identifier }, 202)
    const path = await pull.ended.catch(() => undefined)
    if (path === undefined) return errorResponse(c, 500, 'The file could not be fetched.')
    const { diskPath, stats } = await statPath(volumeOf(daemon, server), path)
    const name = path.split('/').at(-1) ?? ''
    return c.json(describeFile(name, stats, await sniffPath(diskPath, stats), daemon.settings.profile))
  })
  app.delete('/api/servers/:server/files/pull/:identifier', ...withServer, async (c) => {
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
    if (api['disable_remote_download'] === true)
      return errorResponse(c, 400, 'Remote downloads are disabled on this node.')
    return next()
  }
}

function readRequest(body: Record<string, unknown>): PullRequest {
  const [url, directory] = [
    readString(body, 'url'),
    readString(body, 'root') || readString(body, 'directory'),
  ]
  if (directory === '' || !URL.canParse(url))
    throw new FileError(400, 'The request has no directory or no valid URL.')
  const fileName = readString(body, 'file_name')
  return { url: new URL(url), directory, fileName, useHeader: readBoolean(body, 'use_header') }
}
