import { Hono } from 'hono'
import type { Daemon } from '../daemon.ts'
import { errorResponse, requireServer, type DaemonEnv } from '../http-context.ts'

/** Creates the route of the console for requests without an upgrade; upgrades do not reach the router. */
export function webSocketRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  app.get('/api/servers/:server/ws', requireServer(daemon), (c) =>
    errorResponse(c, 400, 'The request is not a WebSocket upgrade.'),
  )
  return app
}
