import { and, DrizzleQueryError, eq, getTableColumns, isNotNull, isNull, lt, lte, or, sql } from 'drizzle-orm'
import { rowsOf } from '../db/database.ts'
import { jobs } from '../db/schema.ts'
import type { Job } from '../db/tables/jobs.ts'
import { inTransaction, type Panel, type WakeableJob } from '../panel.ts'
import { countJob, timeJob } from './job-outcomes.ts'
import type { MailOrder } from './mail/orders.ts'

/** Every kind of job and what it is given: ids and names, never contents. */
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
  'revoke-daemon-access': { nodeId: number; userUuid: string; userId: number; serverUuids: string[] }
  'discard-backup-upload': { serverUuid: string; backupUuid: string; uploadId: string | null }
  'reconcile-database': { databaseId: number }
  'drop-database': { hostId: number; database: string; username: string; remote: string }
  'apply-database-password': { databaseId: number }
  'maintain-activity': Record<string, never>
  'settle-trash': { itemIds: string[] }
  'expire-trash': { serverId: number }
  'query-game': { serverId: number }
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
  'send-mail': MailOrder
}
export type JobName = keyof JobPayloads

/** A job in the hands of its handler. */
export type RunningJob = Job & {
  /** Seconds by which it comes too late: messages may come after a day, and panels may be away for longer. */
  lateness: number
}
export type JobHandlers = {
  [Name in JobName]: (panel: Panel, payload: JobPayloads[Name], job: RunningJob) => Promise<void>
}

export type JobOptions = {
  /** Not before; now when left out. */
  runAt?: Date
  /** At most one waiting job holds a key: asking again changes nothing, but has a job that runs just then run once more. */
  key?: string
  /** Seconds after which it is given up; a day when left out. */
  lifetimeSeconds?: number
}

/** Seconds for which one worker holds a job: longer than any handler may take, though clocks differ by two minutes. */
const leaseSeconds = 180
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
  const runAt = options.runAt ?? panel.now()
  const deadlineAt = new Date(runAt.getTime() + (options.lifetimeSeconds ?? dayInSeconds) * 1000)
  const [job] = await panel.db
    .insert(jobs)
    .values({ name, payload, runAt, deadlineAt, key: options.key ?? null })
    .onConflictDoUpdate({
      target: jobs.key,
      // Not as a parameter: a plan that holds for any state fits no index of those that wait.
      targetWhere: sql`${jobs.state} = 'waiting'`,
      // Whoever runs it now may have read what is changed here: his result does not count, it runs again.
      set: { fence: sql`${jobs.fence} + 1`, leasedUntil: null, runAt, deadlineAt },
      setWhere: isNotNull(jobs.leasedUntil),
    })
    .returning({ id: jobs.id, runAt: jobs.runAt })
  if (job) panel.wake([job])
}

/** The same for many jobs of one kind, in one statement; a key that a waiting job holds is passed over. */
export async function enqueueAll<Name extends JobName>(
  panel: Panel,
  name: Name,
  entries: { payload: JobPayloads[Name]; runAt: Date; key?: string }[],
): Promise<void> {
  if (entries.length === 0) return
  // One parameter for all of them: to build a statement of a thousand costs more than to run it.
  const added = await panel.db.execute(sql`
    insert into ${jobs} (name, payload, key, run_at, deadline_at)
    select ${name}, payload, key, "runAt", "runAt" + ${dayInSeconds} * interval '1 second'
    from jsonb_to_recordset(${JSON.stringify(entries)}::jsonb) as entry (payload jsonb, key text, "runAt" timestamptz)
    on conflict (key) where state = 'waiting' do nothing
    returning id, (extract(epoch from run_at) * 1000)::float8 as due`)
  const woken = rowsOf<{ id: string; due: number }>(added).map(({ id, due }) => ({
    id,
    runAt: new Date(due),
  }))
  if (woken.length > 0) panel.wake(woken)
}

/** No waiting job holds the key afterwards. */
export async function cancelJob(panel: Panel, key: string): Promise<void> {
  await panel.db
    .update(jobs)
    .set({ state: 'done', finishedAt: panel.now() })
    .where(and(eq(jobs.key, key), eq(jobs.state, 'waiting')))
}

/**
 * The waiting job with the key is this one from now on, whatever the one before was to do; also for a handler
 * whose own job comes again, which still holds the key while it runs.
 */
export async function replaceJob<Name extends JobName>(
  panel: Panel,
  name: Name,
  payload: JobPayloads[Name],
  options: JobOptions & { key: string },
): Promise<void> {
  await inTransaction(panel, async (inside) => {
    await cancelJob(inside, options.key)
    await enqueue(inside, name, payload, options)
  })
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
  const counted = { id, name: job.name, isKnown: job.name in handlers }
  if (job.state === 'dead') {
    countJob(panel, counted, 'dead')
    return 'failed'
  }
  const handler = handlers[job.name as JobName] as
    | ((panel: Panel, payload: unknown, job: RunningJob) => Promise<void>)
    | undefined
  const began = performance.now()
  try {
    if (!handler) throw new Error(`There is no job named ${job.name}.`)
    await handler(panel, job.payload, job).finally(() => timeJob(panel, counted, began))
  } catch (error) {
    countJob(panel, counted, await postpone(panel, job, error), error)
    return 'failed'
  }
  await panel.db
    .update(jobs)
    .set({
      state: 'done',
      finishedAt: panel.now(),
      leasedUntil: null,
      lastError: null,
      runAt: job.runAt,
    })
    .where(held(job))
  countJob(panel, counted, 'done')
  return 'done'
}

/** Jobs that a sweep looks for at a time, and how many of them run at once. */
const pageSize = 100
const mostAtOnce = 16

export type SweepLimits = {
  /** Jobs that became due later are left to their messages; none when left out. */
  dueBy?: Date
  /** No job is begun after this instant; at most a hundred when left out. */
  until?: Date
}

/**
 * Runs what is due, the longest due first: what woke nobody is found here. Jobs which they leave behind are
 * announced together. Returns how many ran. A fault of the panel is thrown once the others have ended.
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
      .where(and(claimable(panel.now()), dueBy && lte(jobs.runAt, dueBy)))
      .orderBy(jobs.runAt)
      .limit(pageSize)
    ran += await runAll(
      panel,
      due.map(({ id }) => id),
      handlers,
      until,
    )
    if (due.length < pageSize || !until || panel.now() >= until) return ran
  }
}

async function runAll(panel: Panel, ids: string[], handlers: JobHandlers, until?: Date) {
  const woken: WakeableJob[] = []
  const inside: Panel = { ...panel, wake: (jobs) => void woken.push(...jobs) }
  let ran = 0
  const worker = async () => {
    for (let id = ids.shift(); id !== undefined; id = ids.shift()) {
      if (until && panel.now() >= until) return
      if ((await runJob(inside, id, handlers)) !== 'not due') ran += 1
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: Math.min(mostAtOnce, ids.length) }, worker))
  if (woken.length > 0) panel.wake(woken)
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed) throw failed.reason
  return ran
}

const claimable = (now: Date) =>
  and(
    eq(jobs.state, 'waiting'),
    lte(jobs.runAt, now),
    or(isNull(jobs.leasedUntil), lt(jobs.leasedUntil, now)),
  )

const held = (job: Job) => and(eq(jobs.id, job.id), eq(jobs.fence, job.fence), eq(jobs.state, 'waiting'))

/**
 * The job as its worker has it from now on. Until it is finished it is due again when the lease ends, so one whose
 * workers die goes to the end of the line each time, and past its deadline it is given up unless nobody ever tried.
 */
async function claim(panel: Panel, id: string): Promise<RunningJob | undefined> {
  const now = panel.now()
  const due = panel.db.$with('due').as(
    panel.db
      .select({ id: jobs.id, runAt: jobs.runAt })
      .from(jobs)
      .where(and(eq(jobs.id, id), claimable(now)))
      .for('update'),
  )
  const instant = sql`${now.toISOString()}::timestamptz`
  const isOver = sql`${jobs.attempts} > 0 and ${jobs.deadlineAt} < ${instant}`
  const leasedUntil = new Date(now.getTime() + leaseSeconds * 1000)
  const [job] = await panel.db
    .with(due)
    .update(jobs)
    .set({
      state: sql`case when ${isOver} then 'dead' else ${jobs.state} end`,
      finishedAt: sql`case when ${isOver} then ${instant} end`,
      lastError: sql`case when ${isOver} then coalesce(${jobs.lastError}, 'Whoever ran it ended before it did.') else ${jobs.lastError} end`,
      runAt: leasedUntil,
      leasedUntil,
      fence: sql`${jobs.fence} + 1`,
      attempts: sql`${jobs.attempts} + 1`,
    })
    .from(due)
    .where(eq(jobs.id, due.id))
    .returning({ ...getTableColumns(jobs), dueAt: due.runAt })
  if (!job) return undefined
  const { dueAt, ...row } = job
  return { ...row, runAt: dueAt, lateness: (now.getTime() - dueAt.getTime()) / 1000 }
}

/** Tries again after 5 s, 10 s, 20 s … up to an hour, each with some jitter; gives up at the deadline. */
async function postpone(panel: Panel, job: Job, error: unknown): Promise<'postponed' | 'dead'> {
  const now = panel.now()
  const seconds = Math.min(3600, 5 * 2 ** Math.min(job.attempts - 1, 10)) * (0.75 + Math.random() / 2)
  const runAt = new Date(now.getTime() + seconds * 1000)
  const isDead = runAt > job.deadlineAt
  const [postponed] = await panel.db
    .update(jobs)
    .set({
      leasedUntil: null,
      runAt,
      lastError: reasonOf(error),
      ...(isDead ? { state: 'dead' as const, finishedAt: now } : {}),
    })
    .where(held(job))
    .returning({ id: jobs.id })
  if (postponed && !isDead) panel.wake([{ id: job.id, runAt }])
  return postponed && isDead ? 'dead' : 'postponed'
}

/** In words that may be stored and shown: around the reason of the database stands a statement with its values. */
function reasonOf(error: unknown): string {
  const reason = error instanceof DrizzleQueryError ? (error.cause ?? 'The database said no.') : error
  const text = reason instanceof Error ? reason.message : String(reason)
  return text.replaceAll('\0', '').toWellFormed().slice(0, 1000)
}
