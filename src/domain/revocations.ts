import { eq, inArray, or, type SQL, sql } from 'drizzle-orm'
import { QueryBuilder } from 'drizzle-orm/pg-core'
import { DaemonError } from '../adapters/daemon.ts'
import { nodes, servers, subusers } from '../db/schema.ts'
import type { Panel } from '../panel.ts'
import { cancelJob, enqueue, type JobPayloads } from './jobs.ts'
import { websocketTokenName } from './websocket-tokens.ts'

/** Whose access to servers ends, as far as daemons know of it: open consoles, SFTP sessions, tokens. */
export type Revocation = { userUuid: string; userId: number; serverIds: number[] }

/** One node's part of a revocation, under the key by which its job waits. */
export type NodeRevocation = { key: string; payload: JobPayloads['revoke-daemon-access'] }

type Options = {
  /** Seconds which the request has to tell the nodes itself; the jobs wait that long. */
  headStart?: number
}

/** Seconds for which a node that is away is told once it is back. */
const lifetime = 30 * 86_400

/**
 * Daemons of the servers' nodes drop the user's consoles, SFTP sessions and tokens: by jobs that are
 * tried until each node has agreed. Call it in the transaction that takes the access away.
 * Wings: POST /api/deauthorize-user.
 */
export function enqueueRevocation(
  panel: Panel,
  revocation: Revocation,
  options?: Options,
): Promise<NodeRevocation[]> {
  const { serverIds } = revocation
  if (serverIds.length === 0) return Promise.resolve([])
  return enqueueFor(panel, revocation, inArray(servers.id, serverIds), options)
}

/** The same on all servers which the user owns or was let into: for a new password, or an account that goes. */
export function enqueueOwnRevocation(
  panel: Panel,
  user: { id: number; uuid: string },
  options?: Options,
): Promise<NodeRevocation[]> {
  const letInto = new QueryBuilder({ casing: 'snake_case' })
    .select({ id: subusers.serverId })
    .from(subusers)
    .where(eq(subusers.userId, user.id))
  const reach = or(eq(servers.ownerId, user.id), inArray(servers.id, letInto))
  return enqueueFor(panel, { userUuid: user.uuid, userId: user.id }, reach, options)
}

/** The same on every server there is: for an administrator who is one no more. */
export const enqueueFullRevocation = (
  panel: Panel,
  user: { id: number; uuid: string },
  options?: Options,
): Promise<NodeRevocation[]> =>
  enqueueFor(panel, { userUuid: user.uuid, userId: user.id }, undefined, options)

async function enqueueFor(
  panel: Panel,
  { userUuid, userId }: Omit<Revocation, 'serverIds'>,
  where: SQL | undefined,
  { headStart = 0 }: Options = {},
): Promise<NodeRevocation[]> {
  const byNode = await panel.db
    .select({
      nodeId: servers.nodeId,
      serverUuids: sql<string[]>`array_agg(${servers.uuid}::text order by ${servers.id})`,
    })
    .from(servers)
    .where(where)
    .groupBy(servers.nodeId)
    .orderBy(servers.nodeId)
  const runAt = new Date(panel.now().getTime() + headStart * 1000)
  const revocations = byNode.map(({ nodeId, serverUuids }) => ({
    key: `revoke-daemon-access:${crypto.randomUUID()}`,
    payload: { nodeId, userUuid, userId, serverUuids },
  }))
  for (const { key, payload } of revocations) {
    await enqueue(panel, 'revoke-daemon-access', payload, { key, runAt, lifetimeSeconds: lifetime })
  }
  return revocations
}

/**
 * Tells the nodes at once what is committed, so that their jobs have nothing left to do. Gives a
 * sentence for each node that could not be told; its job goes on trying.
 */
export async function tryRevocations(panel: Panel, revocations: NodeRevocation[]): Promise<string[]> {
  const failures = await Promise.all(
    revocations.map(async ({ key, payload }) => {
      try {
        await revokeDaemonAccess(panel, payload)
        await cancelJob(panel, key)
        return []
      } catch (error) {
        if (!(error instanceof DaemonError)) throw error
        return [`Node ${payload.nodeId} could not be told yet: ${error.message}`]
      }
    }),
  )
  return failures.flat()
}

/** The job: the node's daemon has dropped what the user had open. A node that is gone has nothing open. */
export async function revokeDaemonAccess(
  panel: Panel,
  { nodeId, userUuid, userId, serverUuids }: JobPayloads['revoke-daemon-access'],
): Promise<void> {
  const [node] = await panel.db.select().from(nodes).where(eq(nodes.id, nodeId))
  if (!node) return
  const daemon = panel.daemon(node)
  try {
    await daemon.deauthorizeUser(userUuid, serverUuids)
  } catch (error) {
    if (!(error instanceof DaemonError) || error.status !== 404) throw error
    // Older daemons only know names of tokens, server by server; what they do not hold needs no denial.
    for (const uuid of serverUuids) {
      await daemon.denyTokens(uuid, [websocketTokenName({ id: userId }, { uuid })]).catch(unlessUnknown)
    }
  }
}

function unlessUnknown(error: unknown): void {
  if (!(error instanceof DaemonError) || error.status !== 404) throw error
}
