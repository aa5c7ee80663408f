import { and, eq, getTableColumns, isNull, sql } from 'drizzle-orm'
import * as z from 'zod'
import { only, prepared } from '../../db/database.ts'
import { embedMany } from '../../db/embed.ts'
import { scheduleRuns, schedules, tasks } from '../../db/schema.ts'
import type { Schedule } from '../../db/tables/schedules.ts'
import type { Task } from '../../db/tables/tasks.ts'
import { notFound } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { type CronTimes, nextRun, refuseImpossibleTimes } from '../cron.ts'
import { boolean, looseText, text } from '../fields.ts'
import { reasons } from './reasons.ts'

/** A schedule with its tasks, by their sequence. */
export type ScheduleWithTasks = Schedule & { tasks: Task[] }

const cronField = () => looseText(191)

/** The five fields and the zone, which is the panel's unless said otherwise. */
export const CronInput = () =>
  z.object({
    minute: cronField(),
    hour: cronField(),
    day_of_month: cronField(),
    month: cronField().nullish(),
    day_of_week: cronField(),
    timezone: text(64).nullish(),
  })

/** Spec: Schedule and task. `is_active` may be left out, but not be empty. */
export const ScheduleInput = () =>
  CronInput().extend({
    name: text(191),
    is_active: boolean()
      .nullable()
      .refine((value) => value !== null, 'filled')
      .optional(),
    only_when_online: boolean().nullish(),
  })
type CronInput = z.output<ReturnType<typeof CronInput>>
type ScheduleInput = z.output<ReturnType<typeof ScheduleInput>>

/** The times that were sent: every month unless said otherwise, and in this zone. */
export const cronTimesOf = (input: CronInput, timezone: string): CronTimes => ({
  minute: input.minute,
  hour: input.hour,
  dayOfMonth: input.day_of_month,
  month: input.month ?? '*',
  dayOfWeek: input.day_of_week,
  timezone: input.timezone ?? timezone,
})

/** The times of a row. */
export const timesOf = (row: Schedule): CronTimes => ({
  minute: row.cronMinute,
  hour: row.cronHour,
  dayOfMonth: row.cronDayOfMonth,
  month: row.cronMonth,
  dayOfWeek: row.cronDayOfWeek,
  timezone: row.timezone,
})

/** The schedules of a server by id, in one statement. Spec: Client API, schedules. */
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

/** One of the server's own. Refuses with 404. */
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
 * Adds a schedule without tasks, which runs at its times once it has some. Records `server:schedule.create`.
 * Refuses with 422 times that never come. Spec: Client API, schedules.
 */
export async function addSchedule(
  panel: Panel,
  server: { id: number },
  input: ScheduleInput,
): Promise<ScheduleWithTasks> {
  const columns = columnsOf(panel, input, panel.config.timezone)
  return inTransaction(panel, async (inside) => {
    const schedule = only(
      await inside.db
        .insert(schedules)
        .values({ ...columns, serverId: server.id, isActive: input.is_active ?? false })
        .returning(),
    )
    await record(inside, 'server:schedule.create', occurrenceOf(schedule))
    return { ...schedule, tasks: [] }
  })
}

/**
 * The schedule is what was sent, but keeps its zone when none was; a run that is under way by the clock ends
 * before its next step. When its activity changes, it counts as processing no more. Records
 * `server:schedule.update`. Refuses with 404, and with 422 times that never come. Spec: Client API, schedules.
 */
export async function changeSchedule(
  panel: Panel,
  server: { id: number },
  id: number,
  input: ScheduleInput,
): Promise<ScheduleWithTasks> {
  await inTransaction(panel, async (inside) => {
    const before = await lockSchedule(inside, server, id)
    const isActive = input.is_active ?? false
    const processing = isActive === before.isActive ? {} : { isProcessing: false }
    const changes = {
      ...columnsOf(inside, input, before.timezone),
      ...processing,
      isActive,
      updatedAt: inside.now(),
    }
    const after = only(await inside.db.update(schedules).set(changes).where(eq(schedules.id, id)).returning())
    await callOffRuns(inside, before, isActive ? reasons.schedule_changed : reasons.schedule_disabled)
    const { serverId, properties, subjects } = occurrenceOf(after)
    const occurrence = { serverId, properties: { ...properties, active: isActive }, subjects }
    await record(inside, 'server:schedule.update', occurrence)
  })
  return findSchedule(panel, server, id)
}

/** Removes a schedule with its tasks and runs. Records `server:schedule.delete`. Refuses with 404. */
export async function removeSchedule(panel: Panel, server: { id: number }, id: number): Promise<void> {
  await inTransaction(panel, async (inside) => {
    const schedule = await lockSchedule(inside, server, id)
    await inside.db.delete(schedules).where(eq(schedules.id, id))
    await record(inside, 'server:schedule.delete', occurrenceOf(schedule))
  })
}

/** One of the server's own, locked until the transaction ends: whatever changes tasks or runs locks it first. Refuses with 404. */
export async function lockSchedule(panel: Panel, server: { id: number }, id: number): Promise<Schedule> {
  const [schedule] = await panel.db
    .select()
    .from(schedules)
    .where(and(eq(schedules.id, id), eq(schedules.serverId, server.id)))
    .for('update')
  if (!schedule) throw notFound()
  return schedule
}

/** The schedule, which is locked, has other tasks than before. */
export async function noteChangedTasks(panel: Panel, schedule: Schedule): Promise<void> {
  await panel.db.update(schedules).set({ updatedAt: panel.now() }).where(eq(schedules.id, schedule.id))
  await callOffRuns(panel, schedule, reasons.schedule_changed)
}

/** Runs that are under way by the clock make no further step: each ends with this reason once its next one is due. */
async function callOffRuns(panel: Panel, { id }: Schedule, reason: string): Promise<void> {
  const isUnderWay = and(
    eq(scheduleRuns.scheduleId, id),
    eq(scheduleRuns.state, 'running'),
    eq(scheduleRuns.trigger, 'cron'),
    isNull(scheduleRuns.reason),
  )
  await panel.db.update(scheduleRuns).set({ reason }).where(isUnderWay)
}

const withTasks = () => ({
  ...getTableColumns(schedules),
  tasks: embedMany(tasks, {
    where: (each) => eq(each.scheduleId, schedules.id),
    orderBy: (each) => sql`${each.sequenceId}`,
  }),
})

/** What the audit log says of a schedule. */
export const occurrenceOf = ({ id, serverId, name }: Schedule) => ({
  serverId,
  properties: { name },
  subjects: [{ type: 'schedule' as const, id }],
})

function columnsOf(panel: Panel, input: ScheduleInput, timezone: string) {
  const times = cronTimesOf(input, timezone)
  const now = panel.now()
  refuseImpossibleTimes(times, now)
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
