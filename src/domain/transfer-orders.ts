import { createHash } from 'node:crypto'
import { signDaemonToken } from '../adapters/daemon-token.ts'
import type { Server } from '../db/tables/servers.ts'
import type { DaemonAddress, Panel } from '../panel.ts'
import { daemonSecret, daemonUrl } from './daemon-address.ts'

/** How long the target lets the source in: it connects as soon as the server has stopped. */
const lifetimeSeconds = 900

export type TransferOrder = { server: Pick<Server, 'uuid'>; source: DaemonAddress; target: DaemonAddress }

/**
 * Has the daemon of the source send the server's files to the daemon of the target, from one to the other. The
 * token is signed with the target's secret and good for this server only. Throws what the source refuses with.
 * Wings: POST /api/servers/{uuid}/transfer
 */
export async function orderTransfer(panel: Panel, { server, source, target }: TransferOrder): Promise<void> {
  const { actor } = panel
  const origin = daemonUrl(target)
  const token = await signDaemonToken({
    scope: 'transfer',
    secret: await daemonSecret(panel, target),
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
