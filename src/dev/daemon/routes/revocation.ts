import { Hono } from 'hono'
import type { Daemon } from '../daemon.ts'
import { requireServer, type DaemonEnv } from '../http-context.ts'
import { readBody, readString, readStrings } from '../request-body.ts'

/** Creates the routes that revoke tokens. Wings: POST /api/servers/{uuid}/ws/deny, POST /api/deauthorize-user (unknown to 1.11) */
export function revocationRoutes(daemon: Daemon): Hono<DaemonEnv> {
  const app = new Hono<DaemonEnv>()
  app.post('/api/servers/:server/ws/deny', requireServer(daemon), async (c) => {
    for (const jti of readStrings(await readBody(c.req), 'jtis')) daemon.denylist.denyToken(jti)
    return c.body(null, 204)
  })
  if (daemon.settings.profile === '1.11') return app
  app.post('/api/deauthorize-user', async (c) => {
    const body = await readBody(c.req)
    deauthorize(daemon, readString(body, 'user'), readStrings(body, 'servers'))
    return c.body(null, 204)
  })
  return app
}

/** Revokes a user's tokens for servers and closes their sockets. Without a list, closes the sockets of all servers and revokes no token. 1.12 closes other users' sockets too. */
function deauthorize(daemon: Daemon, user: string, uuids: string[]): void {
  for (const uuid of uuids.length > 0 ? uuids : daemon.servers.keys()) {
    if (uuids.length > 0) daemon.denylist.denyUser(user, uuid)
    for (const socket of daemon.servers.get(uuid)?.sockets ?? []) {
      if (daemon.settings.profile === '1.12' || socket.user() === user) socket.close()
    }
  }
}
