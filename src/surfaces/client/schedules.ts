import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { nextRuns, refuseImpossibleTimes } from '../../domain/cron.ts'
import { pathId } from '../../domain/fields.ts'
import type { Permission } from '../../domain/permissions.ts'
import { executeSchedule } from '../../domain/schedules/execute.ts'
import { listRuns } from '../../domain/schedules/run-history.ts'
import {
  addSchedule,
  changeSchedule,
  CronInput,
  cronTimesOf,
  findSchedule,
  listSchedules,
  removeSchedule,
  ScheduleInput,
} from '../../domain/schedules/schedules.ts'
import { addTask, changeTask, removeTask, TaskInput } from '../../domain/schedules/tasks.ts'
import { listing } from '../../http/listing.ts'
import { publicUrl } from '../../http/public-url.ts'
import { body, params, query, returns, summary } from '../../http/route.ts'
import { available, permission, requirePermission, type ServerEnv } from './env.ts'
import {
  CronPreview,
  presentPreview,
  RunResource,
  ScheduleResource,
  TaskResource,
} from './resources/schedule.ts'

const ScheduleParams = () => z.object({ schedule: pathId() })
const TaskParams = () => z.object({ schedule: pathId(), task: pathId() })
const previewed = 5

/** A schedule does nothing for somebody that he may not do himself. */
const judge = (c: Context<ServerEnv>) => (name: Permission) => requirePermission(c.var.permissions, name)

/** Spec: Client API, schedules and tasks. */
export const schedules = new Hono<ServerEnv>()
  .get(
    '/',
    summary('List the schedules'),
    available,
    permission('schedule.read'),
    returns(200, ScheduleResource.List),
    async (c) => c.json(ScheduleResource.list(await listSchedules(c.var.panel, c.var.server))),
  )

  .post(
    '/',
    summary('Add a schedule'),
    available,
    permission('schedule.create'),
    body(ScheduleInput),
    returns(200, ScheduleResource.One),
    async (c) =>
      c.json(ScheduleResource.one(await addSchedule(c.var.panel, c.var.server, c.req.valid('json')))),
  )

  .get(
    '/preview',
    summary('Show when a schedule would run'),
    available,
    permission('schedule.read'),
    query(CronInput),
    returns(200, CronPreview),
    (c) => {
      const { config, now: clock } = c.var.panel
      const times = cronTimesOf(c.req.valid('query'), config.timezone)
      const now = clock()
      refuseImpossibleTimes(times, now)
      return c.json(presentPreview(times.timezone, nextRuns(times, now, previewed)))
    },
  )

  .get(
    '/:schedule',
    summary('Show a schedule'),
    available,
    permission('schedule.read'),
    params(ScheduleParams),
    returns(200, ScheduleResource.One),
    async (c) =>
      c.json(
        ScheduleResource.one(await findSchedule(c.var.panel, c.var.server, c.req.valid('param').schedule)),
      ),
  )

  .post(
    '/:schedule',
    summary('Change a schedule'),
    available,
    permission('schedule.update'),
    params(ScheduleParams),
    body(ScheduleInput),
    returns(200, ScheduleResource.One),
    async (c) => {
      const { schedule } = c.req.valid('param')
      const changed = await changeSchedule(c.var.panel, c.var.server, schedule, c.req.valid('json'))
      return c.json(ScheduleResource.one(changed))
    },
  )

  .delete(
    '/:schedule',
    summary('Remove a schedule'),
    available,
    permission('schedule.delete'),
    params(ScheduleParams),
    returns(204),
    async (c) => {
      await removeSchedule(c.var.panel, c.var.server, c.req.valid('param').schedule)
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
      await executeSchedule(c.var.panel, c.var.server, c.req.valid('param').schedule, judge(c))
      return c.json([], 202)
    },
  )

  .get(
    '/:schedule/runs',
    summary('List the runs of a schedule'),
    available,
    permission('schedule.read'),
    params(ScheduleParams),
    listing({ perPage: 20, mostPerPage: 100 }),
    returns(200, RunResource.Page),
    async (c) => {
      const { schedule } = c.req.valid('param')
      const page = await listRuns(c.var.panel, c.var.server, schedule, c.req.valid('query'))
      return c.json(RunResource.page(page, publicUrl(c)))
    },
  )

  .post(
    '/:schedule/tasks',
    summary('Add a task'),
    available,
    permission('schedule.update'),
    params(ScheduleParams),
    body(TaskInput),
    returns(200, TaskResource.One),
    async (c) => {
      const place = { server: c.var.server, scheduleId: c.req.valid('param').schedule }
      return c.json(TaskResource.one(await addTask(c.var.panel, place, c.req.valid('json'), judge(c))))
    },
  )

  .post(
    '/:schedule/tasks/:task',
    summary('Change a task'),
    available,
    permission('schedule.update'),
    params(TaskParams),
    body(TaskInput),
    returns(200, TaskResource.One),
    async (c) => {
      const { schedule: scheduleId, task } = c.req.valid('param')
      const place = { server: c.var.server, scheduleId }
      const changed = await changeTask(c.var.panel, place, task, c.req.valid('json'), judge(c))
      return c.json(TaskResource.one(changed))
    },
  )

  .delete(
    '/:schedule/tasks/:task',
    summary('Remove a task'),
    available,
    permission('schedule.update', 'HttpForbiddenException'),
    params(TaskParams),
    returns(204),
    async (c) => {
      const { schedule: scheduleId, task } = c.req.valid('param')
      await removeTask(c.var.panel, { server: c.var.server, scheduleId }, task)
      return c.body(null, 204)
    },
  )
