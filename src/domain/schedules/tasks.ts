import { and, between, eq, gt, gte, type SQL, sql } from 'drizzle-orm'
import * as z from 'zod'
import { single } from '../../db/database.ts'
import { tasks } from '../../db/schema.ts'
import type { Schedule } from '../../db/tables/schedules.ts'
import type { Task } from '../../db/tables/tasks.ts'
import { displayError, forbidden, notFound } from '../../errors.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { recordEvent } from '../activity/record.ts'
import { boolean, integer } from '../fields.ts'
import { powerPermissions } from '../servers/control.ts'
import { getSetting } from '../settings/settings.ts'
import { getRequiredPermission, type PermissionCheck } from './permissions.ts'
import { callerId, lockSchedule, markTasksChanged } from './schedules.ts'

const maxOffsetSeconds = 900
const maxPayloadLength = 4096
const maxKeptBackups = 100

/**
 * Spec: docs/schedules.md#tasks. A sequence below 1 counts as 1, one beyond the end as the end. `keep_backups` is of backups only.
 */
export const TaskInput = () =>
  z
    .object({
      action: z.enum(['command', 'power', 'backup']),
      payload: z.string().max(maxPayloadLength, 'max').nullish(),
      time_offset: integer(0, maxOffsetSeconds),
      sequence_id: integer(undefined, undefined, { type: 'numeric' }).nullish(),
      continue_on_failure: boolean().nullish(),
      keep_backups: integer(1, maxKeptBackups).nullish(),
    })
    .superRefine(
      ({ action, payload }, context) => {
        if (context.issues.some(({ path }) => path?.[0] === 'payload')) return
        const rule = findBrokenPayloadRule(action, payload ?? null)
        if (rule) context.addIssue({ code: 'custom', path: ['payload'], message: rule })
      },
      // Also where other fields are missing: all that is wrong is named together.
      { when: () => true },
    )
type TaskInput = z.output<ReturnType<typeof TaskInput>>

/** The payload of a backup lists files to leave out, one pattern per line; a command is one line. */
function findBrokenPayloadRule(action: Task['action'], payload: string | null): string | null {
  if (action === 'backup') return /[^\P{Cc}\n\r\t]/u.test(payload ?? '') ? 'regex' : null
  if (payload === null) return 'required_unless'
  if (action === 'power') return Object.hasOwn(powerPermissions, payload) ? null : 'in'
  return /[^\P{Cc}\t]/u.test(payload) ? 'regex' : null
}

type TaskLocation = { server: { id: number; backupLimit: number }; scheduleId: number }

/**
 * Adds a task at the end, or at `sequence_id`, from which later tasks move up. Records `server:task.create`.
 * Refuses with 404, with 403 an action that the caller may not perform and a backup on a server whose limit is 0,
 * with 400 when the schedule is full. Spec: docs/schedules.md#tasks.
 */
export async function addTask(
  panel: Panel,
  location: TaskLocation,
  input: TaskInput,
  requirePermission: PermissionCheck,
): Promise<Task> {
  requirePermission(getRequiredPermission(input))
  refuseImpossibleBackup(location, input)
  const maxTasks = await getSetting(panel, 'schedules.tasks_per_schedule')
  return inTransaction(panel, async (tx) => {
    const schedule = await lockSchedule(tx, location.server, location.scheduleId)
    const { count, last } = await readSequenceRange(tx, schedule)
    if (count >= maxTasks) {
      throw displayError('too_many_tasks', `A schedule can have at most ${maxTasks} tasks.`, {
        code: 'ServiceLimitExceededException',
        values: { max: maxTasks },
      })
    }
    const sequenceId = Math.min(Math.max(1, input.sequence_id ?? last + 1), last + 1)
    await shiftTasks(tx, schedule, gte(tasks.sequenceId, sequenceId), 1)
    const values = { ...toColumns(tx, input), scheduleId: schedule.id, sequenceId }
    const task = single(await tx.db.insert(tasks).values(values).returning())
    await markTasksChanged(tx, schedule)
    await recordEvent(tx, 'server:task.create', toTaskActivity(schedule, task))
    return task
  })
}

/**
 * Replaces a task; with another `sequence_id` the tasks in between move by one. Records `server:task.update`.
 * Refuses as `addTask` does, also when the caller may not perform the old action. Spec: docs/schedules.md#tasks.
 */
export async function changeTask(
  panel: Panel,
  location: TaskLocation,
  taskId: number,
  input: TaskInput,
  requirePermission: PermissionCheck,
): Promise<Task> {
  requirePermission(getRequiredPermission(input))
  refuseImpossibleBackup(location, input)
  return inTransaction(panel, async (tx) => {
    const schedule = await lockSchedule(tx, location.server, location.scheduleId)
    const before = await findTask(tx, schedule, taskId)
    requirePermission(getRequiredPermission(before))
    const { last } = await readSequenceRange(tx, schedule)
    const sequenceId = Math.min(Math.max(1, input.sequence_id ?? before.sequenceId), last)
    await moveTask(tx, before, sequenceId)
    // Clients of the ecosystem do not know the field, and leave it as it is.
    const kept = input.keep_backups === undefined ? before.keepBackups : input.keep_backups
    const changes = { ...toColumns(tx, { ...input, keep_backups: kept }), updatedAt: tx.now() }
    const task = single(await tx.db.update(tasks).set(changes).where(eq(tasks.id, taskId)).returning())
    await markTasksChanged(tx, schedule)
    await recordEvent(tx, 'server:task.update', toTaskActivity(schedule, task))
    return task
  })
}

/**
 * Removes a task; later ones move down. Records `server:task.delete`. Refuses with 404. Spec:
 * docs/schedules.md#tasks.
 */
export async function removeTask(
  panel: Panel,
  location: Omit<TaskLocation, 'server'> & { server: { id: number } },
  taskId: number,
) {
  await inTransaction(panel, async (tx) => {
    const schedule = await lockSchedule(tx, location.server, location.scheduleId)
    const task = await findTask(tx, schedule, taskId)
    await tx.db.delete(tasks).where(eq(tasks.id, taskId))
    await shiftTasks(tx, schedule, gt(tasks.sequenceId, task.sequenceId), -1)
    await markTasksChanged(tx, schedule)
    const { properties, ...activity } = toTaskActivity(schedule, task)
    await recordEvent(tx, 'server:task.delete', { ...activity, properties: { name: properties.name } })
  })
}

function refuseImpossibleBackup({ server }: TaskLocation, { action }: TaskInput): void {
  if (action === 'backup' && server.backupLimit === 0)
    throw forbidden('backups_not_allowed', 'The backup limit of this server is 0.', {
      code: 'HttpForbiddenException',
    })
}

async function findTask(tx: Tx, schedule: Schedule, id: number): Promise<Task> {
  const [task] = await tx.db
    .select()
    .from(tasks)
    .where(and(eq(tasks.id, id), eq(tasks.scheduleId, schedule.id)))
  if (!task) throw notFound()
  return task
}

const readSequenceRange = async (tx: Tx, schedule: Schedule) =>
  single(
    await tx.db
      .select({
        count: sql<number>`count(*)::int`,
        last: sql<number>`coalesce(max(${tasks.sequenceId}), 0)::int`,
      })
      .from(tasks)
      .where(eq(tasks.scheduleId, schedule.id)),
  )

/** Opens or closes a gap in the sequence. The schedule is locked, so no other request moves its tasks. */
async function shiftTasks(
  tx: Tx,
  schedule: Schedule,
  condition: SQL | undefined,
  delta: 1 | -1,
): Promise<void> {
  await tx.db
    .update(tasks)
    .set({ sequenceId: sql`${tasks.sequenceId} + ${delta}` })
    .where(and(eq(tasks.scheduleId, schedule.id), condition))
}

/** Moves the task and those in between in one statement, so that positions are unique when it ends. */
async function moveTask(tx: Tx, task: Task, to: number): Promise<void> {
  const { sequenceId: from } = task
  if (from === to) return
  const delta = to > from ? -1 : 1
  await tx.db
    .update(tasks)
    .set({
      sequenceId: sql`case when ${tasks.id} = ${task.id} then ${to} else ${tasks.sequenceId} + ${delta} end`,
    })
    .where(
      and(
        eq(tasks.scheduleId, task.scheduleId),
        between(tasks.sequenceId, Math.min(from, to), Math.max(from, to)),
      ),
    )
}

const toColumns = (tx: Tx, input: TaskInput) => ({
  action: input.action,
  payload: input.payload ?? '',
  timeOffset: input.time_offset,
  continueOnFailure: input.continue_on_failure ?? false,
  keepBackups: input.action === 'backup' ? (input.keep_backups ?? null) : null,
  editorId: callerId(tx),
})

const toTaskActivity = ({ serverId, name }: Schedule, { id, action, payload }: Task) => ({
  serverId,
  properties: { name, action, payload },
  subjects: [{ type: 'task' as const, id }],
})
