import * as z from 'zod'
import type { Task } from '../../../db/tables/tasks.ts'
import { findReasonCode, reasonCodes } from '../../../domain/schedules/reasons.ts'
import type { RunWithSteps } from '../../../domain/schedules/run-history.ts'
import type { ScheduleWithTasks } from '../../../domain/schedules/schedules.ts'
import { resource, timestamp, Timestamp, timestampOrNull } from '../../../http/resource.ts'

/** A task of a schedule; `time_offset` is seconds after the previous task. `keep_backups` is there where it is set. */
export const TaskResource = resource(
  'schedule_task',
  () =>
    z.object({
      id: z.int(),
      sequence_id: z.int(),
      action: z.enum(['command', 'power', 'backup']),
      payload: z.string(),
      time_offset: z.int(),
      is_queued: z.boolean(),
      continue_on_failure: z.boolean(),
      keep_backups: z.int().optional(),
      created_at: Timestamp(),
      updated_at: Timestamp(),
    }),
  (task: Task) => ({
    id: task.id,
    sequence_id: task.sequenceId,
    action: task.action,
    payload: task.payload,
    time_offset: task.timeOffset,
    is_queued: task.isQueued,
    continue_on_failure: task.continueOnFailure,
    ...(task.keepBackups === null ? {} : { keep_backups: task.keepBackups }),
    created_at: timestamp(task.createdAt),
    updated_at: timestamp(task.updatedAt),
  }),
)

const Cron = () =>
  z.object({
    day_of_week: z.string(),
    day_of_month: z.string(),
    month: z.string(),
    hour: z.string(),
    minute: z.string(),
  })

/** A schedule with its tasks; `cron` applies in `timezone`. */
export const ScheduleResource = resource(
  'server_schedule',
  () =>
    z.object({
      id: z.int(),
      name: z.string(),
      cron: Cron(),
      timezone: z.string(),
      is_active: z.boolean(),
      is_processing: z.boolean(),
      only_when_online: z.boolean(),
      last_run_at: Timestamp().nullable(),
      next_run_at: Timestamp().nullable(),
      created_at: Timestamp(),
      updated_at: Timestamp(),
      relationships: z.object({ tasks: TaskResource.List() }),
    }),
  (schedule: ScheduleWithTasks) => ({
    id: schedule.id,
    name: schedule.name,
    cron: {
      day_of_week: schedule.cronDayOfWeek,
      day_of_month: schedule.cronDayOfMonth,
      month: schedule.cronMonth,
      hour: schedule.cronHour,
      minute: schedule.cronMinute,
    },
    timezone: schedule.timezone,
    is_active: schedule.isActive,
    is_processing: schedule.isProcessing,
    only_when_online: schedule.onlyWhenOnline,
    last_run_at: timestampOrNull(schedule.lastRunAt),
    next_run_at: timestampOrNull(schedule.nextRunAt),
    created_at: timestamp(schedule.createdAt),
    updated_at: timestamp(schedule.updatedAt),
    relationships: { tasks: TaskResource.list(schedule.tasks) },
  }),
)

/** The code of `reason` for translations; null for messages of a daemon. */
const ReasonCode = () => z.enum(reasonCodes).nullable()

const Step = () =>
  z.object({
    sequence_id: z.int(),
    action: z.enum(['command', 'power', 'backup']),
    payload: z.string(),
    state: z.enum(['pending', 'dispatched', 'succeeded', 'failed', 'unknown', 'skipped']),
    reason: z.string().nullable(),
    reason_code: ReasonCode(),
    due_at: Timestamp().nullable(),
    dispatched_at: Timestamp().nullable(),
    finished_at: Timestamp().nullable(),
  })

/** A run of a schedule with the result of each step. */
export const RunResource = resource(
  'schedule_run',
  () =>
    z.object({
      id: z.uuid(),
      trigger: z.enum(['cron', 'manual']),
      requested_by: z.string().nullable(),
      state: z.enum(['running', 'succeeded', 'failed', 'skipped']),
      reason: z.string().nullable(),
      reason_code: ReasonCode(),
      due_at: Timestamp(),
      started_at: Timestamp(),
      finished_at: Timestamp().nullable(),
      steps: z.array(Step()),
    }),
  (run: RunWithSteps) => ({
    id: run.id,
    trigger: run.trigger,
    requested_by: run.requester?.username ?? null,
    state: run.state,
    reason: run.reason,
    reason_code: findReasonCode(run.reason),
    due_at: timestamp(run.dueAt),
    started_at: timestamp(run.startedAt),
    finished_at: timestampOrNull(run.finishedAt),
    steps: run.steps.map((step) => ({
      sequence_id: step.sequenceId,
      action: step.action,
      payload: step.payload,
      state: step.state,
      reason: step.reason,
      reason_code: findReasonCode(step.reason),
      due_at: timestampOrNull(step.dueAt),
      dispatched_at: timestampOrNull(step.dispatchedAt),
      finished_at: timestampOrNull(step.finishedAt),
    })),
  }),
)

/** The times at which cron fields would run. */
export const CronPreview = () =>
  z.object({
    object: z.literal('cron_preview'),
    attributes: z.object({ timezone: z.string(), next_runs: z.array(Timestamp()) }),
  })

/** Presents the times of a cron preview. */
export const presentPreview = (timezone: string, runs: Date[]) => ({
  object: 'cron_preview',
  attributes: { timezone, next_runs: runs.map(timestamp) },
})
