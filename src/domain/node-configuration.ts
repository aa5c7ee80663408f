import { eq, inArray } from 'drizzle-orm'
import { DaemonError } from '../adapters/daemon.ts'
import { locations, nodes } from '../db/schema.ts'
import type { Node } from '../db/tables/nodes.ts'
import { notFound } from '../errors.ts'
import type { DaemonAddress, Panel } from '../panel.ts'
import { daemonSecret, previousTokenPlace, tokenPlace } from './daemon-address.ts'
import { cancelJob, enqueue } from './jobs.ts'
import { remoteColumn } from './regions.ts'
import { open, seal } from './secrets.ts'

/** A node with the origin which its daemon calls. */
export type PlacedNode = { node: Node; remote: string }

/** What a daemon must know, as it reads it. Wings: POST /api/update */
export type NodeConfiguration = {
  debug: boolean
  uuid: string
  token_id: string
  token: string
  api: {
    host: string
    port: number
    ssl: { enabled: boolean; cert: string; key: string }
    /** MiB. */
    upload_limit: number
  }
  system: { data: string; sftp: { bind_port: number } }
  allowed_mounts: string[]
  /** Origin which the daemon calls. */
  remote: string
  /** Origins whose pages may open a console, beside `remote`; what the node has of its own stays without it. */
  allowed_origins?: string[]
}

/** Seconds which the request that made a change has to deliver it itself. */
const headStart = 15

/**
 * The configuration of a node's daemon with its credential. Refuses with 404 when there is no such node.
 * Spec: Application API, nodes/{node}/configuration.
 */
export async function findNodeConfiguration(panel: Panel, id: number): Promise<NodeConfiguration> {
  const placed = await findPlaced(panel, id)
  if (!placed) throw notFound()
  return nodeConfiguration(panel, placed)
}

/** Whether the daemon must be told of the change from one row to the other. */
export function concernsDaemon(panel: Panel, before: PlacedNode, after: PlacedNode): boolean {
  const [one, other] = [before, after].map((placed) => JSON.stringify(configurationWith(panel, placed, '')))
  return one !== other
}

/** Sees to it that the daemon learns of a change: call it in the transaction that makes the change. */
export const enqueueConfiguration = (panel: Panel, nodeId: number, delay = headStart): Promise<void> =>
  enqueue(
    panel,
    'configure-node',
    { nodeId },
    { key: jobKey(nodeId), runAt: new Date(panel.now().getTime() + delay * 1000) },
  )

/**
 * Delivers a committed change at once, so that the job has nothing left to do. `listening` is the row
 * before the change: there, and with that credential, the daemon still listens. A daemon that cannot
 * be told now is left to the job.
 */
export async function tryConfiguration(panel: Panel, listening: Node): Promise<void> {
  try {
    await deliver(panel, listening.id, listening)
    await cancelJob(panel, jobKey(listening.id))
  } catch {
    // Another change may have been delivered meanwhile, and with it this one's job be cancelled.
    await enqueueConfiguration(panel, listening.id)
  }
}

/** The job: the daemon has the node's configuration afterwards. A node that is gone needs none. Wings: POST /api/update */
export const configureNode = (panel: Panel, { nodeId }: { nodeId: number }): Promise<void> =>
  deliver(panel, nodeId)

/** The job: every node at these locations has a job of its own afterwards, which tells its daemon. */
export async function configureNodes(
  panel: Panel,
  { locationIds }: { locationIds: number[] },
): Promise<void> {
  const found = await panel.db
    .select({ id: nodes.id })
    .from(nodes)
    .where(inArray(nodes.locationId, locationIds))
    .orderBy(nodes.id)
  for (const { id } of found) await enqueueConfiguration(panel, id, 0)
}

/** Ends once the daemon has what is current: a change that overtook the call is delivered, too. */
async function deliver(panel: Panel, nodeId: number, listening?: Node): Promise<void> {
  const found = await findPlaced(panel, nodeId)
  if (!found) return
  const configuration = await nodeConfiguration(panel, found)
  await tellDaemon(panel, await addressesOf(panel, listening ?? found.node), configuration)
  const current = await findPlaced(panel, nodeId)
  if (current && concernsDaemon(panel, found, current)) await deliver(panel, nodeId)
}

/** Tries the next credential only when the daemon does not accept one. */
async function tellDaemon(
  panel: Panel,
  [address, ...others]: DaemonAddress[],
  configuration: NodeConfiguration,
): Promise<void> {
  if (!address) return
  try {
    await panel.daemon(address).updateConfiguration(configuration)
  } catch (error) {
    const isRefused = error instanceof DaemonError && (error.status === 401 || error.status === 403)
    if (!isRefused || others.length === 0) throw error
    await tellDaemon(panel, others, configuration)
  }
}

/** Where the daemon listens: with the pair before the last reset, which it may still have, then with its own. */
async function addressesOf(panel: Panel, node: Node): Promise<DaemonAddress[]> {
  const isOver = !node.previousTokenExpiresAt || node.previousTokenExpiresAt <= panel.now()
  if (!node.previousToken || isOver) return [node]
  const secret = await open(panel, node.previousToken, previousTokenPlace(node))
  return [{ ...node, daemonToken: await seal(panel, secret, tokenPlace(node)) }, node]
}

const jobKey = (nodeId: number) => `configure-node:${nodeId}`

async function findPlaced(panel: Panel, id: number): Promise<PlacedNode | undefined> {
  const [found] = await panel.db
    .select({ node: nodes, remote: remoteColumn(panel) })
    .from(nodes)
    .innerJoin(locations, eq(locations.id, nodes.locationId))
    .where(eq(nodes.id, id))
  return found
}

const nodeConfiguration = async (panel: Panel, placed: PlacedNode): Promise<NodeConfiguration> =>
  configurationWith(panel, placed, await daemonSecret(panel, placed.node))

function configurationWith(panel: Panel, { node, remote }: PlacedNode, token: string): NodeConfiguration {
  const certificates = `/etc/letsencrypt/live/${node.fqdn.toLowerCase()}`
  return {
    debug: false,
    uuid: node.uuid,
    token_id: node.daemonTokenId,
    token,
    api: {
      host: '0.0.0.0',
      port: node.daemonListen,
      ssl: {
        enabled: node.scheme === 'https' && !node.behindProxy,
        cert: `${certificates}/fullchain.pem`,
        key: `${certificates}/privkey.pem`,
      },
      upload_limit: node.uploadSize,
    },
    system: { data: node.daemonBase, sftp: { bind_port: node.daemonSftp } },
    allowed_mounts: [],
    remote,
    // Daemons let in pages of `remote` alone, and browsers are at the panel's own origin wherever a daemon calls.
    ...(remote === panel.config.url ? {} : { allowed_origins: [panel.config.url] }),
  }
}
