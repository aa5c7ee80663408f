import { type DaemonTokenScope, signDaemonToken } from '../../adapters/daemon-token.ts'
import type { Panel } from '../../panel.ts'
import { requireCaller } from '../auth/caller.ts'
import { tokenUserOf } from '../auth/token-user.ts'
import type { ServerOnNode } from '../servers/access.ts'
import { websocketTokenId } from '../servers/websocket-tokens.ts'
import { daemonUrl, decryptDaemonToken } from './daemon-address.ts'

type SignedServer = { server: Pick<ServerOnNode['server'], 'uuid'>; node: ServerOnNode['node'] }

/** Seconds for which a signed URL is valid. Spec: docs/api.md#links-to-daemons. */
const lifetimeSeconds = 900

/**
 * Signs a token with which the caller's browser uses one route of the daemon, once and within 15 minutes (TK-1).
 * Refuses with 401 callers that are not users: the token names its user.
 */
export async function signUserToken(
  panel: Panel,
  { server, node }: SignedServer,
  scope: DaemonTokenScope,
  claims: Record<string, string>,
): Promise<string> {
  const user = requireCaller(panel)
  return signDaemonToken({
    scope,
    secret: await decryptDaemonToken(panel, node),
    issuer: panel.config.url,
    audience: daemonUrl(node),
    jti: websocketTokenId(user, server),
    issuedAt: panel.now(),
    lifetimeSeconds,
    claims: { ...claims, server_uuid: server.uuid, user_uuid: tokenUserOf(panel) },
  })
}

/** Creates the URL of a route of the daemon with the token as its query. */
export function createSignedUrl({ node }: Pick<SignedServer, 'node'>, path: string, token: string): string {
  const url = new URL(path, daemonUrl(node))
  url.searchParams.set('token', token)
  return url.href
}
