import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { RunResource, ScheduleResource, TaskResource } from '../../surfaces/client/resources/schedule.ts'
import { abortedBy, done, json, serverApi } from './client.ts'
import { attributesOf, type AttributesOf, rowsOf } from './resources.ts'

export type Task = AttributesOf<typeof TaskResource>
export type Schedule = AttributesOf<typeof ScheduleResource>
export type Run = AttributesOf<typeof RunResource>
export type Step = Run['steps'][number]
export type CronFields = Schedule['cron']
export type CronTimes = CronFields & { timezone: string }
export type ScheduleInput = CronTimes & { name: string; is_active: boolean; only_when_online: boolean }
export type TaskInput = Pick<Task, 'action' | 'payload' | 'time_offset' | 'continue_on_failure'> & {
  sequence_id?: number
  keep_backups?: number | null
}

const pollIntervalMs = 2000
/** A run usually starts this long after it is due. */
const startDelayMs = 3000
const maxPollIntervalMs = 600_000
const runsPerPage = 10

const { schedules } = serverApi
const scheduleApi = schedules[':schedule']

const paramOf = (server: string, schedule: number) => ({ server, schedule: String(schedule) })

export const schedulesKey = (server: string) => ['server', server, 'schedules'] as const

/** The schedules of a server. Refetched while one is running, and when the next one is due. */
export const schedulesQuery = (server: string) =>
  queryOptions({
    queryKey: schedulesKey(server),
    queryFn: ({ signal }) => json(schedules.$get({ param: { server } }, abortedBy(signal))).then(rowsOf),
    refetchInterval: ({ state }) =>
      state.data && state.data.length > 0 ? Math.min(...state.data.map(refetchDelayMs)) : false,
  })

/** A schedule with its tasks. */
export const scheduleQuery = (server: string, schedule: number) =>
  queryOptions({
    queryKey: [...schedulesKey(server), schedule],
    queryFn: ({ signal }) =>
      json(scheduleApi.$get({ param: paramOf(server, schedule) }, abortedBy(signal))).then(attributesOf),
    refetchInterval: ({ state }) => (state.data ? refetchDelayMs(state.data) : false),
  })

/** Returns after how many milliseconds a schedule should be fetched again. */
function refetchDelayMs({ is_active, is_processing, next_run_at }: Schedule): number {
  if (is_processing) return pollIntervalMs
  if (!is_active || !next_run_at) return maxPollIntervalMs
  const untilNextRun = new Date(next_run_at).getTime() - Date.now()
  return Math.min(Math.max(untilNextRun, pollIntervalMs) + startDelayMs, maxPollIntervalMs)
}

/** The runs of a schedule, newest first. The key holds the last run, so that a further run makes another query. */
export const runsQuery = (server: string, schedule: Schedule, page: number, perPage = runsPerPage) =>
  queryOptions({
    queryKey: [
      ...schedulesKey(server),
      schedule.id,
      'runs',
      { page, perPage, last: schedule.last_run_at, running: schedule.is_processing },
    ],
    queryFn: ({ signal }) =>
      json(
        scheduleApi.runs.$get(
          { param: paramOf(server, schedule.id), query: { page, per_page: perPage } },
          abortedBy(signal),
        ),
      ),
    refetchInterval: ({ state }) =>
      state.data && rowsOf(state.data).some((run) => run.state === 'running') ? pollIntervalMs : false,
    placeholderData: keepPreviousData,
  })

/** Returns the newest run of a schedule; undefined before the first one. */
export const fetchNewestRun = async (server: string, schedule: number): Promise<Run | undefined> =>
  rowsOf(
    await json(scheduleApi.runs.$get({ param: paramOf(server, schedule), query: { page: 1, per_page: 1 } })),
  )[0]

/** The next times at which a schedule would run. */
export const previewQuery = (server: string, times: CronTimes) =>
  queryOptions({
    queryKey: [...schedulesKey(server), 'preview', times],
    queryFn: ({ signal }) =>
      json(schedules.preview.$get({ param: { server }, query: times }, abortedBy(signal))).then(attributesOf),
  })

export const addSchedule = (server: string, form: ScheduleInput): Promise<Schedule> =>
  json(schedules.$post({ param: { server }, json: form })).then(attributesOf)

export const changeSchedule = (server: string, schedule: number, form: ScheduleInput): Promise<Schedule> =>
  json(scheduleApi.$post({ param: paramOf(server, schedule), json: form })).then(attributesOf)

/** Returns the input that would leave a schedule unchanged. */
export const scheduleInputOf = (schedule: Schedule): ScheduleInput => ({
  ...schedule.cron,
  timezone: schedule.timezone,
  name: schedule.name,
  is_active: schedule.is_active,
  only_when_online: schedule.only_when_online,
})

export const deleteSchedule = (server: string, schedule: number) =>
  done(scheduleApi.$delete({ param: paramOf(server, schedule) }))

/** Runs a schedule now. Refused while a run is in progress. */
export const runSchedule = (server: string, schedule: number) =>
  done(scheduleApi.execute.$post({ param: paramOf(server, schedule) }))

/** Changes a task, or adds one when `task` is null. */
export const saveTask = (server: string, schedule: number, task: number | null, form: TaskInput) => {
  const param = paramOf(server, schedule)
  return done(
    task === null
      ? scheduleApi.tasks.$post({ param, json: form })
      : scheduleApi.tasks[':task'].$post({ param: { ...param, task: String(task) }, json: form }),
  )
}

export const deleteTask = (server: string, schedule: number, task: number) =>
  done(scheduleApi.tasks[':task'].$delete({ param: { ...paramOf(server, schedule), task: String(task) } }))
