import { eq, inArray, type SQL, sql } from 'drizzle-orm'
import { DaemonError } from '../../adapters/daemon-error.ts'
import { nodes, servers } from '../../db/schema.ts'
import type { Panel, Tx } from '../../panel.ts'
import { findActingTokenUsers } from '../auth/token-user.ts'
import { cancelJob, enqueueJob, type JobPayloads } from '../jobs/enqueue.ts'
import { accessibleServerIds } from '../servers/access.ts'
import { websocketTokenId } from '../servers/websocket-tokens.ts'

/** A user whose access to servers ends: daemons close their consoles and SFTP sessions and deny their tokens. */
export type Revocation = { userUuid: string; userId: number; serverIds: number[] }

/** The part of a revocation that one node gets, with the key of its job. */
export type NodeRevocation = { key: string; payload: JobPayloads['revoke-daemon-access'] }

type Options = {
  /** Seconds that the request has to call the nodes itself; the jobs start after them. */
  delaySeconds?: number
}

/** Seconds for which a node that does not answer is retried. */
const revocationLifetimeSeconds = 30 * 86_400

/**
 * Enqueues jobs that have the nodes of these servers close the user's consoles and SFTP sessions and deny their
 * tokens, retried until each node has confirmed. Call it in the transaction that ends the access.
 * Wings: POST /api/deauthorize-user.
 */
export function enqueueRevocation(
  tx: Tx,
  revocation: Revocation,
  options?: Options,
): Promise<NodeRevocation[]> {
  const { serverIds } = revocation
  if (serverIds.length === 0) return Promise.resolve([])
  return enqueueRevocations(tx, revocation, inArray(servers.id, serverIds), options)
}

/**
 * Enqueues the revocation on all servers that the user owns or is a subuser of: for a new password or a deleted
 * account.
 */
export function enqueueUserRevocation(
  tx: Tx,
  user: { id: number; uuid: string },
  options?: Options,
): Promise<NodeRevocation[]> {
  const isAccessible = inArray(servers.id, accessibleServerIds(user.id))
  return enqueueRevocations(tx, { userUuid: user.uuid, userId: user.id }, isAccessible, options)
}

/** Enqueues the revocation on every server, for a user who is no administrator any more. */
export const enqueueFullRevocation = (
  tx: Tx,
  user: { id: number; uuid: string },
  options?: Options,
): Promise<NodeRevocation[]> =>
  enqueueRevocations(tx, { userUuid: user.uuid, userId: user.id }, undefined, options)

async function enqueueRevocations(
  tx: Tx,
  { userUuid, userId }: Omit<Revocation, 'serverIds'>,
  where: SQL | undefined,
  { delaySeconds = 0 }: Options = {},
): Promise<NodeRevocation[]> {
  const byNode = await tx.db
    .select({
      nodeId: servers.nodeId,
      serverUuids: sql<string[]>`array_agg(${servers.uuid}::text order by ${servers.id})`,
    })
    .from(servers)
    .where(where)
    .groupBy(servers.nodeId)
    .orderBy(servers.nodeId)
  if (byNode.length === 0) return []
  const runAt = new Date(tx.now().getTime() + delaySeconds * 1000)
  const actingUuids = await findActingTokenUsers(tx, userId)
  const revocations = byNode.map(({ nodeId, serverUuids }) => ({
    key: `revoke-daemon-access:${crypto.randomUUID()}`,
    payload: { nodeId, userUuid, userId, serverUuids, actingUuids },
  }))
  for (const { key, payload } of revocations) {
    await enqueueJob(tx, 'revoke-daemon-access', payload, {
      key,
      runAt,
      lifetimeSeconds: revocationLifetimeSeconds,
    })
  }
  return revocations
}

/**
 * Calls the nodes of a committed revocation at once and cancels the jobs of those that confirm. Returns a
 * sentence for each node that failed; its job retries.
 */
export async function tryDeliverRevocations(panel: Panel, revocations: NodeRevocation[]): Promise<string[]> {
  const failures = await Promise.all(
    revocations.map(async ({ key, payload }) => {
      try {
        await revokeDaemonAccess(panel, payload)
        await cancelJob(panel, key)
        return []
      } catch (error) {
        if (!(error instanceof DaemonError)) throw error
        return [`Node ${payload.nodeId} has not confirmed yet: ${error.message}`]
      }
    }),
  )
  return failures.flat()
}

/**
 * Runs `revoke-daemon-access`: has the daemon close the sessions of the user, and of administrators who act for them.
 * Does nothing when the node is deleted.
 */
export async function revokeDaemonAccess(
  panel: Panel,
  { nodeId, userUuid, userId, serverUuids, actingUuids = [] }: JobPayloads['revoke-daemon-access'],
): Promise<void> {
  const [node] = await panel.db.select().from(nodes).where(eq(nodes.id, nodeId))
  if (!node) return
  const daemon = panel.daemon(node)
  try {
    for (const uuid of [userUuid, ...actingUuids]) await daemon.deauthorizeUser(uuid, serverUuids)
  } catch (error) {
    if (!(error instanceof DaemonError) || error.status !== 404) throw error
    // Older daemons deny tokens by id, server by server; a server that they do not know needs no denial.
    for (const uuid of serverUuids) {
      await daemon.denyTokens(uuid, [websocketTokenId({ id: userId }, { uuid })]).catch(ignoreNotFound)
    }
  }
}

function ignoreNotFound(error: unknown): void {
  if (!(error instanceof DaemonError) || error.status !== 404) throw error
}
