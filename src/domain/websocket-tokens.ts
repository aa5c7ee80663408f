import { createHash } from 'node:crypto'
import { signDaemonToken } from '../adapters/daemon-token.ts'
import type { User } from '../db/tables/users.ts'
import { unauthenticated } from '../errors.ts'
import type { Panel } from '../panel.ts'
import type { ReachedServer } from './credentials.ts'
import { daemonSecret, daemonUrl } from './daemon-address.ts'

/** How long a token lets its holder in. Wings: websocket, token expiry. */
const lifetimeSeconds = 600

/** The name by which a daemon without `deauthorize-user` denies somebody a server's console. Wings: POST …/ws/deny. */
export const websocketTokenName = (user: Pick<User, 'id'>, server: { uuid: string }) =>
  createHash('md5').update(`${user.id}${server.uuid}`).digest('hex')

/**
 * A token for the live console with exactly what the caller may do, good for ten minutes, and the address
 * to use it at. Refuses with 401 callers that are no person. Wings: websocket, auth.
 */
export async function issueWebsocketToken(
  panel: Panel,
  { server, node, permissions }: ReachedServer,
): Promise<{ token: string; socket: string }> {
  const { actor } = panel
  if (actor.kind !== 'user') throw unauthenticated()
  const { user } = actor
  const origin = daemonUrl(node)
  const token = await signDaemonToken({
    scope: 'websocket',
    secret: await daemonSecret(panel, node),
    issuer: panel.config.url,
    audience: origin,
    jti: websocketTokenName(user, server),
    issuedAt: panel.now(),
    lifetimeSeconds,
    claims: { server_uuid: server.uuid, user_uuid: user.uuid, user_id: user.id, permissions },
  })
  return { token, socket: `${origin.replace(/^http/, 'ws')}/api/servers/${server.uuid}/ws` }
}
