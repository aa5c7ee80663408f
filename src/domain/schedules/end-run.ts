import { and, eq, type SQL, sql } from 'drizzle-orm'
import { type Database, prepared } from '../../db/database.ts'
import { jobs, scheduleRuns, schedules, scheduleSteps, servers, tasks } from '../../db/schema.ts'
import type { ScheduleRun } from '../../db/tables/schedule-runs.ts'
import type { ScheduleStep } from '../../db/tables/schedule-steps.ts'
import type { Schedule } from '../../db/tables/schedules.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import type { JobEnd } from '../jobs/run.ts'
import { notifyUsers } from '../notifications/notify.ts'
import { runJobKey } from './start-runs.ts'
import type { StepOutcome } from './step-actions.ts'

const { placeholder } = sql

/** How a run ends. */
export type RunResult = { state: 'succeeded' | 'failed' | 'skipped'; reason: string | null }

/** A step with its outcome. */
export type EndedStep = { step: ScheduleStep } & Pick<StepOutcome, 'state' | 'reason'>

/**
 * Ends a run, once, and its job: steps that did not start are skipped, and the schedule is no longer processing unless
 * it has another run. With the outcome of its last step, unless that is stored already.
 *
 * In one statement, since 10,000 runs may end in the same minute. Where the schedule has changed since the statement
 * began, which sees the runs of before, it is repeated once the schedule is locked. A failed run locks it at once, and
 * notifies the users of the server.
 */
export async function endRun(
  panel: Panel,
  { run, schedule }: { run: Pick<ScheduleRun, 'id'>; schedule: Schedule },
  { state, reason }: RunResult,
  last: EndedStep | null = null,
): Promise<JobEnd> {
  const values = {
    run: run.id,
    schedule: schedule.id,
    key: runJobKey(run.id),
    now: panel.now().toISOString(),
    state,
    reason: reason?.slice(0, 500) ?? null,
    step: last?.step.id ?? null,
    stepState: last?.state ?? null,
    stepReason: last?.reason ?? null,
  }
  if (state !== 'failed') {
    const ended = await endStatement(panel.db).execute({ ...values, isLocked: false })
    if (ended.length > 0) return 'finished'
  }
  await inTransaction(panel, async (tx) => {
    await keepServer(tx, schedule)
    await lockScheduleRow(tx, schedule)
    const ended = await endStatement(tx.db).execute({ ...values, isLocked: true })
    if (state === 'failed' && ended.length > 0) await notifyOfFailure(tx, schedule)
  })
}

/** Keeps the server from being deleted meanwhile: who deletes it locks it before its schedules. */
const keepServer = (tx: Tx, { serverId }: Schedule) =>
  tx.db.execute(sql`select from ${servers} where id = ${serverId} for key share`)

const notifyOfFailure = (tx: Tx, { id, serverId, name }: Schedule) =>
  notifyUsers(tx, 'schedule.failed', { serverId, subject: String(id), properties: { name, schedule_id: id } })

/**
 * Locks the schedule before a run changes, so that changes happen one after the other and cannot deadlock.
 */
export const lockScheduleRow = (tx: Tx, { id }: Schedule) =>
  tx.db.execute(sql`select from ${schedules} where id = ${id} for update`)

const endStatement = (db: Database) =>
  prepared(db, 'schedule_run_end', (connection) =>
    connection
      .with(...endCtes(connection))
      .update(schedules)
      .set({ lastRunAt: at, isProcessing: hasOtherRun })
      .where(and(eq(schedules.id, scheduleId), sql`exists (select from ended)`))
      .returning({ id: schedules.id })
      .prepare('schedule_run_end'),
  )

const at = sql`${placeholder('now')}::timestamptz`
const runId = sql`${placeholder('run')}::uuid`
const scheduleId = sql`${placeholder('schedule')}::int`
const stepId = sql`${placeholder('step')}::int`
const hasOtherRun = sql`exists (select from ${scheduleRuns} other where other.schedule_id = ${scheduleId}
  and other.id <> ${runId} and other.state = 'running' and other.reason is null)`

/** What is done in this order, by the names of their results; nothing without a row in `ready`. */
function endCtes(db: Database) {
  const ctes: Record<string, SQL> = {
    // Whatever begins or ends a run changes the row: in its place of before, nothing has since.
    locked: sql`select ctid from ${schedules} where id = ${scheduleId} for update`,
    ready: sql`select from locked
      where ${placeholder('isLocked')}::boolean or ctid = (select ctid from ${schedules} where id = ${scheduleId})`,
    recorded: sql`update ${scheduleSteps}
      set state = ${placeholder('stepState')}, reason = ${placeholder('stepReason')}, finished_at = ${at}
      where id = ${stepId} and state = 'dispatched' and exists (select from ready) returning id`,
    ended: sql`update ${scheduleRuns}
      set state = ${placeholder('state')}, reason = ${placeholder('reason')}, finished_at = ${at}
      where id = ${runId} and state = 'running' and exists (select from ready)
      and (${stepId} is null or exists (select from recorded)) returning id`,
    skipped: sql`update ${scheduleSteps} set state = 'skipped', finished_at = ${at}
      where run_id in (select id from ended) and state = 'pending'`,
    dequeued_tasks: sql`update ${tasks} set is_queued = false
      where schedule_id = ${scheduleId} and is_queued and exists (select from ended) and not ${hasOtherRun}`,
    finished_jobs: sql`update ${jobs} set state = 'done', finished_at = ${at}
      where key = ${placeholder('key')} and state = 'waiting' and exists (select from ended)`,
  }
  return Object.entries(ctes).map(([name, query]) => db.$with(name, {}).as(query))
}
