import { and, eq, getTableColumns, inArray, lte, sql } from 'drizzle-orm'
import { rowsOf } from '../../db/database.ts'
import { embedMany } from '../../db/embed.ts'
import { scheduleRuns, schedules, scheduleSteps, tasks } from '../../db/schema.ts'
import type { Schedule } from '../../db/tables/schedules.ts'
import type { Task } from '../../db/tables/tasks.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { nextRuns } from '../cron.ts'
import { enqueueAll } from '../jobs.ts'
import { reasons } from './reasons.ts'
import { type ScheduleWithTasks, timesOf } from './schedules.ts'

/** Schedules of one transaction. */
const batchSize = 100
/** Milliseconds by which a run may be late, unless the schedule comes more rarely. */
export const usualPatience = 15 * 60_000

/** Under which the job that carries a run on waits. */
export const runKey = (runId: string) => `run:${runId}`

/**
 * Every schedule that is due has a run for that time, or the record that it was skipped because it came too
 * late, and a next time after now. At most one run for each time, whoever else claims; a hundred schedules
 * cost a constant number of statements. After `until` no further hundred is begun. Returns how many were due.
 */
export async function claimDueSchedules(panel: Panel, until: Date | null = null): Promise<number> {
  let claimed = 0
  for (;;) {
    const count = await inTransaction(panel, claimBatch)
    claimed += count
    if (count < batchSize || (until !== null && panel.now() >= until)) return claimed
  }
}

/** Without a next time it is never due again: its fields were stored by somebody who did not check them. */
type Claim = { schedule: ScheduleWithTasks; run: RunRow | null; next: Date | null }
type RunRow = typeof scheduleRuns.$inferInsert & { id: string }

async function claimBatch(panel: Panel): Promise<number> {
  const now = panel.now()
  const due = await panel.db
    .select({
      ...getTableColumns(schedules),
      tasks: embedMany(tasks, {
        where: (each) => eq(each.scheduleId, schedules.id),
        orderBy: (each) => sql`${each.sequenceId}`,
      }),
    })
    .from(schedules)
    .where(
      and(eq(schedules.isActive, true), eq(schedules.isProcessing, false), lte(schedules.nextRunAt, now)),
    )
    .orderBy(schedules.nextRunAt)
    .limit(batchSize)
    .for('update', { skipLocked: true })
  if (due.length === 0) return 0
  const claims = due.map((schedule) => claimOf(schedule, now))
  const started = await startRuns(
    panel,
    claims.flatMap(({ run, schedule }) => (run ? [{ run, schedule }] : [])),
  )
  await moveOn(panel, claims, started)
  return due.length
}

/** What becomes of a schedule that is due: without tasks there is nothing to run. */
function claimOf(schedule: ScheduleWithTasks, now: Date): Claim {
  const next = nextRunOf(schedule, now)
  if (schedule.tasks.length === 0) return { schedule, run: null, next }
  const dueAt = schedule.nextRunAt ?? now
  const isLate = isTooLate(schedule, dueAt, now)
  const run: RunRow = {
    id: crypto.randomUUID(),
    scheduleId: schedule.id,
    trigger: 'cron',
    dueAt,
    startedAt: now,
    ...(isLate ? { state: 'skipped', reason: reasons.panel_away, finishedAt: now } : {}),
  }
  return { schedule, run, next }
}

/** Whether nobody would expect any more what was due then: after a quarter of an hour, or the schedule's next time. */
export function isTooLate(schedule: Schedule, dueAt: Date, now: Date): boolean {
  if (now.getTime() - dueAt.getTime() <= usualPatience) return false
  const following = nextRunOf(schedule, dueAt)
  return following === null || following < now
}

/** Null when it has none, or fields that cannot be read: one such row must not keep the others waiting. */
function nextRunOf(schedule: Schedule, after: Date): Date | null {
  try {
    return nextRuns(timesOf(schedule), after, 1)[0] ?? null
  } catch {
    return null
  }
}

type Start = { run: RunRow; schedule: ScheduleWithTasks }

/** Writes the runs with their steps and the jobs that carry them on; ids of the runs that nobody had written before. */
export async function startRuns(panel: Panel, starts: Start[]): Promise<ReadonlySet<string>> {
  if (starts.length === 0) return new Set()
  const rows = starts.map(({ run }) => run)
  const running = await writeRuns(panel, rows)
  const fresh = starts.filter(({ run }) => running.has(run.id))
  if (fresh.length === 0) return running
  const jobs = fresh.map(({ run, schedule }) => ({
    payload: { runId: run.id },
    key: runKey(run.id),
    runAt: firstDueAt(run, schedule.tasks),
  }))
  const firstSteps = jobs.map(({ payload, runAt }) => ({ id: payload.runId, due: runAt }))
  await writeSteps(panel, firstSteps)
  const firstTasks = fresh.flatMap(({ schedule }) => schedule.tasks.slice(0, 1))
  await markQueued(panel, firstTasks, true)
  await enqueueAll(panel, 'run-schedule', jobs)
  return running
}

/** Gives the ids of those that are under way now; a due time that has its run already is passed over. */
async function writeRuns(panel: Panel, runs: RunRow[]): Promise<Set<string>> {
  const written = await panel.db.execute(sql`
    insert into ${scheduleRuns}
      (id, schedule_id, trigger, due_at, state, reason, requested_by, started_at, finished_at)
    select id, "scheduleId", trigger, "dueAt", coalesce(state, 'running'), reason, "requestedBy", "startedAt", "finishedAt"
    from jsonb_to_recordset(${JSON.stringify(runs)}::jsonb) as run (
      id uuid, "scheduleId" int, trigger text, "dueAt" timestamptz, state text, reason text, "requestedBy" int,
      "startedAt" timestamptz, "finishedAt" timestamptz
    )
    on conflict do nothing returning id, state`)
  const rows = rowsOf<{ id: string; state: string }>(written)
  return new Set(rows.filter(({ state }) => state === 'running').map(({ id }) => id))
}

/** A step for each task as it is now: nobody changes tasks while their schedule is locked. */
async function writeSteps(panel: Panel, runs: { id: string; due: Date }[]): Promise<void> {
  await panel.db.execute(sql`
    insert into ${scheduleSteps}
      (run_id, task_id, sequence_id, action, payload, time_offset, continue_on_failure, due_at)
    select run.id, task.id, task.sequence_id, task.action, task.payload, task.time_offset, task.continue_on_failure,
      case when task.sequence_id = 1 then started.due end
    from jsonb_to_recordset(${JSON.stringify(runs)}::jsonb) as started (id uuid, due timestamptz)
    join ${scheduleRuns} run on run.id = started.id join ${tasks} task on task.schedule_id = run.schedule_id`)
}

/** Tasks that are waiting for their turn say so. */
export async function markQueued(panel: Panel, which: Pick<Task, 'id'>[], isQueued: boolean): Promise<void> {
  if (which.length === 0) return
  await panel.db
    .update(tasks)
    .set({ isQueued })
    .where(
      inArray(
        tasks.id,
        which.map(({ id }) => id),
      ),
    )
}

/** Somebody who runs a schedule by hand waits for nothing; otherwise the first task has its offset too. */
function firstDueAt({ trigger, startedAt }: RunRow, [first]: Task[]): Date {
  const offset = trigger === 'manual' ? 0 : (first?.timeOffset ?? 0)
  return new Date((startedAt ?? new Date(0)).getTime() + offset * 1000)
}

/** One statement for all of them: the next time, and whether a run is under way. */
async function moveOn(panel: Panel, claims: Claim[], started: ReadonlySet<string>): Promise<void> {
  const rows = claims.map(({ schedule, run, next }) => ({
    id: schedule.id,
    next: next?.toISOString() ?? null,
    processing: run !== null && started.has(run.id),
  }))
  await panel.db.execute(sql`
    update ${schedules} set next_run_at = claimed.next, is_processing = claimed.processing
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as claimed(id int, next timestamptz, processing boolean)
    where ${schedules}.id = claimed.id`)
}
