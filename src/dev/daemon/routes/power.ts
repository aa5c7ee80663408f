import { Hono } from 'hono'
import type { Daemon } from '../daemon.ts'
import { errorResponse, requireServer, type DaemonEnv } from '../http-context.ts'
import { isPowerAction, runPowerActionInBackground } from '../power.ts'
import { readBody, readInteger, readString } from '../request-body.ts'

const maxWaitSeconds = 300
const defaultWaitSeconds = 30

/** Creates the routes of power actions. Wings: POST /api/servers/{uuid}/power */
export function powerRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  app.post('/api/servers/:server/power', requireServer(daemon), async (c) => {
    const server = c.get('server')
    const body = await readBody(c.req)
    const action = readString(body, 'action')
    const seconds = readInteger(body, 'wait_seconds')
    if (!isPowerAction(action)) return errorResponse(c, 422, 'The power action is not supported.')
    if (server.suspended && (action === 'start' || action === 'restart')) {
      return errorResponse(c, 400, 'A suspended server cannot be started.')
    }
    const waitSeconds = seconds < 0 || seconds > maxWaitSeconds ? defaultWaitSeconds : seconds
    runPowerActionInBackground(daemon, server, action, waitSeconds * 1_000)
    return c.body(null, 202)
  })
  return app
}
