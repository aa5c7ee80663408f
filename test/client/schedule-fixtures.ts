import { expect } from 'vitest'
import { activity } from '../../src/db/schema.ts'
import type { Answer } from '../support/answers.ts'
import { makeClientToken, makeServer, makeSubuser, makeUser } from '../support/factories.ts'
import type { World } from '../support/world.ts'

/** The fields of an hourly schedule; change them by spreading. */
export const hourly = {
  name: 'Hourly',
  minute: '0',
  hour: '*',
  day_of_month: '*',
  month: '*',
  day_of_week: '*',
}

/** A console command without an offset. */
export const command = { action: 'command', payload: 'say hi', time_offset: 0 }

/** A server with its owner, and functions that send requests about its schedules. */
export type ScheduleFixtures = Awaited<ReturnType<typeof createScheduleFixtures>>

/** Creates a server with its owner, and sets the clock to a noon in 2031. */
export async function createScheduleFixtures(world: World, values: Parameters<typeof makeServer>[1] = {}) {
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
    /** Adds a schedule; returns its id. */
    add: async (fields: object = {}) => idOf(await post('', { ...hourly, ...fields })),
    /** Adds a task; returns its id. */
    addTask: async (schedule: number, fields: object = {}) =>
      idOf(await post(`/${schedule}/tasks`, { ...command, ...fields })),
    /** Lists the tasks of a schedule as the API shows them. */
    tasksOf: async (schedule: number): Promise<any[]> => {
      const { body } = await ask('GET')(`/${schedule}`)
      return body.attributes.relationships.tasks.data.map((item: any) => item.attributes)
    },
    /** Makes a subuser with these permissions; returns a token of theirs. */
    subuser: async (...permissions: string[]) => {
      const friend = await makeUser(world)
      await makeSubuser(world, server, friend, permissions)
      return makeClientToken(world, friend)
    },
  }
}

/** Lists the recorded events with their properties, oldest first. */
export async function listEvents(world: World): Promise<[event: string, properties: unknown][]> {
  const rows = await world.database.db.select().from(activity).orderBy(activity.id)
  return rows.map(({ event, properties }) => [event, properties])
}

/** Summarises a refusal: status, code, and field with rule of each error. */
export const refusalIn = ({ status, body }: Answer) => [
  status,
  body.errors[0].code,
  ...body.errors.flatMap((error: any) =>
    error.meta?.rule ? [[error.meta.source_field, error.meta.rule]] : [],
  ),
]

export const notFound = [404, 'NotFoundHttpException']

/** Any instant, where the clock of the database decides. */
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/)

/** Builds the resource of the hourly schedule. */
export const scheduleResource = (id: number, changes: object = {}, tasks: object[] = []) => ({
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

/** Builds the resource of `command` as the first task of its schedule. */
export const taskResource = (id: number, changes: object = {}) => ({
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
