import { and, eq, sql } from 'drizzle-orm'
import { embedMany } from '../../db/embed.ts'
import {
  jobs,
  nodes,
  scheduleRuns,
  schedules,
  scheduleSteps,
  servers,
  tasks,
  transfers,
} from '../../db/schema.ts'
import type { Node } from '../../db/tables/nodes.ts'
import type { ScheduleRun } from '../../db/tables/schedule-runs.ts'
import type { Schedule } from '../../db/tables/schedules.ts'
import type { ScheduleStep } from '../../db/tables/schedule-steps.ts'
import type { Server } from '../../db/tables/servers.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { type JobPayloads, replaceJob } from '../jobs.ts'
import { isTooLate, markQueued, runKey, usualPatience } from './claims.ts'
import { reasons } from './reasons.ts'
import { isOnline, type Outcome, perform } from './steps.ts'

/** A run with all that its next step needs. */
export type FoundRun = {
  run: ScheduleRun
  schedule: Schedule
  server: Server
  node: Node
  isTransferring: boolean
  steps: ScheduleStep[]
}

type Ending = { state: 'succeeded' | 'failed' | 'skipped'; reason: string | null }

/**
 * The job: the run has made its next step if that is due, and a job for the one after it waits; a run that is
 * over, or may not go on, has ended and its schedule is free again.
 *
 * A step is marked before its daemon is called and called at most once: one whose outcome nobody wrote down is
 * `unknown`, which counts as a failure of the daemon. Coming twice, late, or early changes nothing.
 */
export async function carryRunOn(panel: Panel, { runId }: JobPayloads['run-schedule']): Promise<void> {
  const found = await findRun(panel, runId)
  if (found?.run.state !== 'running') return
  const step = found.steps.find(({ finishedAt }) => finishedAt === null)
  const ending = step ? await reasonToEnd(panel, found, step) : { state: 'succeeded' as const, reason: null }
  if (ending) return endRun(panel, found, ending)
  if (!step) return
  if (step.dueAt && step.dueAt > panel.now()) return waitUntil(panel, runId, step.dueAt)
  const outcome = await outcomeOf(panel, found, step)
  if (outcome) await settleStep(panel, found, step, outcome)
}

const unwritten: Outcome = {
  state: 'unknown',
  reason: reasons.outcome_unknown,
  isDaemonFailure: true,
}

/** Null when somebody else makes the step, or called the run off a moment ago. */
async function outcomeOf(panel: Panel, found: FoundRun, step: ScheduleStep): Promise<Outcome | null> {
  if (step.state === 'dispatched') return unwritten
  const mayGoOn = sql`exists (select 1 from ${scheduleRuns} where ${scheduleRuns}.id = ${step.runId}
    and ${scheduleRuns}.state = 'running' and ${scheduleRuns}.reason is null)`
  const marked = await panel.db
    .update(scheduleSteps)
    .set({ state: 'dispatched', dispatchedAt: panel.now() })
    .where(and(eq(scheduleSteps.id, step.id), eq(scheduleSteps.state, 'pending'), mayGoOn))
    .returning({ id: scheduleSteps.id })
  return marked.length === 0 ? null : perform(panel, found, step)
}

/** What keeps a run from its next step; asked anew before each. */
async function reasonToEnd(panel: Panel, found: FoundRun, step: ScheduleStep): Promise<Ending | null> {
  const { run, schedule, server, node, isTransferring, steps } = found
  const skipped = (reason: string): Ending => ({ state: 'skipped', reason })
  // What was begun is written down first, whatever has happened since.
  if (step.state === 'dispatched') return null
  if (run.reason !== null) return skipped(run.reason)
  if (server.status !== null) return skipped(reasons[`server_${server.status}`])
  if (node.maintenanceMode) return skipped(reasons.node_maintenance)
  if (isTransferring) return skipped(reasons.server_transferring)
  if (hasLapsed(found, step, panel.now())) return skipped(reasons.panel_away)
  const isFirst = step === steps[0]
  const isDue = step.dueAt === null || step.dueAt <= panel.now()
  if (schedule.onlyWhenOnline && isFirst && isDue && !(await isOnline(panel, found)))
    return skipped(reasons.server_offline)
  return null
}

/** The first step may be as late as its run, a further one or one by hand a quarter of an hour: nobody expects it any more. */
function hasLapsed({ run, schedule, steps }: FoundRun, step: ScheduleStep, now: Date): boolean {
  if (step.dueAt === null) return false
  return run.trigger === 'cron' && step === steps[0]
    ? isTooLate(schedule, step.dueAt, now)
    : now.getTime() - step.dueAt.getTime() > usualPatience
}

/** Writes down what became of a step, once, and goes on to the next one or ends the run. */
async function settleStep(
  panel: Panel,
  found: FoundRun,
  step: ScheduleStep,
  { state, reason, isDaemonFailure }: Outcome,
): Promise<void> {
  const { run, schedule, steps } = found
  await inTransaction(panel, async (inside) => {
    const now = inside.now()
    await lock(inside, schedule)
    const settled = await inside.db
      .update(scheduleSteps)
      .set({ state, reason, finishedAt: now })
      .where(and(eq(scheduleSteps.id, step.id), eq(scheduleSteps.state, 'dispatched')))
      .returning({ id: scheduleSteps.id })
    if (settled.length === 0) return
    const stops = state !== 'succeeded' && !(step.continueOnFailure && isDaemonFailure)
    if (stops) return writeEnd(inside, found, { state: 'failed', reason })
    const next = steps[steps.indexOf(step) + 1]
    if (!next) return writeEnd(inside, found, { state: 'succeeded', reason: null })
    const dueAt = new Date(now.getTime() + next.timeOffset * 1000)
    await inside.db.update(scheduleSteps).set({ dueAt }).where(eq(scheduleSteps.id, next.id))
    await markQueued(inside, taskOf(step), false)
    await markQueued(inside, taskOf(next), true)
    await waitUntil(inside, run.id, dueAt)
  })
}

const taskOf = ({ taskId }: ScheduleStep) => (taskId === null ? [] : [{ id: taskId }])

const waitUntil = (panel: Panel, runId: string, runAt: Date) =>
  replaceJob(panel, 'run-schedule', { runId }, { key: runKey(runId), runAt })

/**
 * The run is over, once: what it did not come to is skipped, its schedule counts as processing no more unless
 * another run of it goes on, and has run now.
 */
export async function endRun(panel: Panel, found: FoundRun, ending: Ending): Promise<void> {
  await inTransaction(panel, async (inside) => {
    await lock(inside, found.schedule)
    await writeEnd(inside, found, ending)
  })
}

/** The same while the schedule is locked, in one statement: ten thousand runs may end in the same minute. */
async function writeEnd(panel: Panel, { run, schedule }: FoundRun, { state, reason }: Ending): Promise<void> {
  const at = sql`${panel.now().toISOString()}::timestamptz`
  const goesOn = sql`exists (
    select from ${scheduleRuns} other where other.schedule_id = ${schedule.id} and other.id <> ${run.id}
    and other.state = 'running' and other.reason is null
  )`
  await panel.db.execute(sql`
    with ended as (
      update ${scheduleRuns} set state = ${state}, reason = ${reason?.slice(0, 500) ?? null}, finished_at = ${at}
      where id = ${run.id} and state = 'running' returning id
    ), skipped as (
      update ${scheduleSteps} set state = 'skipped', finished_at = ${at}
      where run_id in (select id from ended) and state = 'pending'
    ), idle as (
      update ${tasks} set is_queued = false
      where schedule_id = ${schedule.id} and is_queued and exists (select from ended) and not ${goesOn}
    ), called_off as (
      update ${jobs} set state = 'done', finished_at = ${at}
      where key = ${runKey(run.id)} and state = 'waiting' and exists (select from ended)
    )
    update ${schedules} set last_run_at = ${at}, is_processing = ${goesOn}
    where id = ${schedule.id} and exists (select from ended)`)
}

/** Whatever begins, changes or ends a run locks its schedule first: nobody misses the other, and no two wait for each other. */
const lock = (panel: Panel, { id }: Schedule) =>
  panel.db.select({ id: schedules.id }).from(schedules).where(eq(schedules.id, id)).for('update')

async function findRun(panel: Panel, id: string): Promise<FoundRun | null> {
  const [found] = await panel.db
    .select({
      run: scheduleRuns,
      schedule: schedules,
      server: servers,
      node: nodes,
      isTransferring: sql<boolean>`exists (select 1 from ${transfers}
        where ${transfers.serverId} = ${servers.id} and ${transfers.successful} is null)`,
      steps: embedMany(scheduleSteps, {
        where: (each) => eq(each.runId, scheduleRuns.id),
        orderBy: (each) => sql`${each.sequenceId}`,
      }),
    })
    .from(scheduleRuns)
    .innerJoin(schedules, eq(schedules.id, scheduleRuns.scheduleId))
    .innerJoin(servers, eq(servers.id, schedules.serverId))
    .innerJoin(nodes, eq(nodes.id, servers.nodeId))
    .where(eq(scheduleRuns.id, id))
  return found ?? null
}
