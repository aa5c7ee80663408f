import { and, asc, eq, isNull } from 'drizzle-orm'
import { scheduleRuns, schedules, tasks } from '../../db/schema.ts'
import { conflict, displayError } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import type { Permission } from '../permissions.ts'
import { startRuns } from './claims.ts'
import { lockSchedule, occurrenceOf } from './schedules.ts'
import { permissionOf } from './tasks.ts'

/**
 * The schedule runs once, now, whether it is active or not, with the tasks it has at this moment. Records
 * `server:schedule.execute`. Refuses with 404, with 403 when the caller may not do himself what one of its
 * tasks does, with 400 without tasks, with 409 while a run is under way. Spec: Schedules and tasks, execute.
 */
export async function executeSchedule(
  panel: Panel,
  server: { id: number },
  id: number,
  judge: (permission: Permission) => void,
): Promise<void> {
  await inTransaction(panel, async (inside) => {
    const schedule = await lockSchedule(inside, server, id)
    const steps = await inside.db
      .select()
      .from(tasks)
      .where(eq(tasks.scheduleId, id))
      .orderBy(asc(tasks.sequenceId))
    if (steps.length === 0) throw displayError('The schedule has no tasks to run.')
    for (const step of steps) judge(permissionOf(step))
    await refuseSecondRun(inside, id)
    const now = inside.now()
    const run = {
      id: crypto.randomUUID(),
      scheduleId: id,
      trigger: 'manual' as const,
      dueAt: now,
      startedAt: now,
      requestedBy: inside.actor.kind === 'user' ? inside.actor.user.id : null,
    }
    await startRuns(inside, [{ run, schedule: { ...schedule, tasks: steps } }])
    const processing = { isProcessing: true, updatedAt: schedule.updatedAt }
    await inside.db.update(schedules).set(processing).where(eq(schedules.id, id))
    await record(inside, 'server:schedule.execute', occurrenceOf(schedule))
  })
}

/** A run that has its reason to end already makes no further step. */
async function refuseSecondRun(panel: Panel, scheduleId: number): Promise<void> {
  const isUnderWay = and(
    eq(scheduleRuns.scheduleId, scheduleId),
    eq(scheduleRuns.state, 'running'),
    isNull(scheduleRuns.reason),
  )
  const running = await panel.db.select({ id: scheduleRuns.id }).from(scheduleRuns).where(isUnderWay).limit(1)
  if (running.length > 0) throw conflict('The schedule is running already.')
}
