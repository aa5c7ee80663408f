import { and, between, eq, gt, gte, type SQL, sql } from 'drizzle-orm'
import * as z from 'zod'
import { only } from '../../db/database.ts'
import { tasks } from '../../db/schema.ts'
import type { Schedule } from '../../db/tables/schedules.ts'
import type { Task } from '../../db/tables/tasks.ts'
import { displayError, forbidden, notFound } from '../../errors.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { record } from '../activity.ts'
import { powerPermissions } from '../control.ts'
import { boolean, integer } from '../fields.ts'
import type { Permission } from '../permissions.ts'
import { setting } from '../settings.ts'
import { lockSchedule, noteChangedTasks } from './schedules.ts'

const longestOffset = 900
const longestPayload = 4096

/** Spec: Schedule and task. A sequence below 1 counts as 1, one beyond the end as the end. */
export const TaskInput = () =>
  z
    .object({
      action: z.enum(['command', 'power', 'backup']),
      payload: z.string().max(longestPayload, 'max').nullish(),
      time_offset: integer(0, longestOffset),
      sequence_id: integer().nullish(),
      continue_on_failure: boolean().nullish(),
    })
    .superRefine(({ action, payload }, context) => {
      const rule = payloadRule(action, payload ?? null)
      if (rule) context.addIssue({ code: 'custom', path: ['payload'], message: rule })
    })
type TaskInput = z.output<ReturnType<typeof TaskInput>>

/** The payload of a backup is what it leaves out, a pattern a line; one command is one line. */
function payloadRule(action: Task['action'], payload: string | null): string | null {
  if (action === 'backup') return /[^\P{Cc}\n\r\t]/u.test(payload ?? '') ? 'regex' : null
  if (payload === null) return 'required_unless'
  if (action === 'power') return Object.hasOwn(powerPermissions, payload) ? null : 'in'
  return /[^\P{Cc}\t]/u.test(payload) ? 'regex' : null
}

/** What somebody must be allowed to do himself to have a task do it. */
export function permissionOf(task: {
  action: Task['action']
  payload?: string | null | undefined
}): Permission {
  if (task.action === 'command') return 'control.console'
  if (task.action === 'backup') return 'backup.create'
  return powerPermissions[task.payload as keyof typeof powerPermissions] ?? 'control.stop'
}

type Place = { server: { id: number; backupLimit: number }; scheduleId: number }
/** Judges each action that is about to be stored, or was until now. */
type Judge = (permission: Permission) => void

/**
 * Adds a task behind the others, or at the place that was asked for, from which the others move up. Records
 * `server:task.create`. Refuses with 404, with 403 an action that the caller may not do himself or a backup on
 * a server that may have none, with 400 when the schedule is full. Spec: Schedules and tasks, rules 2, 5, 6.
 */
export async function addTask(panel: Panel, place: Place, input: TaskInput, judge: Judge): Promise<Task> {
  judge(permissionOf(input))
  refuseUselessBackup(place, input)
  const most = await setting(panel, 'schedules.tasks_per_schedule')
  return inTransaction(panel, async (inside) => {
    const schedule = await lockSchedule(inside, place.server, place.scheduleId)
    const { count, last } = await extentOf(inside, schedule)
    if (count >= most) {
      throw displayError(`A schedule may hold ${most} tasks.`, 'ServiceLimitExceededException')
    }
    const sequenceId = Math.min(Math.max(1, input.sequence_id ?? last + 1), last + 1)
    await shift(inside, schedule, gte(tasks.sequenceId, sequenceId), 1)
    const values = { ...columnsOf(input), scheduleId: schedule.id, sequenceId }
    const task = only(await inside.db.insert(tasks).values(values).returning())
    await noteChangedTasks(inside, schedule)
    await record(inside, 'server:task.create', occurrenceOf(schedule, task))
    return task
  })
}

/**
 * The task is what was sent, and at the place that was asked for: those between the old and the new one move
 * by one. Records `server:task.update`. Refuses as `addTask` does, also when the caller may not do what the
 * task did until now. Spec: Schedules and tasks, rules 3, 6.
 */
export async function changeTask(
  panel: Panel,
  place: Place,
  taskId: number,
  input: TaskInput,
  judge: Judge,
): Promise<Task> {
  judge(permissionOf(input))
  refuseUselessBackup(place, input)
  return inTransaction(panel, async (inside) => {
    const schedule = await lockSchedule(inside, place.server, place.scheduleId)
    const before = await findTask(inside, schedule, taskId)
    judge(permissionOf(before))
    const { last } = await extentOf(inside, schedule)
    const sequenceId = Math.min(Math.max(1, input.sequence_id ?? before.sequenceId), last)
    await move(inside, before, sequenceId)
    const changes = { ...columnsOf(input), updatedAt: inside.now() }
    const task = only(await inside.db.update(tasks).set(changes).where(eq(tasks.id, taskId)).returning())
    await noteChangedTasks(inside, schedule)
    await record(inside, 'server:task.update', occurrenceOf(schedule, task))
    return task
  })
}

/** Removes a task; later ones move down. Records `server:task.delete`. Refuses with 404. Spec: Schedules and tasks, rule 4. */
export async function removeTask(
  panel: Panel,
  place: Omit<Place, 'server'> & { server: { id: number } },
  taskId: number,
) {
  await inTransaction(panel, async (inside) => {
    const schedule = await lockSchedule(inside, place.server, place.scheduleId)
    const task = await findTask(inside, schedule, taskId)
    await inside.db.delete(tasks).where(eq(tasks.id, taskId))
    await shift(inside, schedule, gt(tasks.sequenceId, task.sequenceId), -1)
    await noteChangedTasks(inside, schedule)
    const { properties, ...occurrence } = occurrenceOf(schedule, task)
    await record(inside, 'server:task.delete', { ...occurrence, properties: { name: properties.name } })
  })
}

function refuseUselessBackup({ server }: Place, { action }: TaskInput): void {
  if (action === 'backup' && server.backupLimit === 0)
    throw forbidden('This server may have no backups.', 'HttpForbiddenException')
}

async function findTask(panel: Panel, schedule: Schedule, id: number): Promise<Task> {
  const [task] = await panel.db
    .select()
    .from(tasks)
    .where(and(eq(tasks.id, id), eq(tasks.scheduleId, schedule.id)))
  if (!task) throw notFound()
  return task
}

const extentOf = async (panel: Panel, schedule: Schedule) =>
  only(
    await panel.db
      .select({
        count: sql<number>`count(*)::int`,
        last: sql<number>`coalesce(max(${tasks.sequenceId}), 0)::int`,
      })
      .from(tasks)
      .where(eq(tasks.scheduleId, schedule.id)),
  )

/** Makes or fills a gap. Nobody else moves them: the schedule is locked. */
async function shift(panel: Panel, schedule: Schedule, which: SQL | undefined, by: 1 | -1): Promise<void> {
  await panel.db
    .update(tasks)
    .set({ sequenceId: sql`${tasks.sequenceId} + ${by}` })
    .where(and(eq(tasks.scheduleId, schedule.id), which))
}

/** The task and those between its places, in one statement: no two are at one place when it ends. */
async function move(panel: Panel, task: Task, to: number): Promise<void> {
  const { sequenceId: from } = task
  if (from === to) return
  const by = to > from ? -1 : 1
  await panel.db
    .update(tasks)
    .set({
      sequenceId: sql`case when ${tasks.id} = ${task.id} then ${to} else ${tasks.sequenceId} + ${by} end`,
    })
    .where(
      and(
        eq(tasks.scheduleId, task.scheduleId),
        between(tasks.sequenceId, Math.min(from, to), Math.max(from, to)),
      ),
    )
}

const columnsOf = (input: TaskInput) => ({
  action: input.action,
  payload: input.payload ?? '',
  timeOffset: input.time_offset,
  continueOnFailure: input.continue_on_failure ?? false,
})

const occurrenceOf = ({ serverId, name }: Schedule, { id, action, payload }: Task) => ({
  serverId,
  properties: { name, action, payload },
  subjects: [{ type: 'task' as const, id }],
})
