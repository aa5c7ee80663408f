import { Hono } from 'hono'
import type { Daemon } from '../daemon.ts'
import { stopGame } from '../game-process.ts'
import { synchronize, type GameServer } from '../game-server.ts'
import { errorAnswer, requireServer, type DaemonEnv } from '../http-context.ts'
import { installServer } from '../install.ts'
import { describe } from '../panel-client.ts'

const stopWait = 10_000

/** Wings: POST /api/servers/{uuid}/install, POST …/reinstall */
export function installRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  const known = requireServer(daemon)
  app.post('/api/servers/:server/install', known, (c) => {
    installInBackground(daemon, c.get('server'), false)
    return c.body(null, 202)
  })
  app.post('/api/servers/:server/reinstall', known, (c) => {
    const server = c.get('server')
    if (server.powerLock.isHeld()) return errorAnswer(c, 409, 'A power action is under way for this server.')
    installInBackground(daemon, server, true)
    return c.body(null, 202)
  })
  return app
}

function installInBackground(daemon: Daemon, server: GameServer, reinstall: boolean): void {
  const run = async (): Promise<void> => {
    if (reinstall) await stopGame(daemon, server, stopWait)
    await synchronize(daemon, server)
    await installServer(daemon, server, reinstall)
  }
  run().catch((error: unknown) => daemon.log(`${server.uuid}: not installed: ${describe(error)}`))
}
