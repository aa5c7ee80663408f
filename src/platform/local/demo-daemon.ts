import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { nodes } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import { type ForkedDaemon, forkDaemon } from '../../dev/daemon/fork.ts'
import {
  findUnprivilegedUser,
  isReachable,
  type UnprivilegedUser,
} from '../../dev/daemon/unprivileged-user.ts'
import { findNodeConfiguration } from '../../domain/nodes/configuration.ts'
import type { Panel } from '../../panel.ts'

export type DemoOptions = {
  /** The data directory. */
  directory: string
  log: (line: string) => void
  /** Is called with the daemon as soon as it listens, to close it whatever happens then. */
  onDaemon: (daemon: ForkedDaemon) => void
}

/**
 * Starts the development daemon of a node in a process of its own, and stores its port in the node. Under root it runs
 * as an unprivileged user where there is one. `port` 0 is any free one; another one is used when it is taken.
 */
export async function startNodeDaemon(
  panel: Panel,
  node: Pick<Node, 'id'>,
  { directory, port, log, onDaemon }: DemoOptions & { port: number },
): Promise<ForkedDaemon> {
  const configuration = await findNodeConfiguration(panel, node.id)
  const user = findUnprivilegedUser()
  const options = {
    panelUrl: configuration.remote,
    allowedOrigins: configuration.allowed_origins ?? [],
    tokenId: configuration.token_id,
    token: configuration.token,
    uuid: configuration.uuid,
    dataDirectory: daemonDirectory(directory, user),
    allowLocalPulls: true,
    port,
  }
  const daemon = await forkDaemon(options, user, log)
  onDaemon(daemon)
  await panel.db
    .update(nodes)
    .set({ daemonListen: daemon.port, fqdn: '127.0.0.1' })
    .where(eq(nodes.id, node.id))
  await daemon.ready
  return daemon
}

/**
 * Returns the folder of the daemon: below the data directory, which is closed to other users; for another user beside
 * it, or in `/var/lib` where that user cannot enter the folders above.
 */
function daemonDirectory(directory: string, user: UnprivilegedUser | null): string {
  if (!user) return join(directory, 'daemon')
  const sibling = `${directory}-daemon`
  const hash = createHash('sha256').update(directory).digest('hex').slice(0, 16)
  return isReachable(sibling) ? sibling : join('/var/lib/roost-demo', hash)
}
