import { and, eq, type SQL, sql } from 'drizzle-orm'
import { type Database, prepared, rowsOf } from '../../db/database.ts'
import { rowColumn } from '../../db/embed.ts'
import { jobs, nodes, scheduleRuns, schedules, scheduleSteps, servers } from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { ScheduleRun } from '../../db/tables/schedule-runs.ts'
import type { ScheduleStep } from '../../db/tables/schedule-steps.ts'
import type { Schedule } from '../../db/tables/schedules.ts'
import type { Server } from '../../db/tables/servers.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { type JobName, type JobPayloads, type MissingJobs, replaceJob } from '../jobs/enqueue.ts'
import type { JobEnd } from '../jobs/run.ts'
import { hasOpenTransfer } from '../servers/access.ts'
import { isTooLate, maxLatenessMs } from './due-schedules.ts'
import { reasons } from './reasons.ts'
import { type EndedStep, endRun, lockScheduleRow, type RunResult } from './end-run.ts'
import { embedSteps } from './run-history.ts'
import { markQueued, runJobKey } from './start-runs.ts'
import { isOnline, performStep, type StepOutcome } from './step-actions.ts'

const { placeholder } = sql

/** A run with everything that its next step needs. */
export type RunContext = {
  run: ScheduleRun
  schedule: Schedule
  server: Server
  node: Node
  isTransferring: boolean
  steps: ScheduleStep[]
}

/**
 * Job: performs the next step of a run when it is due and enqueues the job for the one after it. Ends a run that
 * is done or may not continue, which frees its schedule.
 *
 * A step is marked before its daemon is called, and the daemon is called at most once (P-1): a step whose outcome
 * was not stored is `unknown`, which counts as a failure of the node. A job that comes twice, late or early
 * changes nothing.
 */
export async function advanceRun(panel: Panel, { runId }: JobPayloads['run-schedule']): Promise<JobEnd> {
  const context = await findRun(panel, runId)
  if (context?.run.state !== 'running') return
  const step = context.steps.find(({ finishedAt }) => finishedAt === null)
  const result = step
    ? await findReasonToEnd(panel, context, step)
    : { state: 'succeeded' as const, reason: null }
  if (result) return endRun(panel, context, result)
  if (!step) return
  if (step.dueAt && step.dueAt > panel.now()) return scheduleAdvance(panel, runId, step.dueAt)
  const outcome = await executeStepOnce(panel, context, step)
  if (outcome) return recordStepOutcome(panel, context, step, outcome)
}

const unknownOutcome: StepOutcome = {
  state: 'unknown',
  reason: reasons.outcome_unknown,
  isDaemonFailure: true,
}

/** Returns null when another process performs the step, or when the run has just been cancelled. */
async function executeStepOnce(
  panel: Panel,
  context: RunContext,
  step: ScheduleStep,
): Promise<StepOutcome | null> {
  if (step.state === 'dispatched') return unknownOutcome
  const claimed = await dispatchStatement(panel.db).execute({
    step: step.id,
    run: step.runId,
    now: panel.now().toISOString(),
  })
  return claimed.length === 0 ? null : performStep(panel, context, step)
}

/** Marks a step as dispatched, unless another process has, or its run has been cancelled. */
const dispatchStatement = (db: Database) =>
  prepared(db, 'schedule_step_dispatch', (connection) => {
    const canContinue = sql`exists (select 1 from ${scheduleRuns} where ${scheduleRuns}.id = ${placeholder('run')}
      and ${scheduleRuns}.state = 'running' and ${scheduleRuns}.reason is null)`
    return connection
      .update(scheduleSteps)
      .set({ state: 'dispatched', dispatchedAt: sql`${placeholder('now')}::timestamptz` })
      .where(and(eq(scheduleSteps.id, placeholder('step')), eq(scheduleSteps.state, 'pending'), canContinue))
      .returning({ id: scheduleSteps.id })
      .prepare('schedule_step_dispatch')
  })

/** Returns how the run ends when its next step may not start; checked before each step. */
async function findReasonToEnd(
  panel: Panel,
  context: RunContext,
  step: ScheduleStep,
): Promise<RunResult | null> {
  const { run, schedule, server, node, isTransferring, steps } = context
  const skipped = (reason: string): RunResult => ({ state: 'skipped', reason })
  // The outcome of a step that was started is stored first, whatever has happened since.
  if (step.state === 'dispatched') return null
  if (run.reason !== null) return skipped(run.reason)
  if (server.status !== null) return skipped(reasons[`server_${server.status}`])
  if (node.maintenanceMode) return skipped(reasons.node_maintenance)
  if (isTransferring) return skipped(reasons.server_transferring)
  if (isStepTooLate(context, step, panel.now())) return skipped(reasons.panel_away)
  const isFirst = step === steps[0]
  const isDue = step.dueAt === null || step.dueAt <= panel.now()
  if (!schedule.onlyWhenOnline || !isFirst || !isDue) return null
  if (!(await isOnline(panel, context))) return skipped(reasons.server_offline)
  // A slow daemon may have taken until the next time of the schedule.
  return isStepTooLate(context, step, panel.now()) ? skipped(reasons.panel_away) : null
}

/** The first step may be as late as its scheduled run, further ones and those of a manual run 15 minutes. */
function isStepTooLate({ run, schedule, steps }: RunContext, step: ScheduleStep, now: Date): boolean {
  if (step.dueAt === null) return false
  return run.trigger === 'cron' && step === steps[0]
    ? isTooLate(schedule, step.dueAt, now)
    : now.getTime() - step.dueAt.getTime() > maxLatenessMs
}

/** Stores the outcome of a step, once, and continues with the next step or ends the run. */
async function recordStepOutcome(
  panel: Panel,
  context: RunContext,
  step: ScheduleStep,
  { state, reason, isDaemonFailure }: StepOutcome,
): Promise<JobEnd> {
  const endsRun = state !== 'succeeded' && !(step.continueOnFailure && isDaemonFailure)
  const next = endsRun ? undefined : context.steps[context.steps.indexOf(step) + 1]
  if (next) return continueWith(panel, context, { step, state, reason }, next)
  const result: RunResult = endsRun ? { state: 'failed', reason } : { state: 'succeeded', reason: null }
  return endRun(panel, context, result, { step, state, reason })
}

/** Stores the outcome of a step, once, and when the next one is due. */
async function continueWith(
  panel: Panel,
  { run, schedule }: RunContext,
  { step, ...outcome }: EndedStep,
  next: ScheduleStep,
): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const now = tx.now()
    await lockScheduleRow(tx, schedule)
    const recorded = await tx.db.execute(recordStatement(step, outcome, now))
    if (rowsOf(recorded).length === 0) return
    const dueAt = new Date(now.getTime() + next.timeOffset * 1000)
    await tx.db.update(scheduleSteps).set({ dueAt }).where(eq(scheduleSteps.id, next.id))
    await markQueued(tx, taskOf(step), false)
    await markQueued(tx, taskOf(next), true)
    await scheduleAdvance(tx, run.id, dueAt)
  })
}

/** Stores the outcome of a dispatched step, once; returns a row when it did. */
const recordStatement = (
  { id }: ScheduleStep,
  { state, reason }: Pick<StepOutcome, 'state' | 'reason'>,
  now: Date,
): SQL => sql`
  update ${scheduleSteps} set state = ${state}, reason = ${reason}, finished_at = ${now.toISOString()}::timestamptz
  where id = ${id} and state = 'dispatched' returning id`

const taskOf = ({ taskId }: ScheduleStep) => (taskId === null ? [] : [{ id: taskId }])

const scheduleAdvance = (tx: Tx, runId: string, runAt: Date) =>
  replaceJob(tx, 'run-schedule', { runId }, { key: runJobKey(runId), runAt })

async function findRun(panel: Panel, id: string): Promise<RunContext | null> {
  const [context] = await runStatement(panel.db).execute({ run: id })
  return context ?? null
}

const runStatement = (db: Database) =>
  prepared(db, 'schedule_run', (connection) =>
    connection
      .select({
        run: rowColumn(scheduleRuns),
        schedule: rowColumn(schedules),
        server: rowColumn(servers),
        node: rowColumn(nodes),
        isTransferring: hasOpenTransfer(),
        steps: embedSteps(),
      })
      .from(scheduleRuns)
      .innerJoin(schedules, eq(schedules.id, scheduleRuns.scheduleId))
      .innerJoin(servers, eq(servers.id, schedules.serverId))
      .innerJoin(nodes, eq(nodes.id, servers.nodeId))
      .where(eq(scheduleRuns.id, placeholder('run')))
      .prepare('schedule_run'),
  )

/** Milliseconds after which a run without a job is recovered. */
const recoveryDelayMs = 2 * 60_000

/** Selects a job for each running run that has none, 1,000 at most (P-1). */
export const abandonedRunJobs = (now: Date): MissingJobs => {
  const before = new Date(now.getTime() - recoveryDelayMs).toISOString()
  const key = sql`${runJobKey('')}::text || run.id`
  return sql`select ${'run-schedule' satisfies JobName}::text, jsonb_build_object('runId', run.id), ${key}
    from ${scheduleRuns} run where run.state = 'running' and run.started_at < ${before}::timestamptz
    and not exists (select 1 from ${jobs} where key = ${key} and state = 'waiting') limit 1000`
}
