import { eq, inArray, type SQL, sql } from 'drizzle-orm'
import { DaemonError } from '../../adapters/daemon-error.ts'
import { locations, mountNode, mounts, nodes } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import { notFound } from '../../errors.ts'
import type { DaemonAddress, Panel, Tx } from '../../panel.ts'
import { cancelJob, enqueueJob } from '../jobs/enqueue.ts'
import { remoteColumn } from '../locations/regions.ts'
import { decrypt, encrypt } from '../secrets.ts'
import { decryptDaemonToken, previousTokenLocation, tokenLocation } from './daemon-address.ts'

/** A node with the origin that its daemon calls, and the sources of its mounts. */
export type NodeWithRemote = { node: Node; remote: string; allowedMounts: string[] }

/** Selects a node (`nodes`) with what its configuration is built from, in a statement with its location (`locations`). */
export const nodeWithRemote = (tx: Tx) => ({
  node: nodes,
  remote: remoteColumn(tx),
  allowedMounts: sql`array(select distinct ${mounts.source} from ${mounts} inner join ${mountNode}
    on ${mountNode.mountId} = ${mounts.id} where ${mountNode.nodeId} = ${nodes.id} order by 1)` as SQL<
    string[]
  >,
})

/** The configuration as the daemon reads it. Wings: POST /api/update */
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
  /** Origin that the daemon calls. */
  remote: string
  /** Origins besides `remote` whose pages may open a console; left out, the daemon keeps its own list. */
  allowed_origins?: string[]
}

/** Seconds that the request has to deliver its change itself. */
const jobDelaySeconds = 15

/**
 * Returns the configuration of a node's daemon with its credential. Refuses with 404.
 * Spec: getApplicationNodesByNodeConfiguration.
 */
export async function findNodeConfiguration(panel: Panel, id: number): Promise<NodeConfiguration> {
  const source = await findNodeWithRemote(panel, id)
  if (!source) throw notFound()
  return buildWithToken(panel, source)
}

/** Whether a change of the row changes the daemon's configuration. */
export function affectsConfiguration(tx: Tx, before: NodeWithRemote, after: NodeWithRemote): boolean {
  const [one, other] = [before, after].map((source) => JSON.stringify(buildConfiguration(tx, source, '')))
  return one !== other
}

/** Enqueues delivery of the configuration to the daemon; call it in the transaction of the change. */
export const enqueueConfiguration = (tx: Tx, nodeId: number, delaySeconds = jobDelaySeconds): Promise<void> =>
  enqueueJob(
    tx,
    'configure-node',
    { nodeId },
    { key: jobKey(nodeId), runAt: new Date(tx.now().getTime() + delaySeconds * 1000) },
  )

/**
 * Delivers a committed change at once and cancels the job; leaves it to the job when the daemon fails. Returns false
 * when the daemon did not answer. `previousNode` is the row before the change: the daemon still listens at its address with its credential.
 */
export async function tryDeliverConfiguration(panel: Panel, previousNode: Node): Promise<boolean> {
  try {
    await deliverConfiguration(panel, previousNode.id, previousNode)
    await cancelJob(panel, jobKey(previousNode.id))
    return true
  } catch (error) {
    // The delivery of another change may have cancelled this one's job.
    await enqueueConfiguration(panel, previousNode.id)
    return !(error instanceof DaemonError && error.status === null)
  }
}

/**
 * Runs `configure-node`: delivers the configuration. Does nothing when the node is deleted.
 * Wings: POST /api/update
 */
export const configureNode = (panel: Panel, { nodeId }: { nodeId: number }): Promise<void> =>
  deliverConfiguration(panel, nodeId)

/** Runs `configure-nodes`: enqueues `configure-node` for every node at these locations. */
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

/** Delivers the configuration, and again when it changed during the call. */
async function deliverConfiguration(panel: Panel, nodeId: number, previousNode?: Node): Promise<void> {
  const found = await findNodeWithRemote(panel, nodeId)
  if (!found) return
  const configuration = await buildWithToken(panel, found)
  await sendConfiguration(panel, await daemonAddresses(panel, previousNode ?? found.node), configuration)
  const current = await findNodeWithRemote(panel, nodeId)
  if (current && affectsConfiguration(panel, found, current)) await deliverConfiguration(panel, nodeId)
}

/** Sends the configuration; tries the next address when the daemon rejects the credential. */
async function sendConfiguration(
  panel: Panel,
  [address, ...others]: DaemonAddress[],
  configuration: NodeConfiguration,
): Promise<void> {
  if (!address) return
  try {
    await panel.daemon(address).updateConfiguration(configuration)
  } catch (error) {
    const isUnauthorized = error instanceof DaemonError && (error.status === 401 || error.status === 403)
    if (!isUnauthorized || others.length === 0) throw error
    await sendConfiguration(panel, others, configuration)
  }
}

/**
 * Lists how to reach the daemon: with the token before the last reset, until it has used the current one, then
 * with the current one.
 */
async function daemonAddresses(panel: Panel, node: Node): Promise<DaemonAddress[]> {
  if (!node.previousToken) return [node]
  const secret = await decrypt(panel, node.previousToken, previousTokenLocation(node))
  return [{ ...node, daemonToken: await encrypt(panel, secret, tokenLocation(node)) }, node]
}

const jobKey = (nodeId: number) => `configure-node:${nodeId}`

async function findNodeWithRemote(panel: Panel, id: number): Promise<NodeWithRemote | undefined> {
  const [found] = await panel.db
    .select(nodeWithRemote(panel))
    .from(nodes)
    .innerJoin(locations, eq(locations.id, nodes.locationId))
    .where(eq(nodes.id, id))
  return found
}

const buildWithToken = async (panel: Panel, source: NodeWithRemote): Promise<NodeConfiguration> =>
  buildConfiguration(panel, source, await decryptDaemonToken(panel, source.node))

function buildConfiguration(
  tx: Tx,
  { node, remote, allowedMounts }: NodeWithRemote,
  token: string,
): NodeConfiguration {
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
    allowed_mounts: allowedMounts,
    remote,
    // A daemon accepts pages of `remote` alone, while browsers use the panel's own origin in every region.
    ...(remote === tx.config.url ? {} : { allowed_origins: [tx.config.url] }),
  }
}
