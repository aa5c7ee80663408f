import { eq } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { servers } from '../../db/schema.ts'
import type { Server } from '../../db/tables/servers.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { boolean, rowId } from '../fields.ts'
import { recordServerUpdate } from './audit.ts'
import { changeAllocations } from './build-allocations.ts'
import { FeatureLimitsInput, LimitsInput } from './input.ts'
import { findServerNode, lockServer, rowVersion } from './lock.ts'
import { changeNodeUsage } from './node-usage.ts'
import { enqueueSync, type ServerChange, tryDeliverChange } from './sync.ts'
import { requireExpectedVersion, versionOf } from '../versions.ts'

const maxAllocations = 500
const requiredLimits = ['memory', 'swap', 'disk', 'io', 'cpu'] as const

const allocationIds = () => z.array(rowId()).max(maxAllocations, 'max').nullish()

/** Treats an empty object of limits as missing; PHP writes it as `[]`. */
const emptyToNull = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0 ? null : value

/** Accepts limits in `limits` or, without it, at the top level. Spec: patchApplicationServersByServerBuild. */
export const BuildInput = () =>
  z
    .object({
      ...LimitsInput().partial().shape,
      allocation: rowId(),
      oom_disabled: boolean().nullish(),
      limits: z
        .preprocess(emptyToNull, LimitsInput().nullable())
        .meta({ alsoAccepts: [{ type: ['object', 'array'], maxProperties: 0, maxItems: 0 }] })
        .nullish(),
      add_allocations: allocationIds(),
      remove_allocations: allocationIds(),
      feature_limits: FeatureLimitsInput(),
    })
    .superRefine((input, context) => {
      if (input.limits) return
      for (const name of requiredLimits) {
        if (input[name] === undefined) context.addIssue({ code: 'custom', path: [name], message: 'required' })
      }
    })
export type BuildInput = z.output<ReturnType<typeof BuildInput>>

/**
 * Changes the limits and allocations of a server and the usage of its nodes. The daemon learns of it at once,
 * or by a job when it does not answer. Refuses with 404; with 422 a primary allocation that does not exist or
 * belongs to another server; with 400 one that would not be the server's own, and removing the last one.
 * Records `admin:server.build`.
 * Spec: patchApplicationServersByServerBuild. Wings: POST /api/servers/{uuid}/sync
 */
export async function changeBuild(panel: Panel, id: number, input: BuildInput): Promise<void> {
  const change = await inTransaction(panel, async (tx): Promise<ServerChange> => {
    const server = await lockServer(tx, id)
    requireExpectedVersion(tx, versionOf(server))
    const { node, targetNodeId } = await findServerNode(tx, server)
    const allocationId = await changeAllocations(tx, server, input)
    const after = single(
      await tx.db
        .update(servers)
        .set({ ...buildColumns(input), allocationId, updatedAt: tx.now() })
        .where(eq(servers.id, id))
        .returning({ row: servers, version: rowVersion }),
    )
    await updateNodeUsage(tx, [server.nodeId, targetNodeId], server, after.row)
    await recordBuild(tx, server, after.row, input)
    await enqueueSync(tx, id)
    return { server, node, version: after.version }
  })
  await tryDeliverChange(panel, change)
}

/** Adds `allocations` to the changed fields when some were added or removed. */
async function recordBuild(tx: Tx, before: Server, after: Server, input: BuildInput): Promise<void> {
  const moved = (input.add_allocations?.length ?? 0) + (input.remove_allocations?.length ?? 0)
  const allocations = moved > 0 ? { allocations: moved } : {}
  await recordServerUpdate(tx, 'admin:server.build', before, { ...after, ...allocations })
}

/** Returns the columns to change. What was not sent stays, but for the allocation limit, which is then lifted. */
function buildColumns(input: BuildInput) {
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

/** Changes the usage of the nodes on which the server counts, in the order of their ids. */
async function updateNodeUsage(
  tx: Tx,
  nodeIds: (number | null)[],
  before: Pick<Server, 'memory' | 'disk'>,
  after: Pick<Server, 'memory' | 'disk'>,
): Promise<void> {
  const [memory, disk] = [after.memory - before.memory, after.disk - before.disk]
  if (memory === 0 && disk === 0) return
  const ids = nodeIds.filter((id) => id !== null).toSorted((one, other) => one - other)
  for (const id of ids) await changeNodeUsage(tx, id, { memory, disk })
}
