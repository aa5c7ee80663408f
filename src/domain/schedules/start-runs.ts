import { inArray, sql } from 'drizzle-orm'
import { rowsOf } from '../../db/database.ts'
import { jobs, scheduleRuns, scheduleSteps, tasks } from '../../db/schema.ts'
import type { Task } from '../../db/tables/tasks.ts'
import type { Tx } from '../../panel.ts'
import { jobLifetimeSeconds, type JobName } from '../jobs/enqueue.ts'
import type { ScheduleWithTasks } from './schedules.ts'

/** The key of the job that advances a run. */
export const runJobKey = (runId: string) => `run:${runId}`

/** A run to be inserted. */
export type RunRow = typeof scheduleRuns.$inferInsert & { id: string }
type RunStart = { run: RunRow; schedule: ScheduleWithTasks }

/**
 * Inserts the runs with their steps and jobs, in one statement. Returns the ids of those that are now running; a due
 * time that has a run already is left out. The schedules are locked, so their tasks cannot change.
 */
export async function startRuns(tx: Tx, starts: RunStart[]): Promise<ReadonlySet<string>> {
  if (starts.length === 0) return new Set()
  const runs = starts.map(({ run, schedule }) => ({
    ...run,
    key: runJobKey(run.id),
    firstDueAt: firstDueAt(run, schedule.tasks),
  }))
  const started = rowsOf<StartedRun>(await tx.db.execute(startStatement(tx, JSON.stringify(runs))))
  const woken = started.flatMap(({ job, due }) => (job === null ? [] : [{ id: job, runAt: new Date(due) }]))
  if (woken.length > 0) tx.wake(woken)
  return new Set(started.map(({ run }) => run))
}

/** A run that is now running, and its job unless one was waiting; `due` in milliseconds. */
type StartedRun = { run: string; job: string | null; due: number }

/** One JSON parameter for all runs: building a statement with a thousand rows costs more than running it. */
const startStatement = (tx: Tx, runs: string) => sql`
  with wanted as (
    select * from jsonb_to_recordset(${runs}::jsonb) as run (
      id uuid, "scheduleId" int, trigger text, "dueAt" timestamptz, state text, reason text, "requestedBy" int,
      "startedAt" timestamptz, "finishedAt" timestamptz, key text, "firstDueAt" timestamptz
    )
  ), inserted as (
    insert into ${scheduleRuns}
      (id, schedule_id, trigger, due_at, state, reason, requested_by, started_at, finished_at)
    select id, "scheduleId", trigger, "dueAt", coalesce(state, 'running'), reason, "requestedBy", "startedAt", "finishedAt"
    from wanted on conflict do nothing returning id, schedule_id, state
  ), running as (
    select id, schedule_id, key, "firstDueAt" as due from inserted join wanted using (id)
    where inserted.state = 'running'
  ), added_steps as (
    insert into ${scheduleSteps}
      (run_id, task_id, sequence_id, action, payload, time_offset, continue_on_failure, due_at)
    select running.id, task.id, task.sequence_id, task.action, task.payload, task.time_offset, task.continue_on_failure,
      case when task.sequence_id = 1 then running.due end
    from running join ${tasks} task on task.schedule_id = running.schedule_id
  ), queued_tasks as (
    update ${tasks} set is_queued = true, updated_at = ${tx.now().toISOString()}::timestamptz
    from running where tasks.schedule_id = running.schedule_id and tasks.sequence_id = 1
  ), added_jobs as (
    insert into ${jobs} (name, payload, key, run_at, deadline_at)
    select ${'run-schedule' satisfies JobName}, jsonb_build_object('runId', id), key, due, due + ${jobLifetimeSeconds} * interval '1 second'
    from running on conflict (key) where state = 'waiting' do nothing returning id, key
  )
  select running.id as run, added_jobs.id as job, (extract(epoch from running.due) * 1000)::float8 as due
  from running left join added_jobs using (key)`

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
