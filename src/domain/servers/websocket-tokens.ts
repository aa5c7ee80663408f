import { createHash } from 'node:crypto'
import { signDaemonToken } from '../../adapters/daemon-token.ts'
import type { User } from '../../db/tables/users.ts'
import type { Panel } from '../../panel.ts'
import { requireCaller } from '../auth/caller.ts'
import { tokenUserOf } from '../auth/token-user.ts'
import { daemonUrl, decryptDaemonToken } from '../nodes/daemon-address.ts'
import type { ServerAccess } from './access.ts'

/** Lifetime of a token in seconds. Wings: docs/wings.md#websocket. */
const lifetimeSeconds = 600

/**
 * Returns the id by which a daemon without `deauthorize-user` denies a user's tokens for a server.
 * Wings: POST …/ws/deny.
 */
export const websocketTokenId = (user: Pick<User, 'id'>, server: { uuid: string }) =>
  createHash('md5').update(`${user.id}${server.uuid}`).digest('hex')

/**
 * Creates a token for the live console with the caller's permissions, valid for ten minutes, and returns it
 * with the URL of the WebSocket. Refuses with 401 callers without a user. Wings: docs/wings.md#websocket.
 */
export async function createWebsocketToken(
  panel: Panel,
  { server, node, permissions }: ServerAccess,
): Promise<{ token: string; socket: string }> {
  const user = requireCaller(panel)
  const origin = daemonUrl(node)
  const token = await signDaemonToken({
    scope: 'websocket',
    secret: await decryptDaemonToken(panel, node),
    issuer: panel.config.url,
    audience: origin,
    jti: websocketTokenId(user, server),
    issuedAt: panel.now(),
    lifetimeSeconds,
    claims: { server_uuid: server.uuid, user_uuid: tokenUserOf(panel), user_id: user.id, permissions },
  })
  return { token, socket: `${origin.replace(/^http/, 'ws')}/api/servers/${server.uuid}/ws` }
}
