import { eq } from 'drizzle-orm'
import pLimit from 'p-limit'
import { bulkOperations } from '../../db/schema.ts'
import type { BulkOperation } from '../../db/tables/bulk-operations.ts'
import { ApiError, conflict } from '../../errors.ts'
import type { Actor, Panel } from '../../panel.ts'
import { requireAccessLevel } from '../auth/access-levels.ts'
import { findStoredCaller } from '../auth/stored-caller.ts'
import { type JobPayloads, replaceJob } from '../jobs/enqueue.ts'
import { performAction } from './actions.ts'
import {
  claimItem,
  failPending,
  finishOperation,
  listPending,
  settleAbandoned,
  storeItemDone,
  storeItemFailed,
} from './items.ts'
import { bulkJobKey, bulkJobLifetimeSeconds } from './start.ts'

/** Servers of one run of the job, and how many of them at once. */
const maxItemsPerRun = 50
const maxConcurrency = 8
/** Milliseconds after which a run begins no further server, so that it ends long before its lease. */
const maxRunMs = 20_000
/** Milliseconds after which servers that were not begun fail: the action is no longer expected. */
const maxAgeMs = 60 * 60_000

const tooLate = conflict('bulk_too_late', 'The panel did not get to this server within an hour.')

/**
 * Runs `run-bulk-operation`: does the action to some servers, as the administrator who asked, and repeats itself until
 * none is left. One that fails keeps its cause and does not stop the others. A server is marked before anything is done
 * to it, and power signals, reinstallations and transfers are begun at most once. When the caller may no longer write
 * servers, what is left fails. Spec: docs/rules.md#jb-3.
 */
export async function runBulkOperation(
  panel: Panel,
  { operationId }: JobPayloads['run-bulk-operation'],
): Promise<void> {
  const [operation] = await panel.db.select().from(bulkOperations).where(eq(bulkOperations.id, operationId))
  if (!operation || operation.finishedAt) return
  await settleAbandoned(panel, operation)
  if (panel.now().getTime() - operation.createdAt.getTime() > maxAgeMs) {
    await failPending(panel, operationId, tooLate)
  }
  const faults = await runItems(panel, operation)
  if (!(await finishOperation(panel, operationId))) {
    const options = { key: bulkJobKey(operationId), lifetimeSeconds: bulkJobLifetimeSeconds }
    await replaceJob(panel, 'run-bulk-operation', { operationId }, options)
  }
  // The servers are settled; what went wrong in the panel is counted and logged as that of other jobs.
  if (faults.length > 0) throw faults[0]
}

/** Does the action to the next servers; returns what failed unexpectedly. */
async function runItems(panel: Panel, operation: BulkOperation): Promise<unknown[]> {
  const until = panel.now().getTime() + maxRunMs
  // Two transfers at once would choose the same allocations.
  const concurrency = Math.min(maxConcurrency, panel.config.maxDaemonCalls ?? maxConcurrency)
  const limit = pLimit(operation.action === 'transfer' ? 1 : concurrency)
  const faults: unknown[] = []
  const run = async (serverId: number) => {
    if (panel.now().getTime() >= until) return
    const actor = await findAuthority(panel, operation)
    if (!actor || !(await claimItem(panel, operation.id, serverId))) return
    try {
      await performAction({ ...panel, actor, ip: operation.ip }, operation, serverId)
    } catch (error) {
      if (!(error instanceof ApiError)) faults.push(error)
      return storeItemFailed(panel, operation.id, serverId, error)
    }
    await storeItemDone(panel, operation.id, serverId)
  }
  const serverIds = await listPending(panel, operation.id, maxItemsPerRun)
  const ends = await Promise.allSettled(serverIds.map((serverId) => limit(run, serverId)))
  const broken = ends.find((end) => end.status === 'rejected')
  // The database does not answer: the job is tried again and settles what is left running.
  if (broken) throw broken.reason
  return faults
}

/** Returns the caller while they may write servers; else fails what is left and returns null. */
async function findAuthority(panel: Panel, operation: BulkOperation): Promise<Actor | null> {
  try {
    const actor = await findStoredCaller(panel, operation)
    requireAccessLevel({ ...panel, actor }, 'servers', 'write')
    return actor
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    await failPending(panel, operation.id, error)
    return null
  }
}
