import { and, eq, getTableColumns, isNull, type SQL, sql } from 'drizzle-orm'
import * as z from 'zod'
import { single, prepared } from '../../db/database.ts'
import { embedMany } from '../../db/embed.ts'
import { scheduleRuns, schedules, tasks } from '../../db/schema.ts'
import type { Schedule } from '../../db/tables/schedules.ts'
import type { Task } from '../../db/tables/tasks.ts'
import { notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { boolean, coercedText, text } from '../fields.ts'
import { readIdentity } from '../settings/identity.ts'
import { type CronExpression, nextRun, requireValidCron } from './cron.ts'
import { getRequiredPermission, type PermissionCheck } from './permissions.ts'
import { reasons } from './reasons.ts'

/** A schedule with its tasks by their sequence. */
export type ScheduleWithTasks = Schedule & { tasks: Task[] }

const cronField = () => coercedText(191)

/** The five fields and the time zone, which defaults to the panel's. */
export const CronInput = () =>
  z.object({
    minute: cronField(),
    hour: cronField(),
    day_of_month: cronField(),
    month: cronField().nullish(),
    day_of_week: cronField(),
    timezone: text(64).nullish(),
  })

/** Spec: postClientServersByServerSchedules. `is_active` may be left out, but not be empty. */
export const ScheduleInput = () =>
  z.object({
    name: text(191),
    is_active: boolean()
      .nullable()
      .refine((value) => value !== null, 'filled')
      .optional(),
    only_when_online: boolean().nullish(),
    ...CronInput().shape,
  })
type CronInput = z.output<ReturnType<typeof CronInput>>
type ScheduleInput = z.output<ReturnType<typeof ScheduleInput>>

/** Converts the times of a request: every month when left out, in `timezone` by default. */
export const toCronTimes = (input: CronInput, timezone: string): CronExpression => ({
  minute: input.minute,
  hour: input.hour,
  dayOfMonth: input.day_of_month,
  month: input.month ?? '*',
  dayOfWeek: input.day_of_week,
  timezone: input.timezone ?? timezone,
})

/** Reads the times of a row. */
export const readCronTimes = (row: Schedule): CronExpression => ({
  minute: row.cronMinute,
  hour: row.cronHour,
  dayOfMonth: row.cronDayOfMonth,
  month: row.cronMonth,
  dayOfWeek: row.cronDayOfWeek,
  timezone: row.timezone,
})

/** Lists the schedules of a server by id, in one statement. Spec: getClientServersByServerSchedules. */
export function listSchedules(panel: Panel, server: { id: number }): Promise<ScheduleWithTasks[]> {
  return prepared(panel.db, 'schedules_of_server', (db) =>
    db
      .select(withTasks())
      .from(schedules)
      .where(eq(schedules.serverId, sql.placeholder('server')))
      .orderBy(schedules.id)
      .prepare('schedules_of_server'),
  ).execute({ server: server.id })
}

/** Finds a schedule of the server. Refuses with 404. */
export async function findSchedule(
  panel: Panel,
  server: { id: number },
  id: number,
): Promise<ScheduleWithTasks> {
  const [schedule] = await panel.db
    .select(withTasks())
    .from(schedules)
    .where(and(eq(schedules.id, id), eq(schedules.serverId, server.id)))
  if (!schedule) throw notFound()
  return schedule
}

/**
 * Adds a schedule without tasks; it runs at its times once it has some. Records `server:schedule.create`. Refuses
 * with 422 times that never come. Spec: postClientServersByServerSchedules.
 */
export async function addSchedule(
  panel: Panel,
  server: { id: number },
  input: ScheduleInput,
): Promise<ScheduleWithTasks> {
  const columns = toColumns(panel, input, (await readIdentity(panel)).timezone)
  return inTransaction(panel, async (tx) => {
    const schedule = single(
      await tx.db
        .insert(schedules)
        .values({ ...columns, serverId: server.id, isActive: input.is_active ?? false })
        .returning(),
    )
    await recordEvent(tx, 'server:schedule.create', toScheduleActivity(schedule))
    return { ...schedule, tasks: [] }
  })
}

/**
 * Changes a schedule; runs that were started by the clock end before their next step, and a change of `is_active`
 * ends its processing. Records `server:schedule.update`. Refuses with 404, with 422 times that never come, and with
 * 403 a change of when it runs by a caller who lacks the permission of a task (AZ-4). Spec:
 * docs/schedules.md#changing-a-schedule.
 */
export async function changeSchedule(
  panel: Panel,
  server: { id: number },
  id: number,
  input: ScheduleInput,
  requirePermission: PermissionCheck,
): Promise<ScheduleWithTasks> {
  await inTransaction(panel, async (tx) => {
    const before = await lockSchedule(tx, server, id)
    const isActive = input.is_active ?? false
    const processing = isActive === before.isActive ? {} : { isProcessing: false }
    const changes = {
      ...toColumns(tx, input, before.timezone),
      ...processing,
      isActive,
      updatedAt: tx.now(),
    }
    if (runsDiffer(before, changes)) await takeOverTasks(tx, before, requirePermission)
    const after = single(await tx.db.update(schedules).set(changes).where(eq(schedules.id, id)).returning())
    await cancelRuns(tx, before, isActive ? reasons.schedule_changed : reasons.schedule_disabled)
    const { serverId, properties, subjects } = toScheduleActivity(after)
    const activity = { serverId, properties: { ...properties, active: isActive }, subjects }
    await recordEvent(tx, 'server:schedule.update', activity)
  })
  return findSchedule(panel, server, id)
}

const runFields = [
  'cronMinute',
  'cronHour',
  'cronDayOfMonth',
  'cronMonth',
  'cronDayOfWeek',
  'timezone',
  'isActive',
  'onlyWhenOnline',
] as const

/** Whether a change decides anew when the schedule runs. */
const runsDiffer = (before: Schedule, after: Pick<Schedule, (typeof runFields)[number]>): boolean =>
  runFields.some((field) => before[field] !== after[field])

/** Makes the caller the editor of all tasks, for whom it is checked what they may do. */
async function takeOverTasks(tx: Tx, { id }: Schedule, requirePermission: PermissionCheck): Promise<void> {
  const taken = await tx.db
    .update(tasks)
    .set({ editorId: callerId(tx) })
    .where(eq(tasks.scheduleId, id))
    .returning()
  for (const task of taken) requirePermission(getRequiredPermission(task))
}

/** Returns the id of the user who calls; null for the system. */
export const callerId = ({ actor }: Tx): number | null => (actor.kind === 'user' ? actor.user.id : null)

/** Removes a schedule with its tasks and runs. Records `server:schedule.delete`. Refuses with 404. */
export async function removeSchedule(panel: Panel, server: { id: number }, id: number): Promise<void> {
  await inTransaction(panel, async (tx) => {
    const schedule = await lockSchedule(tx, server, id)
    await tx.db.delete(schedules).where(eq(schedules.id, id))
    await recordEvent(tx, 'server:schedule.delete', toScheduleActivity(schedule))
  })
}

/**
 * Finds a schedule of the server and locks it until the transaction ends, before its tasks or runs change.
 * Refuses with 404.
 */
export async function lockSchedule(tx: Tx, server: { id: number }, id: number): Promise<Schedule> {
  const [schedule] = await tx.db
    .select()
    .from(schedules)
    .where(and(eq(schedules.id, id), eq(schedules.serverId, server.id)))
    .for('update')
  if (!schedule) throw notFound()
  return schedule
}

/** Marks the tasks of a locked schedule as changed, which ends its runs. */
export async function markTasksChanged(tx: Tx, schedule: Schedule): Promise<void> {
  await tx.db.update(schedules).set({ updatedAt: tx.now() }).where(eq(schedules.id, schedule.id))
  await cancelRuns(tx, schedule, reasons.schedule_changed)
}

/** Cancels the runs that were started by the clock: each ends with this reason instead of its next step. */
async function cancelRuns(tx: Tx, { id }: Schedule, reason: string): Promise<void> {
  await tx.db
    .update(scheduleRuns)
    .set({ reason })
    .where(and(isInProgress(id), eq(scheduleRuns.trigger, 'cron')))
}

/** Selects the runs of a schedule that are in progress; one that has its reason to end makes no further step. */
export const isInProgress = (scheduleId: number): SQL | undefined =>
  and(eq(scheduleRuns.scheduleId, scheduleId), eq(scheduleRuns.state, 'running'), isNull(scheduleRuns.reason))

/** Columns of a schedule with its tasks, by their sequence. */
export const withTasks = () => ({
  ...getTableColumns(schedules),
  tasks: embedMany(tasks, {
    where: (each) => eq(each.scheduleId, schedules.id),
    orderBy: (each) => sql`${each.sequenceId}`,
  }),
})

/** Converts a schedule to the fields of its activity entries. */
export const toScheduleActivity = ({ id, serverId, name }: Schedule) => ({
  serverId,
  properties: { name },
  subjects: [{ type: 'schedule' as const, id }],
})

function toColumns(tx: Tx, input: ScheduleInput, timezone: string) {
  const times = toCronTimes(input, timezone)
  const now = tx.now()
  requireValidCron(times, now)
  return {
    name: input.name,
    cronMinute: times.minute,
    cronHour: times.hour,
    cronDayOfMonth: times.dayOfMonth,
    cronMonth: times.month,
    cronDayOfWeek: times.dayOfWeek,
    timezone: times.timezone,
    onlyWhenOnline: input.only_when_online ?? false,
    nextRunAt: nextRun(times, now),
  }
}
