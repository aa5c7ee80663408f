import { eq } from 'drizzle-orm'
import { DaemonError } from '../adapters/daemon.ts'
import { locations, nodes } from '../db/schema.ts'
import type { Location } from '../db/tables/locations.ts'
import type { Node } from '../db/tables/nodes.ts'
import { notFound } from '../errors.ts'
import type { DaemonAddress, Panel } from '../panel.ts'
import { daemonSecret, previousTokenPlace, tokenPlace } from './daemon-address.ts'
import { cancelJob, enqueue } from './jobs.ts'
import { open, seal } from './secrets.ts'

type Region = Pick<Location, 'region'>

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
}

/** Seconds which the request that made a change has to deliver it itself. */
const headStart = 15

/** The configuration of a node's daemon with its credential. Spec: Application API, nodes/{node}/configuration. */
export async function nodeConfiguration(
  panel: Panel,
  node: Node,
  location: Region,
): Promise<NodeConfiguration> {
  return configurationWith(panel, node, location, await daemonSecret(panel, node))
}

/** The same of the node with this id. Refuses with 404 when there is none. */
export async function findNodeConfiguration(panel: Panel, id: number): Promise<NodeConfiguration> {
  const found = await findPlaced(panel, id)
  if (!found) throw notFound()
  return nodeConfiguration(panel, found.node, found.location)
}

/** Whether the daemon must be told of the change from one row to the other. */
export function concernsDaemon(
  panel: Panel,
  before: { node: Node; location: Region },
  after: { node: Node; location: Region },
): boolean {
  const [one, other] = [before, after].map(({ node, location }) =>
    JSON.stringify(configurationWith(panel, node, location, '')),
  )
  return one !== other
}

/** Sees to it that the daemon learns of a change: call it in the transaction that makes the change. */
export const enqueueConfiguration = (panel: Panel, nodeId: number): Promise<void> =>
  enqueue(
    panel,
    'configure-node',
    { nodeId },
    { key: jobKey(nodeId), runAt: new Date(panel.now().getTime() + headStart * 1000) },
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

/** Ends once the daemon has what is current: a change that overtook the call is delivered, too. */
async function deliver(panel: Panel, nodeId: number, listening?: Node): Promise<void> {
  const found = await findPlaced(panel, nodeId)
  if (!found) return
  const configuration = await nodeConfiguration(panel, found.node, found.location)
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

async function findPlaced(panel: Panel, id: number): Promise<{ node: Node; location: Location } | undefined> {
  const [found] = await panel.db
    .select({ node: nodes, location: locations })
    .from(nodes)
    .innerJoin(locations, eq(locations.id, nodes.locationId))
    .where(eq(nodes.id, id))
  return found
}

function configurationWith(panel: Panel, node: Node, location: Region, token: string): NodeConfiguration {
  const certificates = `/etc/letsencrypt/live/${node.fqdn.toLowerCase()}`
  const regional = location.region === null ? undefined : panel.config.regionalUrls[location.region]
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
    remote: regional ?? panel.config.url,
  }
}
