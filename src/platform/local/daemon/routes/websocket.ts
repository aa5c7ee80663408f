import { Hono } from 'hono'
import type { Daemon } from '../daemon.ts'
import { errorAnswer, requireServer, type DaemonEnv } from '../http-context.ts'

/** The console's address for requests that ask for no upgrade; upgrades never reach the router. */
export function webSocketRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  app.get('/api/servers/:server/ws', requireServer(daemon), (c) =>
    errorAnswer(c, 400, 'The request does not ask for a WebSocket.'),
  )
  return app
}
