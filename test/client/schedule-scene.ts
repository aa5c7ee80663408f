import { expect } from 'vitest'
import { activity } from '../../src/db/schema.ts'
import type { Answer } from '../support/answers.ts'
import { makeClientToken, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import type { World } from '../support/world.ts'

/** The fields of a schedule of every hour; change them by spreading. */
export const hourly = {
  name: 'Hourly',
  minute: '0',
  hour: '*',
  day_of_month: '*',
  month: '*',
  day_of_week: '*',
}

/** A line for the console, at once. */
export const command = { action: 'command', payload: 'say hi', time_offset: 0 }

/** A server with its owner, at noon, and what is asked of its schedules. */
export type ScheduleScene = Awaited<ReturnType<typeof openScheduleScene>>

/** A server with its owner, at a noon in 2031. */
export async function openScheduleScene(world: World, values: Parameters<typeof makeServer>[1] = {}) {
  world.clock.now = new Date('2031-03-01T12:00:00Z')
  const owner = await makeUser(world)
  const server = await makeServer(world, { owner, backupLimit: 2, ...values })
  const token = await makeClientToken(world, owner)
  const ask =
    (method: string) =>
    (path = '', body?: unknown, as = token): Promise<Answer> =>
      world.request(method, `/api/client/servers/${server.uuid}/schedules${path}`, {
        token: as,
        ...(body === undefined ? {} : { body }),
      })
  const post = ask('POST')
  const idOf = (answer: Answer): number => {
    expect(answer.status).toBe(200)
    return answer.body.attributes.id
  }
  return {
    owner,
    server,
    token,
    get: ask('GET'),
    post,
    remove: ask('DELETE'),
    /** Adds a schedule; gives its id. */
    add: async (fields: object = {}) => idOf(await post('', { ...hourly, ...fields })),
    /** Adds a task; gives its id. */
    addTask: async (schedule: number, fields: object = {}) =>
      idOf(await post(`/${schedule}/tasks`, { ...command, ...fields })),
    /** The tasks of a schedule as they are shown. */
    tasksOf: async (schedule: number): Promise<any[]> => {
      const { body } = await ask('GET')(`/${schedule}`)
      return body.attributes.relationships.tasks.data.map((item: any) => item.attributes)
    },
    /** The token of somebody who may do this on the server. */
    subuser: async (...permissions: string[]) => {
      const friend = await makeUser(world)
      await makeSubuser(world, server, friend, permissions)
      return makeClientToken(world, friend)
    },
  }
}

/** The recorded events with their properties, oldest first. */
export async function recorded(world: World): Promise<[event: string, properties: unknown][]> {
  const rows = await world.database.db.select().from(activity).orderBy(activity.id)
  return rows.map(({ event, properties }) => [event, properties])
}

/** Status, code, and what was wrong with which field. */
export const refusalIn = ({ status, body }: Answer) => [
  status,
  body.errors[0].code,
  ...body.errors.flatMap((error: any) => (error.meta ? [[error.meta.source_field, error.meta.rule]] : [])),
]

export const notFound = [404, 'NotFoundHttpException']

/** Some instant, where it is the database's clock that says which. */
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)

/** The wire form of the schedule of every hour. */
export const shownSchedule = (id: number, changes: object = {}, tasks: object[] = []) => ({
  object: 'server_schedule',
  attributes: {
    id,
    name: 'Hourly',
    cron: { day_of_week: '*', day_of_month: '*', month: '*', hour: '*', minute: '0' },
    timezone: 'UTC',
    is_active: false,
    is_processing: false,
    only_when_online: false,
    last_run_at: null,
    next_run_at: '2031-03-01T13:00:00+00:00',
    created_at: instant,
    updated_at: instant,
    ...changes,
    relationships: { tasks: { object: 'list', data: tasks } },
  },
})

/** The wire form of `command`, the first of its schedule. */
export const shownTask = (id: number, changes: object = {}) => ({
  object: 'schedule_task',
  attributes: {
    id,
    sequence_id: 1,
    action: 'command',
    payload: 'say hi',
    time_offset: 0,
    is_queued: false,
    continue_on_failure: false,
    created_at: instant,
    updated_at: instant,
    ...changes,
  },
})
