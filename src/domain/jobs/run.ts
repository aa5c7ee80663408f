import {
  and,
  DrizzleQueryError,
  eq,
  getTableColumns,
  isNull,
  lt,
  lte,
  or,
  type Placeholder,
  type SQL,
  sql,
} from 'drizzle-orm'
import pLimit from 'p-limit'
import { type Database, prepared } from '../../db/database.ts'
import { jobs } from '../../db/schema.ts'
import type { Job } from '../../db/tables/jobs.ts'
import type { Panel, WakeableJob } from '../../panel.ts'
import type { JobName, JobPayloads } from './enqueue.ts'
import { observeJobDuration, recordJobOutcome } from './outcomes.ts'

/** A job as its handler gets it. */
export type RunningJob = Job & {
  /** Seconds since it was due: a queue may deliver messages a day late, and the panel may have been down. */
  latenessSeconds: number
}
/** `finished` when a handler has marked its job as done together with its last change. */
export type JobEnd = 'finished' | void
export type JobHandlers = {
  [Name in JobName]: (panel: Panel, payload: JobPayloads[Name], job: RunningJob) => Promise<JobEnd>
}

const { placeholder } = sql

/** Seconds for which one worker leases a job: longer than any handler runs, with two minutes for differing clocks. */
const leaseSeconds = 180

/**
 * Runs one job if it is due and not leased; does nothing otherwise, so that a message may come twice, late or
 * early. A failed job is retried until its deadline.
 */
export async function runJob(
  panel: Panel,
  id: string,
  handlers: JobHandlers,
): Promise<'done' | 'failed' | 'not due'> {
  const job = await claimJob(panel, id)
  if (!job) return 'not due'
  const labels = { id, name: job.name, isKnown: job.name in handlers }
  if (job.state === 'dead') {
    recordJobOutcome(panel, labels, 'dead')
    return 'failed'
  }
  const handler = handlers[job.name as JobName] as
    | ((panel: Panel, payload: unknown, job: RunningJob) => Promise<JobEnd>)
    | undefined
  const startMs = performance.now()
  let end: JobEnd
  try {
    if (!handler) throw new Error(`There is no job named ${job.name}.`)
    end = await handler(panel, job.payload, job).finally(() => observeJobDuration(panel, labels, startMs))
  } catch (error) {
    recordJobOutcome(panel, labels, await rescheduleJob(panel, job, error), error)
    return 'failed'
  }
  if (end !== 'finished') await storeDone(panel, job)
  recordJobOutcome(panel, labels, 'done')
  return 'done'
}

/** Jobs that a sweep reads at a time, and how many of them run at once. */
const sweepPageSize = 100
const maxConcurrency = 16

export type SweepLimits = {
  /** Skips jobs that became due later; by default none. */
  dueBy?: Date
  /** Starts no job after this time; without it the sweep reads one page. */
  until?: Date
}

/**
 * Runs the due jobs whose message was lost, the longest due first, and returns how many ran. Jobs that they
 * enqueue are woken together. Throws a fault of the panel once the other jobs have ended.
 */
export async function sweepJobs(
  panel: Panel,
  handlers: JobHandlers,
  { dueBy, until }: SweepLimits = {},
): Promise<number> {
  let ran = 0
  for (;;) {
    const due = await panel.db
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(isClaimable(panel.now()), dueBy && lte(jobs.runAt, dueBy)))
      .orderBy(jobs.runAt)
      .limit(sweepPageSize)
    ran += await runConcurrently(
      panel,
      due.map(({ id }) => id),
      handlers,
      until,
    )
    if (due.length < sweepPageSize || !until || panel.now() >= until) return ran
  }
}

async function runConcurrently(panel: Panel, ids: string[], handlers: JobHandlers, until?: Date) {
  const woken: WakeableJob[] = []
  const bufferingPanel: Panel = { ...panel, wake: (jobs) => void woken.push(...jobs) }
  const limit = pLimit(maxConcurrency)
  let ran = 0
  const run = async (id: string) => {
    if (until && panel.now() >= until) return
    if ((await runJob(bufferingPanel, id, handlers)) !== 'not due') ran += 1
  }
  const results = await Promise.allSettled(ids.map((id) => limit(run, id)))
  if (woken.length > 0) panel.wake(woken)
  const failed = results.find((end) => end.status === 'rejected')
  if (failed) throw failed.reason
  return ran
}

const isClaimable = (now: Date | SQL) =>
  and(
    eq(jobs.state, 'waiting'),
    lte(jobs.runAt, now),
    or(isNull(jobs.leasedUntil), lt(jobs.leasedUntil, now)),
  )

const isHeldLease = (id: string | Placeholder, fence: number | Placeholder) =>
  and(eq(jobs.id, id), eq(jobs.fence, fence), eq(jobs.state, 'waiting'))

/** Set in each statement: a prepared one would keep the time at which it was built. */
const nowSql = sql`${placeholder('now')}::timestamptz`

const storeDone = (panel: Panel, { id, fence, runAt }: Job) =>
  doneStatement(panel.db).execute({ id, fence, runAt: runAt.toISOString(), now: panel.now().toISOString() })

const doneStatement = (db: Database) =>
  prepared(db, 'job_done', (connection) =>
    connection
      .update(jobs)
      .set({
        state: 'done',
        finishedAt: nowSql,
        leasedUntil: null,
        lastError: null,
        runAt: sql`${placeholder('runAt')}::timestamptz`,
        updatedAt: nowSql,
      })
      .where(isHeldLease(placeholder('id'), placeholder('fence')))
      .prepare('job_done'),
  )

/**
 * Leases the job for this worker. Until it is finished it is due again at the end of the lease, so that a job
 * whose workers die does not hold up others. Past its deadline it is dead, unless it was never tried.
 */
async function claimJob(panel: Panel, id: string): Promise<RunningJob | undefined> {
  const now = panel.now()
  const leasedUntil = new Date(now.getTime() + leaseSeconds * 1000)
  const values = { id, now: now.toISOString(), leasedUntil: leasedUntil.toISOString() }
  const [job] = await claimStatement(panel.db).execute(values)
  if (!job) return undefined
  const { dueAt, ...row } = job
  return { ...row, runAt: dueAt, latenessSeconds: (now.getTime() - dueAt.getTime()) / 1000 }
}

const claimStatement = (db: Database) =>
  prepared(db, 'job_claim', (connection) => {
    const due = connection.$with('due').as(
      connection
        .select({ id: jobs.id, runAt: jobs.runAt })
        .from(jobs)
        .where(and(eq(jobs.id, placeholder('id')), isClaimable(nowSql)))
        .for('update'),
    )
    const hasExpired = sql`${jobs.attempts} > 0 and ${jobs.deadlineAt} < ${nowSql}`
    const leasedUntil = sql`${placeholder('leasedUntil')}::timestamptz`
    return connection
      .with(due)
      .update(jobs)
      .set({
        state: sql`case when ${hasExpired} then 'dead' else ${jobs.state} end`,
        finishedAt: sql`case when ${hasExpired} then ${nowSql} end`,
        lastError: sql`case when ${hasExpired} then coalesce(${jobs.lastError}, 'The worker ended before the job.') else ${jobs.lastError} end`,
        runAt: leasedUntil,
        leasedUntil,
        fence: sql`${jobs.fence} + 1`,
        attempts: sql`${jobs.attempts} + 1`,
        updatedAt: nowSql,
      })
      .from(due)
      .where(eq(jobs.id, due.id))
      .returning({ ...getTableColumns(jobs), dueAt: due.runAt })
      .prepare('job_claim')
  })

/**
 * Reschedules a failed job after 5 s, 10 s, 20 s … up to an hour, with jitter; it is dead when that is past its
 * deadline.
 */
async function rescheduleJob(panel: Panel, job: Job, error: unknown): Promise<'postponed' | 'dead'> {
  const now = panel.now()
  const seconds = Math.min(3600, 5 * 2 ** Math.min(job.attempts - 1, 10)) * (0.75 + Math.random() / 2)
  const runAt = new Date(now.getTime() + seconds * 1000)
  const isDead = runAt > job.deadlineAt
  const [postponed] = await panel.db
    .update(jobs)
    .set({
      leasedUntil: null,
      runAt,
      lastError: errorMessage(error),
      ...(isDead ? { state: 'dead' as const, finishedAt: now } : {}),
    })
    .where(isHeldLease(job.id, job.fence))
    .returning({ id: jobs.id })
  if (postponed && !isDead) panel.wake([{ id: job.id, runAt }])
  return postponed && isDead ? 'dead' : 'postponed'
}

/**
 * Describes an error in text that may be stored and shown. The message of a query error has the statement with
 * its values, so only its cause is used.
 */
function errorMessage(error: unknown): string {
  const reason =
    error instanceof DrizzleQueryError ? (error.cause ?? 'The database refused a statement.') : error
  const text = reason instanceof Error ? reason.message : String(reason)
  return text.replaceAll('\0', '').toWellFormed().slice(0, 1000)
}
