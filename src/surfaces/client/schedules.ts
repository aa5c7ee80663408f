import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { pathId } from '../../domain/fields.ts'
import type { Permission } from '../../domain/permissions.ts'
import { nextRuns, requireValidCron } from '../../domain/schedules/cron.ts'
import { executeSchedule } from '../../domain/schedules/execute.ts'
import { listRuns } from '../../domain/schedules/run-history.ts'
import {
  addSchedule,
  changeSchedule,
  CronInput,
  findSchedule,
  listSchedules,
  removeSchedule,
  ScheduleInput,
  toCronTimes,
} from '../../domain/schedules/schedules.ts'
import { addTask, changeTask, removeTask, TaskInput } from '../../domain/schedules/tasks.ts'
import { readIdentity } from '../../domain/settings/identity.ts'
import { refuseOtherMethods } from '../../http/errors.ts'
import { listing } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { body, params, query, returns, summary } from '../../http/route.ts'
import { available, permission, requirePermission, type ServerEnv } from './middleware.ts'
import {
  CronPreview,
  presentPreview,
  RunResource,
  ScheduleResource,
  TaskResource,
} from './resources/schedule.ts'

const ScheduleParams = () => z.object({ schedule: pathId() })
const TaskParams = () => z.object({ schedule: pathId(), task: pathId() })
const maxPreviewRuns = 5

/** Checks a permission of the caller: a schedule may do nothing that its editor may not do. */
const permissionCheck = (c: Context<ServerEnv>) => (name: Permission) => requirePermission(c.var.access, name)

/** Spec: docs/schedules.md#schedules. */
export const schedules = new Hono<ServerEnv>()
  .get(
    '/',
    summary('List the schedules of a server'),
    available,
    permission('schedule.read'),
    returns(200, ScheduleResource.List),
    async (c) => c.json(ScheduleResource.list(await listSchedules(c.var.panel, c.var.access.server))),
  )

  .post(
    '/',
    summary('Create a schedule'),
    available,
    permission('schedule.create'),
    body(ScheduleInput),
    returns(200, ScheduleResource.One),
    async (c) =>
      c.json(ScheduleResource.one(await addSchedule(c.var.panel, c.var.access.server, c.req.valid('json')))),
  )

  .get(
    '/preview',
    summary('Preview the runs of a schedule'),
    available,
    permission('schedule.read'),
    query(CronInput),
    returns(200, CronPreview),
    async (c) => {
      const { timezone } = await readIdentity(c.var.panel)
      const times = toCronTimes(c.req.valid('query'), timezone)
      const now = c.var.panel.now()
      requireValidCron(times, now)
      return c.json(presentPreview(times.timezone, nextRuns(times, now, maxPreviewRuns)))
    },
  )
  .use('/preview', refuseOtherMethods)

  .get(
    '/:schedule',
    summary('Show a schedule'),
    available,
    permission('schedule.read'),
    params(ScheduleParams),
    returns(200, ScheduleResource.One),
    async (c) =>
      c.json(
        ScheduleResource.one(
          await findSchedule(c.var.panel, c.var.access.server, c.req.valid('param').schedule),
        ),
      ),
  )

  .post(
    '/:schedule',
    summary('Update a schedule'),
    available,
    permission('schedule.update'),
    params(ScheduleParams),
    body(ScheduleInput),
    returns(200, ScheduleResource.One),
    async (c) => {
      const { schedule } = c.req.valid('param')
      const changed = await changeSchedule(
        c.var.panel,
        c.var.access.server,
        schedule,
        c.req.valid('json'),
        permissionCheck(c),
      )
      return c.json(ScheduleResource.one(changed))
    },
  )

  .delete(
    '/:schedule',
    summary('Delete a schedule'),
    available,
    permission('schedule.delete'),
    params(ScheduleParams),
    returns(204),
    async (c) => {
      await removeSchedule(c.var.panel, c.var.access.server, c.req.valid('param').schedule)
      return c.body(null, 204)
    },
  )

  .post(
    '/:schedule/execute',
    summary('Run a schedule now'),
    available,
    permission('schedule.update'),
    params(ScheduleParams),
    returns(202, () => z.array(z.never())),
    async (c) => {
      await executeSchedule(
        c.var.panel,
        c.var.access.server,
        c.req.valid('param').schedule,
        permissionCheck(c),
      )
      return c.json([], 202)
    },
  )

  .get(
    '/:schedule/runs',
    summary('List the runs of a schedule'),
    available,
    permission('schedule.read'),
    params(ScheduleParams),
    listing({ perPage: 20, maxPerPage: 100 }),
    returns(200, RunResource.Page),
    async (c) => {
      const { schedule } = c.req.valid('param')
      const page = await listRuns(c.var.panel, c.var.access.server, schedule, c.req.valid('query'))
      return c.json(RunResource.page(page, publicUrl(c)))
    },
  )

  .post(
    '/:schedule/tasks',
    summary('Create a task'),
    available,
    permission('schedule.update'),
    params(ScheduleParams),
    body(TaskInput),
    returns(200, TaskResource.One),
    async (c) => {
      const taskScope = { server: c.var.access.server, scheduleId: c.req.valid('param').schedule }
      return c.json(
        TaskResource.one(await addTask(c.var.panel, taskScope, c.req.valid('json'), permissionCheck(c))),
      )
    },
  )

  .post(
    '/:schedule/tasks/:task',
    summary('Update a task'),
    available,
    permission('schedule.update'),
    params(TaskParams),
    body(TaskInput),
    returns(200, TaskResource.One),
    async (c) => {
      const { schedule: scheduleId, task } = c.req.valid('param')
      const taskScope = { server: c.var.access.server, scheduleId }
      const changed = await changeTask(c.var.panel, taskScope, task, c.req.valid('json'), permissionCheck(c))
      return c.json(TaskResource.one(changed))
    },
  )

  .delete(
    '/:schedule/tasks/:task',
    summary('Delete a task'),
    available,
    permission('schedule.update', 'HttpForbiddenException'),
    params(TaskParams),
    returns(204),
    async (c) => {
      const { schedule: scheduleId, task } = c.req.valid('param')
      await removeTask(c.var.panel, { server: c.var.access.server, scheduleId }, task)
      return c.body(null, 204)
    },
  )
