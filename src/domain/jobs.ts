import { and, eq, isNotNull, isNull, lt, lte, or, sql } from 'drizzle-orm'
import { jobs } from '../db/schema.ts'
import type { Job } from '../db/tables/jobs.ts'
import type { Panel } from '../panel.ts'

/** Every kind of job and what it is given: ids and names, never contents. */
export type JobPayloads = {
  'create-server-on-node': { serverId: number; startOnCompletion: boolean }
  'delete-server-from-node': { nodeId: number; serverUuid: string }
  'sync-server': { serverId: number }
  'reinstall-server-on-node': { serverId: number }
  'configure-node': { nodeId: number }
  'start-transfer': { transferId: number }
  'cancel-transfer': { nodeId: number; serverUuid: string }
  'expire-transfer': { transferId: number; serverId: number }
  'revoke-daemon-access': { nodeId: number; userUuid: string; userId: number; serverUuids: string[] }
  'discard-backup-upload': { serverUuid: string; backupUuid: string; uploadId: string | null }
  'reconcile-database': { databaseId: number }
  'drop-database': { hostId: number; database: string; username: string; remote: string }
  'apply-database-password': { databaseId: number }
  'maintain-activity': Record<string, never>
}
export type JobName = keyof JobPayloads
export type JobHandlers = {
  [Name in JobName]: (panel: Panel, payload: JobPayloads[Name], job: Job) => Promise<void>
}

export type JobOptions = {
  /** Not before; now when left out. */
  runAt?: Date
  /** At most one waiting job holds a key: asking again changes nothing, but has a job that runs just then run once more. */
  key?: string
  /** Seconds after which it is given up; a day when left out. */
  lifetimeSeconds?: number
}

/** Seconds for which one worker holds a job: longer than any handler may take. */
const leaseSeconds = 120
const dayInSeconds = 86_400

/**
 * Writes down work that will be done after the commit, also when this process dies: call it inside
 * the transaction which wants the work. The worker is woken at once, or found by the minute sweep.
 */
export async function enqueue<Name extends JobName>(
  panel: Panel,
  name: Name,
  payload: JobPayloads[Name],
  options: JobOptions = {},
): Promise<void> {
  const now = panel.now()
  const runAt = options.runAt ?? now
  const [job] = await panel.db
    .insert(jobs)
    .values({
      name,
      payload,
      runAt,
      key: options.key ?? null,
      deadlineAt: new Date(runAt.getTime() + (options.lifetimeSeconds ?? dayInSeconds) * 1000),
    })
    .onConflictDoUpdate({
      target: jobs.key,
      targetWhere: eq(jobs.state, 'waiting'),
      // Whoever runs it now may have read what is changed here: his result does not count, it runs again.
      set: { fence: sql`${jobs.fence} + 1`, leasedUntil: null },
      setWhere: isNotNull(jobs.leasedUntil),
    })
    .returning({ id: jobs.id, runAt: jobs.runAt })
  if (job) panel.wake(job)
}

/** No waiting job holds the key afterwards. */
export async function cancelJob(panel: Panel, key: string): Promise<void> {
  await panel.db
    .update(jobs)
    .set({ state: 'done', finishedAt: panel.now() })
    .where(and(eq(jobs.key, key), eq(jobs.state, 'waiting')))
}

/** As if nobody had ever asked for the waiting job with the key: for work that was undone in the same request. */
export async function forgetJob(panel: Panel, key: string): Promise<void> {
  await panel.db.delete(jobs).where(and(eq(jobs.key, key), eq(jobs.state, 'waiting')))
}

/** Whether a job with the key still waits: nobody has done it, or called it off. */
export async function isWaiting(panel: Panel, key: string): Promise<boolean> {
  const [job] = await panel.db
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(eq(jobs.key, key), eq(jobs.state, 'waiting')))
  return job !== undefined
}

/**
 * Runs one job if it is due and nobody holds it; anything else changes nothing, so a message may
 * come twice, late, or early. A failure is tried again later, until its deadline.
 */
export async function runJob(
  panel: Panel,
  id: string,
  handlers: JobHandlers,
): Promise<'done' | 'failed' | 'not due'> {
  const job = await claim(panel, id)
  if (!job) return 'not due'
  const handler = handlers[job.name as JobName] as
    | ((panel: Panel, payload: unknown, job: Job) => Promise<void>)
    | undefined
  try {
    if (!handler) throw new Error(`There is no job named ${job.name}.`)
    await handler(panel, job.payload, job)
  } catch (error) {
    await postpone(panel, job, error)
    return 'failed'
  }
  await panel.db
    .update(jobs)
    .set({ state: 'done', finishedAt: panel.now(), leasedUntil: null, lastError: null })
    .where(held(job))
  return 'done'
}

/** Runs what is due, at most `limit` jobs: what woke nobody is found here. Returns how many ran. */
export async function sweepJobs(panel: Panel, handlers: JobHandlers, limit = 100): Promise<number> {
  const due = await panel.db
    .select({ id: jobs.id })
    .from(jobs)
    .where(claimable(panel.now()))
    .orderBy(jobs.runAt)
    .limit(limit)
  const ids = due.map(({ id }) => id)
  let ran = 0
  const worker = async () => {
    for (let id = ids.shift(); id !== undefined; id = ids.shift()) {
      if ((await runJob(panel, id, handlers)) !== 'not due') ran += 1
    }
  }
  await Promise.all([worker(), worker(), worker(), worker()])
  return ran
}

const claimable = (now: Date) =>
  and(
    eq(jobs.state, 'waiting'),
    lte(jobs.runAt, now),
    or(isNull(jobs.leasedUntil), lt(jobs.leasedUntil, now)),
  )

const held = (job: Job) => and(eq(jobs.id, job.id), eq(jobs.fence, job.fence), eq(jobs.state, 'waiting'))

async function claim(panel: Panel, id: string): Promise<Job | undefined> {
  const now = panel.now()
  const [job] = await panel.db
    .update(jobs)
    .set({
      leasedUntil: new Date(now.getTime() + leaseSeconds * 1000),
      fence: sql`${jobs.fence} + 1`,
      attempts: sql`${jobs.attempts} + 1`,
    })
    .where(and(eq(jobs.id, id), claimable(now)))
    .returning()
  return job
}

/** Tries again after 5 s, 10 s, 20 s … up to an hour, each with some jitter; gives up at the deadline. */
async function postpone(panel: Panel, job: Job, error: unknown): Promise<void> {
  const now = panel.now()
  const seconds = Math.min(3600, 5 * 2 ** Math.min(job.attempts - 1, 10)) * (0.75 + Math.random() / 2)
  const runAt = new Date(now.getTime() + seconds * 1000)
  const isDead = runAt > job.deadlineAt
  await panel.db
    .update(jobs)
    .set({
      leasedUntil: null,
      runAt,
      lastError: (error instanceof Error ? error.message : String(error)).slice(0, 1000),
      ...(isDead ? { state: 'dead' as const, finishedAt: now } : {}),
    })
    .where(held(job))
  if (!isDead) panel.wake({ id: job.id, runAt })
}
