import { inArray, sql } from 'drizzle-orm'
import { rowsOf } from '../../db/database.ts'
import { scheduleRuns, scheduleSteps, tasks } from '../../db/schema.ts'
import type { Task } from '../../db/tables/tasks.ts'
import type { Tx } from '../../panel.ts'
import { enqueueJobs } from '../jobs/enqueue.ts'
import type { ScheduleWithTasks } from './schedules.ts'

/** The key of the job that advances a run. */
export const runJobKey = (runId: string) => `run:${runId}`

/** A run to be inserted. */
export type RunRow = typeof scheduleRuns.$inferInsert & { id: string }
type RunStart = { run: RunRow; schedule: ScheduleWithTasks }

/**
 * Inserts the runs with their steps and jobs. Returns the ids of those that are now running; runs that exist
 * already are left out.
 */
export async function startRuns(tx: Tx, starts: RunStart[]): Promise<ReadonlySet<string>> {
  if (starts.length === 0) return new Set()
  const rows = starts.map(({ run }) => run)
  const running = await writeRuns(tx, rows)
  const newStarts = starts.filter(({ run }) => running.has(run.id))
  if (newStarts.length === 0) return running
  const jobs = newStarts.map(({ run, schedule }) => ({
    payload: { runId: run.id },
    key: runJobKey(run.id),
    runAt: firstDueAt(run, schedule.tasks),
  }))
  const firstSteps = jobs.map(({ payload, runAt }) => ({ id: payload.runId, due: runAt }))
  await writeSteps(tx, firstSteps)
  const firstTasks = newStarts.flatMap(({ schedule }) => schedule.tasks.slice(0, 1))
  await markQueued(tx, firstTasks, true)
  await enqueueJobs(tx, 'run-schedule', jobs)
  return running
}

/** Returns the ids of those that are now running; a due time that has a run already is ignored. */
async function writeRuns(tx: Tx, runs: RunRow[]): Promise<Set<string>> {
  const written = await tx.db.execute(sql`
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

/** Inserts a step for each task as it is now: the schedules are locked, so their tasks cannot change. */
async function writeSteps(tx: Tx, runs: { id: string; due: Date }[]): Promise<void> {
  await tx.db.execute(sql`
    insert into ${scheduleSteps}
      (run_id, task_id, sequence_id, action, payload, time_offset, continue_on_failure, due_at)
    select run.id, task.id, task.sequence_id, task.action, task.payload, task.time_offset, task.continue_on_failure,
      case when task.sequence_id = 1 then started.due end
    from jsonb_to_recordset(${JSON.stringify(runs)}::jsonb) as started (id uuid, due timestamptz)
    join ${scheduleRuns} run on run.id = started.id join ${tasks} task on task.schedule_id = run.schedule_id`)
}

/** Marks tasks as queued, or no longer queued. */
export async function markQueued(
  tx: Tx,
  selectedTasks: Pick<Task, 'id'>[],
  isQueued: boolean,
): Promise<void> {
  if (selectedTasks.length === 0) return
  await tx.db
    .update(tasks)
    .set({ isQueued })
    .where(
      inArray(
        tasks.id,
        selectedTasks.map(({ id }) => id),
      ),
    )
}

/** A manual run starts at once; otherwise the first task has its offset too. */
function firstDueAt({ trigger, startedAt }: RunRow, [first]: Task[]): Date {
  const offset = trigger === 'manual' ? 0 : (first?.timeOffset ?? 0)
  return new Date((startedAt ?? new Date(0)).getTime() + offset * 1000)
}
