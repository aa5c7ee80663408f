import { eq, sql } from 'drizzle-orm'
import * as z from 'zod'
import { only } from '../../db/database.ts'
import { nodes, servers } from '../../db/schema.ts'
import type { Server } from '../../db/tables/servers.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { boolean, rowId } from '../fields.ts'
import { changeAllocations } from './build-allocations.ts'
import { FeatureLimitsInput, LimitsInput } from './input.ts'
import { lockServer, placeOf, rowVersion } from './lock.ts'
import { enqueueSync, type ServerChange, tryChange } from './sync.ts'

const mostAllocations = 500
const neededLimits = ['memory', 'swap', 'disk', 'io', 'cpu'] as const

const allocationIds = () => z.array(rowId()).max(mostAllocations, 'max').nullish()

/** An empty object of limits is as good as none; PHP writes it as `[]`. */
const emptyToNull = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0 ? null : value

/**
 * The limits stand in `limits` or, where that is not sent, at the top.
 * Spec: Application API, servers/{server}/build.
 */
export const BuildInput = () =>
  z
    .object({
      ...LimitsInput().partial().shape,
      allocation: rowId(),
      oom_disabled: boolean().nullish(),
      limits: z.preprocess(emptyToNull, LimitsInput().nullable()).nullish(),
      add_allocations: allocationIds(),
      remove_allocations: allocationIds(),
      feature_limits: FeatureLimitsInput(),
    })
    .superRefine((input, context) => {
      if (input.limits) return
      for (const name of neededLimits) {
        if (input[name] === undefined) context.addIssue({ code: 'custom', path: [name], message: 'required' })
      }
    })
export type BuildInput = z.output<ReturnType<typeof BuildInput>>

/**
 * Gives a server other limits and allocations; the sums of its node follow in the same transaction. The
 * daemon is told at once, or by a job when it does not answer. Refuses with 404, with 422 a primary
 * allocation that does not exist or is another server's, with 400 one that would not be the server's own and
 * the loss of the last one.
 * Spec: Application API, servers/{server}/build. Wings: POST /api/servers/{uuid}/sync
 */
export async function changeBuild(panel: Panel, id: number, input: BuildInput): Promise<void> {
  const change = await inTransaction(panel, async (inside): Promise<ServerChange> => {
    const server = await lockServer(inside, id)
    const { node, movingTo } = await placeOf(inside, server)
    const allocationId = await changeAllocations(inside, server, input)
    const after = only(
      await inside.db
        .update(servers)
        .set({ ...columnsOf(input), allocationId, updatedAt: inside.now() })
        .where(eq(servers.id, id))
        .returning({ memory: servers.memory, disk: servers.disk, version: rowVersion }),
    )
    await changeShare(inside, [server.nodeId, movingTo], server, after)
    await enqueueSync(inside, id)
    return { server, node, version: after.version }
  })
  await tryChange(panel, change)
}

/** What was not sent stays as it is, but for the number of allocations: none is no limit. */
function columnsOf(input: BuildInput) {
  const { memory, swap, disk, io, cpu, threads } = input.limits ?? input
  const { databases, allocations, backups } = input.feature_limits
  return {
    memory,
    swap,
    disk,
    io,
    cpu,
    threads,
    oomDisabled: input.oom_disabled ?? undefined,
    databaseLimit: databases,
    allocationLimit: allocations ?? null,
    backupLimit: backups ?? 0,
  }
}

/** The sums of the nodes on which the server counts take in what it takes now. */
async function changeShare(
  panel: Panel,
  holders: (number | null)[],
  before: Pick<Server, 'memory' | 'disk'>,
  after: Pick<Server, 'memory' | 'disk'>,
): Promise<void> {
  const [memory, disk] = [after.memory - before.memory, after.disk - before.disk]
  if (memory === 0 && disk === 0) return
  const share = {
    usedMemory: sql`${nodes.usedMemory} + ${memory}`,
    usedDisk: sql`${nodes.usedDisk} + ${disk}`,
  }
  const ids = holders.filter((id) => id !== null).toSorted((one, other) => one - other)
  for (const id of ids) await panel.db.update(nodes).set(share).where(eq(nodes.id, id))
}
