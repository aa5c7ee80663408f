import { Hono } from 'hono'
import type { Daemon } from '../daemon.ts'
import { stopGame } from '../game-process.ts'
import { synchronize, type GameServer } from '../game-server.ts'
import { errorResponse, requireServer, type DaemonEnv } from '../http-context.ts'
import { installServer } from '../install.ts'
import { describeError } from '../panel-client.ts'

const stopTimeoutMs = 10_000

/** Creates the routes of installations. Wings: POST /api/servers/{uuid}/install, POST …/reinstall */
export function installRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  const withServer = requireServer(daemon)
  app.post('/api/servers/:server/install', withServer, (c) => {
    installInBackground(daemon, c.get('server'), false)
    return c.body(null, 202)
  })
  app.post('/api/servers/:server/reinstall', withServer, (c) => {
    const server = c.get('server')
    if (server.powerLock.isHeld()) return errorResponse(c, 409, 'A power action is running for this server.')
    installInBackground(daemon, server, true)
    return c.body(null, 202)
  })
  return app
}

function installInBackground(daemon: Daemon, server: GameServer, reinstall: boolean): void {
  const run = async (): Promise<void> => {
    if (reinstall) await stopGame(daemon, server, stopTimeoutMs)
    await synchronize(daemon, server)
    await installServer(daemon, server, reinstall)
  }
  run().catch((error: unknown) =>
    daemon.log(`${server.uuid}: the server was not installed: ${describeError(error)}`),
  )
}
