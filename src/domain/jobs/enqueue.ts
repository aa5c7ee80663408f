import { and, eq, isNotNull, type SQL, sql } from 'drizzle-orm'
import { rowsOf } from '../../db/database.ts'
import { jobs } from '../../db/schema.ts'
import { inTransaction, type Tx } from '../../panel.ts'
import type { MailJob } from '../mail/enqueue.ts'

/** Payloads by the name of the job: ids and names, never contents. */
export type JobPayloads = {
  'create-server-on-node': { serverId: number; startOnCompletion: boolean }
  'delete-server-from-node': { nodeId: number; serverUuid: string }
  'sync-server': { serverId: number }
  'reinstall-server-on-node': { serverId: number }
  'configure-node': { nodeId: number }
  'configure-nodes': { locationIds: number[] }
  'start-transfer': { transferId: number }
  'cancel-transfer': { nodeId: number; serverUuid: string }
  'expire-transfer': { transferId: number; serverId: number }
  'revoke-daemon-access': {
    nodeId: number
    userUuid: string
    userId: number
    serverUuids: string[]
    /** Uuids that stand for those who act for the user; jobs of earlier versions have none. */
    actingUuids?: string[]
  }
  'discard-backup-upload': { serverUuid: string; backupUuid: string; uploadId: string | null }
  'reconcile-database': { databaseId: number }
  'drop-database': { hostId: number; database: string; username: string; remote: string }
  'apply-database-password': { databaseId: number }
  'maintain-activity': Record<string, never>
  'settle-trash': { itemIds: string[] }
  'expire-trash': { serverId: number }
  'query-game': { serverId: number }
  'check-nodes': { nodeIds: number[] }
  'run-bulk-operation': { operationId: number }
  'run-schedule': { runId: string }
  'start-backup': { backupId: number }
  'restore-backup': { backupId: number; truncate: boolean }
  'delete-backup': { backupId: number }
  'expire-backup': { backupId: number }
  'discard-backup-archive': { nodeId: number; serverUuid: string; backupUuid: string }
  'watch-install': { serverId: number; since: string }
  'watch-restoration': { serverId: number; backupId: number }
  'sweep-uploads': Record<string, never>
  prune: Record<string, never>
  'send-mail': MailJob
}
export type JobName = keyof JobPayloads

export type JobOptions = {
  /** Earliest time of the run; now by default. */
  runAt?: Date
  /**
   * At most one waiting job has a key. A second one with the key is not added, but a job that is running runs
   * once more.
   */
  key?: string
  /** Seconds until the deadline, after which it is not tried again; a day by default. */
  lifetimeSeconds?: number
}

/** Seconds until the deadline of a job, by default. */
export const jobLifetimeSeconds = 86_400

/**
 * Enqueues a job that runs after the commit, even if this process dies. Call it inside the transaction that
 * needs the job. The worker is woken after the commit, or the next tick finds the job.
 */
export async function enqueueJob<Name extends JobName>(
  tx: Tx,
  name: Name,
  payload: JobPayloads[Name],
  options: JobOptions = {},
): Promise<void> {
  const runAt = options.runAt ?? tx.now()
  const deadlineAt = new Date(runAt.getTime() + (options.lifetimeSeconds ?? jobLifetimeSeconds) * 1000)
  const [job] = await tx.db
    .insert(jobs)
    .values({ name, payload, runAt, deadlineAt, key: options.key ?? null })
    .onConflictDoUpdate({
      target: jobs.key,
      // Written into the statement: the plan for a parameter could not use the index of waiting jobs.
      targetWhere: sql`${jobs.state} = 'waiting'`,
      // The run in progress may have read what is changed here, so its result does not count.
      set: { fence: sql`${jobs.fence} + 1`, leasedUntil: null, runAt, deadlineAt },
      setWhere: isNotNull(jobs.leasedUntil),
    })
    .returning({ id: jobs.id, runAt: jobs.runAt })
  if (job) tx.wake([job])
}

/** Jobs to enqueue: a query with the columns `name`, `payload`, `key`. */
export type MissingJobs = SQL

/**
 * Enqueues the jobs of these queries, due now, in one statement; skips those whose key a waiting job has. Returns how
 * many were added, by their name.
 */
export async function enqueueMissingJobs(
  tx: Tx,
  queries: MissingJobs[],
): Promise<ReadonlyMap<string, number>> {
  const now = tx.now()
  const runAt = sql`${now.toISOString()}::timestamptz`
  const union = sql.join(
    queries.map((query) => sql`(${query})`),
    sql` union all `,
  )
  const result = await tx.db.execute(sql`
    insert into ${jobs} (name, payload, key, run_at, deadline_at)
    select name, payload, key, ${runAt}, ${runAt} + ${jobLifetimeSeconds} * interval '1 second'
    from (${union}) missing (name, payload, key)
    on conflict (key) where state = 'waiting' do nothing returning id, name`)
  const added = rowsOf<{ id: string; name: string }>(result)
  if (added.length > 0) tx.wake(added.map(({ id }) => ({ id, runAt: now })))
  const counts = new Map<string, number>()
  for (const { name } of added) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

/** Cancels the waiting job with this key. */
export async function cancelJob(tx: Tx, key: string): Promise<void> {
  await tx.db
    .update(jobs)
    .set({ state: 'done', finishedAt: tx.now() })
    .where(and(eq(jobs.key, key), eq(jobs.state, 'waiting')))
}

/**
 * Cancels the waiting job with the key and enqueues this one. A handler may call it to repeat its own job,
 * which has the key while it runs.
 */
export async function replaceJob<Name extends JobName>(
  tx: Tx,
  name: Name,
  payload: JobPayloads[Name],
  options: JobOptions & { key: string },
): Promise<void> {
  await inTransaction(tx, async (tx) => {
    await cancelJob(tx, options.key)
    await enqueueJob(tx, name, payload, options)
  })
}

/** Deletes the waiting job with this key, for work that was undone in the same request. */
export async function deleteWaitingJob(tx: Tx, key: string): Promise<void> {
  await tx.db.delete(jobs).where(and(eq(jobs.key, key), eq(jobs.state, 'waiting')))
}

/** Whether a job with this key is waiting: neither done nor cancelled. */
export async function isJobWaiting(tx: Tx, key: string): Promise<boolean> {
  const [job] = await tx.db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.key, key), eq(jobs.state, 'waiting')))
  return job !== undefined
}
