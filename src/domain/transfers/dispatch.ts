import { createHash } from 'node:crypto'
import { signDaemonToken } from '../../adapters/daemon-token.ts'
import type { Server } from '../../db/tables/servers.ts'
import type { DaemonAddress, Panel } from '../../panel.ts'
import { daemonUrl, decryptDaemonToken } from '../nodes/daemon-address.ts'

/** Seconds for which the target accepts the source, which connects as soon as the server has stopped. */
const lifetimeSeconds = 900

export type TransferDispatch = { server: Pick<Server, 'uuid'>; source: DaemonAddress; target: DaemonAddress }

/**
 * Has the source's daemon send the server's files to the target's daemon. The token is signed with the target's
 * secret and valid for this server alone. Throws the `DaemonError` of the source.
 * Wings: POST /api/servers/{uuid}/transfer
 */
export async function dispatchTransfer(
  panel: Panel,
  { server, source, target }: TransferDispatch,
): Promise<void> {
  const { actor } = panel
  const origin = daemonUrl(target)
  const token = await signDaemonToken({
    scope: 'transfer',
    secret: await decryptDaemonToken(panel, target),
    issuer: panel.config.url,
    audience: origin,
    jti: createHash('sha256').update(server.uuid).digest('hex'),
    issuedAt: panel.now(),
    lifetimeSeconds,
    claims: { sub: server.uuid, ...(actor.kind === 'user' ? { user_uuid: actor.user.uuid } : {}) },
  })
  await panel
    .daemon(source)
    .startTransfer(server.uuid, { url: `${origin}/api/transfers`, token: `Bearer ${token}` })
}
