import { Hono } from 'hono'
import type { Daemon } from '../daemon.ts'
import { errorAnswer, requireServer, type DaemonEnv } from '../http-context.ts'
import { isPowerAction, runPowerActionInBackground } from '../power.ts'
import { readBody, readInteger, readString } from '../request-body.ts'

const longestWait = 300
const usualWait = 30

/** Wings: POST /api/servers/{uuid}/power */
export function powerRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  app.post('/api/servers/:server/power', requireServer(daemon), async (c) => {
    const server = c.get('server')
    const body = await readBody(c.req)
    const action = readString(body, 'action')
    const seconds = readInteger(body, 'wait_seconds')
    if (!isPowerAction(action)) return errorAnswer(c, 422, 'The power action is not known.')
    if (server.suspended && (action === 'start' || action === 'restart')) {
      return errorAnswer(c, 400, 'A suspended server cannot be started.')
    }
    const wait = seconds < 0 || seconds > longestWait ? usualWait : seconds
    runPowerActionInBackground(daemon, server, action, wait * 1_000)
    return c.body(null, 202)
  })
  return app
}
