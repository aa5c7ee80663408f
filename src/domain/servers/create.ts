import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { DaemonError } from '../../adapters/daemon.ts'
import { only, uniqueViolation } from '../../db/database.ts'
import { embedMany } from '../../db/embed.ts'
import { allocations, eggs, eggVariables, nodes, servers, users } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { Server } from '../../db/tables/servers.ts'
import { invalid } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { refuseDaemonFailure } from '../daemon-errors.ts'
import { cancelJob, enqueue } from '../jobs.ts'
import { invalidField } from '../validation.ts'
import { findViableNodes, lockFreeAllocation, noAllocation } from './deploy.ts'
import type { DeployInput, ServerInput } from './input.ts'
import { eraseServer } from './delete.ts'
import { creationKey, endWatch, watchInstall } from './install-watch.ts'
import { variableValues } from './variables.ts'

/** Seconds after which a creation that nobody finished is taken up by its job: longer than a call to a daemon. */
const creationGrace = 60

/**
 * Creates a server and has its node install it; the installation goes on by itself.
 *
 * Refuses with 422 unknown or taken ids and values against the egg's rules, with 400 when no node or
 * allocation fits `deploy`, with the daemon's status, 502 or 504 when it does not take the server:
 * then no server is left and its allocations are free. When this process dies on the way, a job
 * finishes the creation. Spec: Application API, servers. Wings: POST /api/servers
 */
export async function createServer(panel: Panel, input: ServerInput): Promise<Server> {
  const { variables, problems } = await checkReferences(panel, input)
  const deploy = input.deploy ?? null
  const candidates = deploy && problems.length === 0 ? await findViableNodes(panel, deploy, input.limits) : []
  if (problems.length > 0) throw invalid(problems)
  const values = variableValues(variables, input.environment)
  const { server, node } = deploy
    ? await storeDeployed(panel, input, values, deploy, candidates)
    : await storeOnAllocation(panel, input, values)
  try {
    await panel.daemon(node).createServer(server.uuid, input.start_on_completion ?? false)
  } catch (error) {
    await undoCreation(panel, server, error)
    refuseDaemonFailure(error)
  }
  await cancelJob(panel, creationKey(server.id))
  return server
}

type Problem = { field: string; rule: string; detail: string }

/** Variables of the egg, and what is wrong with owner, egg and allocations, in one statement. */
async function checkReferences(panel: Panel, input: ServerInput) {
  const wanted = wantedAllocations(input)
  const found = only(
    await panel.db
      .select({
        owner: sql<number | null>`(select ${users.id} from ${users} where ${users.id} = ${input.user})`,
        egg: sql<number | null>`(select ${eggs.id} from ${eggs} where ${eggs.id} = ${input.egg})`,
        variables: embedMany(eggVariables, { where: (variable) => eq(variable.eggId, input.egg) }),
        free: embedMany(allocations, {
          where: (allocation) =>
            and(inArray(allocation.id, wanted.length > 0 ? wanted : [0]), isNull(allocation.serverId)),
        }),
      })
      .from(sql`(select 1) one`),
  )
  const problems: Problem[] = []
  const missing = (field: string) =>
    problems.push({ field, rule: 'exists', detail: `The ${field} is not available.` })
  if (found.owner === null) missing('user')
  if (found.egg === null) missing('egg')
  const free = new Map(found.free.map((allocation) => [allocation.id, allocation]))
  const [primary, ...additional] = wanted
  if (primary !== undefined && !free.has(primary)) missing('allocation.default')
  additional.forEach((id, at) => {
    const isOnNode = free.get(id)?.nodeId === free.get(primary ?? 0)?.nodeId
    if (!free.has(id) || (free.has(primary ?? 0) && !isOnNode)) missing(`allocation.additional.${at}`)
  })
  return { variables: found.variables, problems }
}

/** The primary allocation first; none with `deploy`. */
function wantedAllocations(input: ServerInput): number[] {
  if (input.deploy || !input.allocation?.default) return []
  return [...new Set([input.allocation.default, ...(input.allocation.additional ?? [])])]
}

type Stored = { server: Server; node: Node }

async function storeDeployed(
  panel: Panel,
  input: ServerInput,
  values: Record<string, string>,
  deploy: DeployInput,
  candidates: number[],
): Promise<Stored> {
  for (const nodeId of candidates) {
    const stored = await withFreshIds(() =>
      inTransaction(panel, async (panel) => {
        const allocation = await lockFreeAllocation(panel, nodeId, deploy, input.limits)
        return allocation && store(panel, input, values, [allocation.id])
      }),
    )
    if (stored) return stored
  }
  throw noAllocation()
}

const storeOnAllocation = (panel: Panel, input: ServerInput, values: Record<string, string>) =>
  withFreshIds(() => inTransaction(panel, (panel) => store(panel, input, values, wantedAllocations(input))))

/** Eight hexadecimal digits collide among very many servers: then other ones are drawn. */
async function withFreshIds<T>(work: () => Promise<T>, tries = 5): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (tries <= 1 || !uniqueViolation(error)?.includes('uuid')) throw error
    return withFreshIds(work, tries - 1)
  }
}

/** Writes the server, takes its allocations and its share of the node, and leaves a job behind; all or nothing. */
async function store(
  panel: Panel,
  input: ServerInput,
  values: Record<string, string>,
  [primary = 0, ...additional]: number[],
): Promise<Stored> {
  const ids = [primary, ...additional]
  const taken = await panel.db
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
    )
  }
  const server = await insertServer(panel, input, values, { nodeId, allocationId: primary })
  await panel.db.update(allocations).set({ serverId: server.id }).where(inArray(allocations.id, ids))
  const node = only(
    await panel.db
      .update(nodes)
      .set({
        usedMemory: sql`${nodes.usedMemory} + ${server.memory}`,
        usedDisk: sql`${nodes.usedDisk} + ${server.disk}`,
      })
      .where(eq(nodes.id, nodeId))
      .returning(),
  )
  await enqueue(
    panel,
    'create-server-on-node',
    { serverId: server.id, startOnCompletion: input.start_on_completion ?? false },
    { key: creationKey(server.id), runAt: new Date(panel.now().getTime() + creationGrace * 1000) },
  )
  await watchInstall(panel, server.id)
  return { server, node }
}

async function insertServer(
  panel: Panel,
  input: ServerInput,
  variables: Record<string, string>,
  place: { nodeId: number; allocationId: number },
): Promise<Server> {
  const uuid = crypto.randomUUID()
  const { limits, feature_limits: features } = input
  try {
    return only(
      await panel.db
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
 * Leaves no trace of a server whose daemon did not take it. What the daemon did is unknown when it
 * did not answer, so a job removes the server there too.
 */
async function undoCreation(panel: Panel, server: Server, error: unknown): Promise<void> {
  await inTransaction(panel, async (panel) => {
    await cancelJob(panel, creationKey(server.id))
    await endWatch(panel, server.id)
    await eraseServer(panel, server)
    if (error instanceof DaemonError && (error.status === null || error.status >= 500)) {
      await enqueue(panel, 'delete-server-from-node', { nodeId: server.nodeId, serverUuid: server.uuid })
    }
  })
}
