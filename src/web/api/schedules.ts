import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type {
  presentPreview,
  RunResource,
  ScheduleResource,
  TaskResource,
} from '../../surfaces/client/resources/schedule.ts'
import { request } from './request.ts'
import { type Item, type List, type PageOf, rowsOf, type Wire } from './resources.ts'

export type Task = Wire<typeof TaskResource>
export type Schedule = Wire<typeof ScheduleResource> & { relationships: { tasks: List<Task> } }
export type Run = Wire<typeof RunResource>
export type Step = Run['steps'][number]
export type CronFields = Schedule['cron']
export type CronTimes = CronFields & { timezone: string }
export type ScheduleInput = CronTimes & { name: string; is_active: boolean; only_when_online: boolean }
export type TaskInput = Pick<Task, 'action' | 'payload' | 'time_offset' | 'continue_on_failure'> & {
  sequence_id?: number
}

/** Milliseconds between two looks at a run that is under way. */
const betweenLooks = 2000
/** Milliseconds after its time by which a run is likely to have begun. */
const startsWithin = 3000
const longestWait = 600_000
const runsPerPage = 10

const pathOf = (server: string, schedule?: number) =>
  `/api/client/servers/${server}/schedules${schedule === undefined ? '' : `/${schedule}`}`

export const schedulesKey = (server: string) => ['server', server, 'schedules'] as const

/** The schedules of a server; asked for again while one runs, and when the next one is due. */
export const schedulesQuery = (server: string) =>
  queryOptions({
    queryKey: schedulesKey(server),
    queryFn: async ({ signal }) => rowsOf(await request<List<Schedule>>('GET', pathOf(server), { signal })),
    refetchInterval: ({ state }) =>
      state.data && state.data.length > 0 ? Math.min(...state.data.map(changesIn)) : false,
  })

/** One of them with its tasks. */
export const scheduleQuery = (server: string, schedule: number) =>
  queryOptions({
    queryKey: [...schedulesKey(server), schedule],
    queryFn: async ({ signal }) =>
      (await request<Item<Schedule>>('GET', pathOf(server, schedule), { signal })).attributes,
    refetchInterval: ({ state }) => (state.data ? changesIn(state.data) : false),
  })

/** Milliseconds after which a schedule may be another by itself. */
function changesIn({ is_active, is_processing, next_run_at }: Schedule): number {
  if (is_processing) return betweenLooks
  if (!is_active || !next_run_at) return longestWait
  const wait = new Date(next_run_at).getTime() - Date.now()
  return Math.min(Math.max(wait, betweenLooks) + startsWithin, longestWait)
}

/** Runs of a schedule, the newest first. `lastRunAt` is when the last one ended: after another one they are others. */
export const runsQuery = (server: string, schedule: Schedule, page: number, perPage = runsPerPage) =>
  queryOptions({
    queryKey: [
      ...schedulesKey(server),
      schedule.id,
      'runs',
      { page, perPage, last: schedule.last_run_at, running: schedule.is_processing },
    ],
    queryFn: ({ signal }) =>
      request<PageOf<Run>>('GET', `${pathOf(server, schedule.id)}/runs`, {
        query: { page, per_page: perPage },
        signal,
      }),
    refetchInterval: ({ state }) =>
      state.data && rowsOf(state.data).some((run) => run.state === 'running') ? betweenLooks : false,
    placeholderData: keepPreviousData,
  })

/** When these times come next. */
export const previewQuery = (server: string, times: CronTimes) =>
  queryOptions({
    queryKey: [...schedulesKey(server), 'preview', times],
    queryFn: async ({ signal }) => {
      const answer = await request<ReturnType<typeof presentPreview>>('GET', `${pathOf(server)}/preview`, {
        query: times,
        signal,
      })
      return answer.attributes
    },
  })

export const addSchedule = (server: string, body: ScheduleInput) =>
  request<Item<Schedule>>('POST', pathOf(server), { body })

/** The schedule is what was sent. */
export const changeSchedule = (server: string, schedule: number, body: ScheduleInput) =>
  request<Item<Schedule>>('POST', pathOf(server, schedule), { body })

/** What a schedule would have to be told to stay as it is. */
export const inputOf = (schedule: Schedule): ScheduleInput => ({
  ...schedule.cron,
  timezone: schedule.timezone,
  name: schedule.name,
  is_active: schedule.is_active,
  only_when_online: schedule.only_when_online,
})

export const deleteSchedule = (server: string, schedule: number) =>
  request<void>('DELETE', pathOf(server, schedule))

/** It runs once, now; refused while a run is under way. */
export const runSchedule = (server: string, schedule: number) =>
  request<unknown>('POST', `${pathOf(server, schedule)}/execute`)

/** Changes the task, or adds one where none is named. */
export const saveTask = (server: string, schedule: number, task: number | null, body: TaskInput) =>
  request<Item<Task>>('POST', `${pathOf(server, schedule)}/tasks${task === null ? '' : `/${task}`}`, { body })

export const deleteTask = (server: string, schedule: number, task: number) =>
  request<void>('DELETE', `${pathOf(server, schedule)}/tasks/${task}`)
