import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { DaemonError, hasTimedOut } from '../../adapters/daemon-error.ts'
import { single, uniqueViolation } from '../../db/database.ts'
import { embedMany } from '../../db/embed.ts'
import { allocations, eggs, eggVariables, servers, users } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { ApiError, type Failure, invalid } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { deleteEntry, type EntryKey } from '../activity/record.ts'
import { cancelJob, enqueueJob } from '../jobs/enqueue.ts'
import { toDaemonApiError } from '../nodes/daemon-errors.ts'
import { invalidField } from '../validation.ts'
import { recordServerEvent } from './audit.ts'
import { deleteServerRow } from './delete.ts'
import { type CandidateNode, findViableNodes, lockFreeAllocation, noViableAllocation } from './deploy.ts'
import type { DeployInput, ServerInput } from './input.ts'
import { cancelInstallWatch, creationKey, enqueueInstallWatch } from './installation.ts'
import { changeNodeUsage } from './node-usage.ts'
import { variableValues } from './variables.ts'

/** Seconds after which a job takes over the creation of a dead request: longer than a call to a daemon. */
const creationDelaySeconds = 60

/** Milliseconds that a creation waits for its node by default. */
const defaultWaitMs = 3_000
/** Milliseconds that it waits for the last one of several nodes at least. */
const minWaitMs = 250

/**
 * Creates a server and has its node install it; the installation goes on after the response.
 *
 * Waits three seconds for the node. When it has not answered by then, the server is kept and a job finishes or ends
 * its creation, as when this process dies on the way. With `deploy` the next node is tried when one does not accept
 * the server or cannot be connected to.
 *
 * Refuses with 422 unknown or taken ids and values against the egg's rules; with 400 when no node or allocation
 * fits `deploy`; with the daemon's status, 502 or 504 when it does not accept the server, which is then deleted
 * again. Records `admin:server.create`. Spec: docs/servers.md#creation. Wings: POST /api/servers
 */
export async function createServer(panel: Panel, input: ServerInput): Promise<Server> {
  const { variables, problems } = await checkReferences(panel, input)
  const deploy = input.deploy ?? null
  const candidates = deploy && problems.length === 0 ? await findViableNodes(panel, deploy, input.limits) : []
  if (problems.length > 0) throw invalid(problems)
  const creation = {
    input,
    values: await variableValues(variables, input.environment),
    deadline: performance.now() + (panel.config.creationWaitMs ?? defaultWaitMs),
  }
  return deploy
    ? createOnViableNode(panel, creation, deploy, candidates)
    : createOnNode(panel, creation, await storeOnAllocation(panel, creation))
}

/** A server to create; the request waits for nodes until `deadline`, by `performance.now()`. */
type Creation = { input: ServerInput; values: Record<string, string>; deadline: number }

/** Creates the server on the first of the nodes that accepts it, and stops at the deadline. */
async function createOnViableNode(
  panel: Panel,
  creation: Creation,
  deploy: DeployInput,
  candidates: CandidateNode[],
): Promise<Server> {
  let failure: unknown = null
  for (const { id } of candidates) {
    if (failure !== null && performance.now() >= creation.deadline) break
    const stored = await storeOnViableNode(panel, creation, deploy, id)
    if (!stored) continue
    try {
      return await createOnNode(panel, creation, stored)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      failure = error
    }
  }
  throw failure ?? noViableAllocation()
}

/** Has the node install a stored server, which is deleted again when the node does not accept it. */
async function createOnNode(
  panel: Panel,
  { input, deadline }: Creation,
  { server, node, entry }: StoredServer,
): Promise<Server> {
  const maxWaitMs = Math.max(minWaitMs, Math.ceil(deadline - performance.now()))
  try {
    await panel.daemon(node).createServer(server.uuid, input.start_on_completion ?? false, maxWaitMs)
  } catch (error) {
    // The node may still create it: the job asks and decides.
    if (hasTimedOut(error)) return server
    await undoCreation(panel, server, entry, error)
    throw toDaemonApiError(error)
  }
  await cancelJob(panel, creationKey(server.id))
  return server
}

/** Finds the variables of the egg, and the problems of owner, egg and allocations, in one statement. */
async function checkReferences(panel: Panel, input: ServerInput) {
  const allocationIds = requestedAllocations(input)
  const found = single(
    await panel.db
      .select({
        owner: sql<number | null>`(select ${users.id} from ${users} where ${users.id} = ${input.user})`,
        egg: sql<number | null>`(select ${eggs.id} from ${eggs} where ${eggs.id} = ${input.egg})`,
        variables: embedMany(eggVariables, { where: (variable) => eq(variable.eggId, input.egg) }),
        free: embedMany(allocations, {
          where: (allocation) =>
            and(
              inArray(allocation.id, allocationIds.length > 0 ? allocationIds : [0]),
              isNull(allocation.serverId),
            ),
        }),
      })
      .from(sql`(select 1) one`),
  )
  const problems: Failure[] = []
  const missing = (field: string) =>
    problems.push({
      field,
      rule: 'exists',
      detail: `The ${field} is not available.`,
      reason: 'not_available',
    })
  if (found.owner === null) missing('user')
  if (found.egg === null) missing('egg')
  const free = new Map(found.free.map((allocation) => [allocation.id, allocation]))
  const [primary, ...additional] = allocationIds
  if (primary !== undefined && !free.has(primary)) missing('allocation.default')
  additional.forEach((id, at) => {
    const isOnNode = free.get(id)?.nodeId === free.get(primary ?? 0)?.nodeId
    if (!free.has(id) || (free.has(primary ?? 0) && !isOnNode)) missing(`allocation.additional.${at}`)
  })
  return { variables: found.variables, problems }
}

/** Returns the ids of the requested allocations, the primary one first; none with `deploy`. */
function requestedAllocations(input: ServerInput): number[] {
  if (input.deploy || !input.allocation?.default) return []
  return [...new Set([input.allocation.default, ...(input.allocation.additional ?? [])])]
}

type StoredServer = { server: Server; node: Node; entry: EntryKey }

/** Stores the server on a free allocation of the node; null when there is none or no room. */
const storeOnViableNode = (
  panel: Panel,
  { input, values }: Creation,
  deploy: DeployInput,
  nodeId: number,
): Promise<StoredServer | null> =>
  retryUuidCollision(() =>
    inTransaction(panel, async (tx) => {
      const allocation = await lockFreeAllocation(tx, nodeId, deploy, input.limits)
      return allocation && storeServer(tx, input, values, [allocation.id])
    }),
  )

const storeOnAllocation = (panel: Panel, { input, values }: Creation): Promise<StoredServer> =>
  retryUuidCollision(() =>
    inTransaction(panel, (tx) => storeServer(tx, input, values, requestedAllocations(input))),
  )

/** Retries with another uuid when the short identifier of eight digits is taken. */
async function retryUuidCollision<T>(work: () => Promise<T>, attempts = 5): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (attempts <= 1 || !uniqueViolation(error)?.includes('uuid')) throw error
    return retryUuidCollision(work, attempts - 1)
  }
}

/** Stores the server with its allocations and its share of the node, and enqueues its jobs; all or nothing. */
async function storeServer(
  tx: Tx,
  input: ServerInput,
  values: Record<string, string>,
  [primary = 0, ...additional]: number[],
): Promise<StoredServer> {
  const ids = [primary, ...additional]
  const taken = await tx.db
    .select()
    .from(allocations)
    .where(and(inArray(allocations.id, ids), isNull(allocations.serverId)))
    .orderBy(allocations.id)
    .for('update')
  const nodeId = taken.find(({ id }) => id === primary)?.nodeId
  if (nodeId === undefined || taken.length !== ids.length) {
    throw invalidField(
      'allocation.default',
      'exists',
      'An allocation was taken by another server in the meantime.',
      { reason: 'allocation_taken_meanwhile' },
    )
  }
  const server = await insertServer(tx, input, values, { nodeId, allocationId: primary })
  await tx.db.update(allocations).set({ serverId: server.id }).where(inArray(allocations.id, ids))
  const node = single(await changeNodeUsage(tx, nodeId, server).returning())
  await enqueueJob(
    tx,
    'create-server-on-node',
    { serverId: server.id, startOnCompletion: input.start_on_completion ?? false },
    { key: creationKey(server.id), runAt: new Date(tx.now().getTime() + creationDelaySeconds * 1000) },
  )
  await enqueueInstallWatch(tx, server.id)
  return { server, node, entry: await recordServerEvent(tx, 'admin:server.create', server) }
}

async function insertServer(
  tx: Tx,
  input: ServerInput,
  variables: Record<string, string>,
  place: { nodeId: number; allocationId: number },
): Promise<Server> {
  const uuid = crypto.randomUUID()
  const { limits, feature_limits: features } = input
  try {
    return single(
      await tx.db
        .insert(servers)
        .values({
          ...place,
          uuid,
          uuidShort: uuid.slice(0, 8),
          externalId: input.external_id ?? null,
          ownerId: input.user,
          eggId: input.egg,
          name: input.name,
          description: input.description ?? '',
          status: 'installing',
          skipScripts: input.skip_scripts ?? false,
          memory: limits.memory,
          swap: limits.swap,
          disk: limits.disk,
          io: limits.io,
          cpu: limits.cpu,
          threads: limits.threads ?? null,
          oomDisabled: input.oom_disabled ?? true,
          startup: input.startup,
          image: input.docker_image,
          variables,
          databaseLimit: features.databases ?? 0,
          allocationLimit: features.allocations ?? 0,
          backupLimit: features.backups ?? 0,
        })
        .returning(),
    )
  } catch (error) {
    if (!uniqueViolation(error)?.includes('external_id')) throw error
    throw invalidField('external_id', 'unique', 'The external_id has already been taken.')
  }
}

/**
 * Deletes a server that its daemon did not accept. When the daemon may have created it all the same, a job
 * deletes it there.
 */
async function undoCreation(panel: Panel, server: Server, entry: EntryKey, error: unknown): Promise<void> {
  await inTransaction(panel, async (tx) => {
    await cancelJob(tx, creationKey(server.id))
    await cancelInstallWatch(tx, server.id)
    await deleteServerRow(tx, server)
    await deleteEntry(tx, entry)
    if (error instanceof DaemonError && (error.status === null || error.status >= 500)) {
      await enqueueJob(tx, 'delete-server-from-node', { nodeId: server.nodeId, serverUuid: server.uuid })
    }
  })
}
