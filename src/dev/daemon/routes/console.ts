import { Hono } from 'hono'
import type { Daemon } from '../daemon.ts'
import { sendCommand } from '../game-process.ts'
import { errorResponse, requireServer, type DaemonEnv } from '../http-context.ts'
import { readBody, readStrings } from '../request-body.ts'

const maxLines = 100

/** Creates the routes of the console. Wings: GET /api/servers/{uuid}/logs, POST …/commands */
export function consoleRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  const withServer = requireServer(daemon)
  app.get('/api/servers/:server/logs', withServer, (c) => {
    const requested = Number.parseInt(c.req.query('size') ?? '', 10)
    const size = Number.isNaN(requested) ? maxLines : Math.min(Math.max(requested, 1), maxLines)
    const lines = c.get('server').lines.slice(-size)
    return c.json({ data: lines.length > 0 ? lines : null })
  })
  app.post('/api/servers/:server/commands', withServer, async (c) => {
    const server = c.get('server')
    if (!server.process) return errorResponse(c, 502, 'The server is not running.')
    const commands = readStrings(await readBody(c.req), 'commands')
    for (const command of commands) sendCommand(daemon, server, command)
    return c.body(null, 204)
  })
  return app
}
