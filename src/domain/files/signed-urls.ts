import { type DaemonTokenScope, signDaemonToken } from '../../adapters/daemon-token.ts'
import { unauthenticated } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { daemonSecret, daemonUrl } from '../daemon-address.ts'
import { websocketTokenName } from '../websocket-tokens.ts'
import { recordUnlessDenied } from './denylist.ts'
import type { Target } from './listing.ts'
import { resolveEntry } from './paths.ts'

/** Seconds for which a signed address is good. Spec: Limits, file download token. */
const lifetimeSeconds = 900

/**
 * Where a browser fetches the file from the node itself: once, within 15 minutes. Whether there is such a
 * file, the daemon says. Records `server:file.download`. Refuses with 403 what the egg protects.
 * Wings: GET /download/file.
 */
export async function downloadAddress(panel: Panel, target: Target, file: string): Promise<string> {
  const path = resolveEntry('file', '/', file)
  const claims = { file_path: path }
  const url = await signedAddress(panel, target, '/download/file', 'file-download', claims)
  await recordUnlessDenied(panel, target.server, 'server:file.download', path)
  return url
}

/**
 * Where a browser sends files to the node itself: once, within 15 minutes, into the folder that it names
 * beside the token. The daemon reports what came, and asks the egg's list; it knows of no trash.
 * Wings: POST /upload/file.
 */
export const uploadAddress = (panel: Panel, target: Target): Promise<string> =>
  signedAddress(panel, target, '/upload/file', 'file-upload', {})

/** Refuses with 401 callers that are no person: daemons want to know whose doing it is. */
async function signedAddress(
  panel: Panel,
  { server, node }: Target,
  path: string,
  scope: DaemonTokenScope,
  claims: Record<string, string>,
): Promise<string> {
  const { actor } = panel
  if (actor.kind !== 'user') throw unauthenticated()
  const origin = daemonUrl(node)
  const token = await signDaemonToken({
    scope,
    secret: await daemonSecret(panel, node),
    issuer: panel.config.url,
    audience: origin,
    jti: websocketTokenName(actor.user, server),
    issuedAt: panel.now(),
    lifetimeSeconds,
    claims: { ...claims, server_uuid: server.uuid, user_uuid: actor.user.uuid },
  })
  const url = new URL(path, origin)
  url.searchParams.set('token', token)
  return url.href
}
