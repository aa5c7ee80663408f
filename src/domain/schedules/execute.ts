import { asc, eq } from 'drizzle-orm'
import { scheduleRuns, schedules, tasks } from '../../db/schema.ts'
import { conflict, displayError } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { callerId, isInProgress, lockSchedule, toScheduleActivity } from './schedules.ts'
import { startRuns } from './start-runs.ts'
import { getRequiredPermission, type PermissionCheck } from './permissions.ts'

/**
 * Starts a run of the schedule now, whether it is active or not, with the tasks it has at this moment. Records
 * `server:schedule.execute`. Refuses with 404, with 403 when the caller lacks the permission of a task (AZ-4),
 * with 400 without tasks, with 409 while a run is in progress. Spec:
 * postClientServersByServerSchedulesByScheduleExecute.
 */
export async function executeSchedule(
  panel: Panel,
  server: { id: number },
  id: number,
  requirePermission: PermissionCheck,
): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const schedule = await lockSchedule(tx, server, id)
    const scheduleTasks = await tx.db
      .select()
      .from(tasks)
      .where(eq(tasks.scheduleId, id))
      .orderBy(asc(tasks.sequenceId))
    if (scheduleTasks.length === 0)
      throw displayError('schedule_without_tasks', 'The schedule has no tasks to run.')
    for (const task of scheduleTasks) requirePermission(getRequiredPermission(task))
    await refuseConcurrentRun(tx, id)
    const now = tx.now()
    const run = {
      id: crypto.randomUUID(),
      scheduleId: id,
      trigger: 'manual' as const,
      dueAt: now,
      startedAt: now,
      requestedBy: callerId(tx),
    }
    await startRuns(tx, [{ run, schedule: { ...schedule, tasks: scheduleTasks } }])
    const processing = { isProcessing: true, updatedAt: schedule.updatedAt }
    await tx.db.update(schedules).set(processing).where(eq(schedules.id, id))
    await recordEvent(tx, 'server:schedule.execute', toScheduleActivity(schedule))
  })
}

async function refuseConcurrentRun(tx: Tx, scheduleId: number): Promise<void> {
  const running = await tx.db
    .select({ id: scheduleRuns.id })
    .from(scheduleRuns)
    .where(isInProgress(scheduleId))
    .limit(1)
  if (running.length > 0) throw conflict('schedule_running', 'The schedule is already running.')
}
