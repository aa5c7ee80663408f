import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { schedules, scheduleSteps, settings, tasks } from '../../src/db/schema.ts'
import { useWorld } from '../support/world.ts'
import {
  command,
  notFound,
  createScheduleFixtures,
  listEvents,
  refusalIn,
  type ScheduleFixtures,
  taskResource,
} from './schedule-fixtures.ts'

const world = useWorld()
let fixtures: ScheduleFixtures
let schedule: number

beforeEach(async () => {
  fixtures = await createScheduleFixtures(world)
  schedule = await fixtures.add()
})

const at = (task?: number) => `/${schedule}/tasks${task === undefined ? '' : `/${task}`}`

describe('a task', () => {
  it('is added, changed and removed', async () => {
    const added = await fixtures.post(at(), { ...command, payload: ' say hi ' })
    const { id } = added.body.attributes
    expect([added.status, added.body]).toEqual([200, taskResource(id)])
    const changes = { action: 'power', payload: 'restart', time_offset: '900', continue_on_failure: 1 }
    const changed = await fixtures.post(at(id), changes)
    expect([changed.status, changed.body]).toEqual([
      200,
      taskResource(id, {
        ...changes,
        time_offset: 900,
        continue_on_failure: true,
        updated_at: '2031-03-01T12:00:00+00:00',
      }),
    ])
    expect(await fixtures.tasksOf(schedule)).toEqual([changed.body.attributes])
    expect((await fixtures.remove(at(id))).status).toBe(204)
    expect(await fixtures.tasksOf(schedule)).toEqual([])
    expect(refusalIn(await fixtures.remove(at(id)))).toEqual(notFound)
    expect(refusalIn(await fixtures.post(at(id), command))).toEqual(notFound)
  })

  it('may make a backup, of which its payload names what is left out', async () => {
    const bare = await fixtures.post(at(), { action: 'backup', time_offset: 0 })
    expect(bare.body).toEqual(taskResource(bare.body.attributes.id, { action: 'backup', payload: '' }))
    const payload = '*.log\ncache/'
    const full = await fixtures.post(at(), { action: 'backup', payload, time_offset: 0 })
    expect(full.body.attributes).toMatchObject({ action: 'backup', payload, sequence_id: 2 })
  })

  it('keeps as many backups of schedules as it says, also after a client that does not know of it', async () => {
    const backup = { action: 'backup', payload: '', time_offset: 0 }
    const added = await fixtures.post(at(), { ...backup, keep_backups: '4' })
    const { id } = added.body.attributes
    expect(added.body).toEqual(taskResource(id, { action: 'backup', payload: '', keep_backups: 4 }))
    const changed = await fixtures.post(at(id), { ...backup, time_offset: 60 })
    expect(changed.body.attributes).toMatchObject({ time_offset: 60, keep_backups: 4 })
    const emptied = await fixtures.post(at(id), { ...backup, keep_backups: null })
    expect(emptied.body.attributes).not.toHaveProperty('keep_backups')
    await fixtures.post(at(id), { ...backup, keep_backups: 100 })
    const command = await fixtures.post(at(id), { action: 'command', payload: 'say hi', time_offset: 0 })
    expect(command.body.attributes).not.toHaveProperty('keep_backups')
  })

  it('is recorded with its schedule and what it does', async () => {
    const id = await fixtures.addTask(schedule)
    await fixtures.post(at(id), { ...command, action: 'power', payload: 'kill' })
    await fixtures.remove(at(id))
    expect((await listEvents(world)).slice(1)).toEqual([
      ['server:task.create', { name: 'Hourly', action: 'command', payload: 'say hi' }],
      ['server:task.update', { name: 'Hourly', action: 'power', payload: 'kill' }],
      ['server:task.delete', { name: 'Hourly' }],
    ])
  })

  it('changes when its schedule was last changed', async () => {
    const changedAt = async () => (await fixtures.get(`/${schedule}`)).body.attributes.updated_at
    world.clock.advance(3600)
    const id = await fixtures.addTask(schedule)
    expect(await changedAt()).toBe('2031-03-01T13:00:00+00:00')
    world.clock.advance(3600)
    await fixtures.post(at(id), command)
    expect(await changedAt()).toBe('2031-03-01T14:00:00+00:00')
    world.clock.advance(3600)
    await fixtures.remove(at(id))
    expect(await changedAt()).toBe('2031-03-01T15:00:00+00:00')
  })

  it('is not another schedule’s', async () => {
    const other = await fixtures.add({ name: 'Other' })
    const id = await fixtures.addTask(other)
    expect(refusalIn(await fixtures.post(at(id), { ...command, payload: 'stolen' }))).toEqual(notFound)
    expect(refusalIn(await fixtures.remove(at(id)))).toEqual(notFound)
    expect(refusalIn(await fixtures.post(at(99), command))).toEqual(notFound)
    expect(refusalIn(await fixtures.post('/99/tasks', command))).toEqual(notFound)
    expect(await fixtures.tasksOf(other)).toMatchObject([{ id, payload: 'say hi' }])
    expect(await world.events()).toHaveLength(3)
  })

  it('leaves what a run did with it behind when it goes', async () => {
    const id = await fixtures.addTask(schedule)
    await fixtures.addTask(schedule, { time_offset: 60 })
    await fixtures.post(`/${schedule}/execute`)
    expect((await fixtures.remove(at(id))).status).toBe(204)
    const steps = await world.database.db.select().from(scheduleSteps).orderBy(scheduleSteps.sequenceId)
    expect(steps.map(({ taskId, payload }) => [taskId, payload])).toEqual([
      [null, 'say hi'],
      [2, 'say hi'],
    ])
  })
})

describe('fields of a task', () => {
  it.each([
    [{ action: undefined }, ['action', 'required']],
    [{ action: 'delete_files' }, ['action', 'in']],
    [{ payload: undefined }, ['payload', 'required_unless']],
    [{ payload: null }, ['payload', 'required_unless']],
    [{ payload: ' ' }, ['payload', 'required_unless']],
    [{ payload: 7 }, ['payload', 'string']],
    [{ payload: 'say a\nop me' }, ['payload', 'regex']],
    [{ payload: 'say a\u0007' }, ['payload', 'regex']],
    [{ payload: 'x'.repeat(4097) }, ['payload', 'max']],
    [{ action: 'power', payload: undefined }, ['payload', 'required_unless']],
    [{ action: 'power', payload: 'explode' }, ['payload', 'in']],
    [{ action: 'power', payload: 'START' }, ['payload', 'in']],
    [{ action: 'power', payload: 'constructor' }, ['payload', 'in']],
    [{ action: 'backup', payload: 'a\u0000b'.replace('\u0000', '\u0001') }, ['payload', 'regex']],
    [{ time_offset: undefined }, ['time_offset', 'required']],
    [{ time_offset: -1 }, ['time_offset', 'min']],
    [{ time_offset: 901 }, ['time_offset', 'max']],
    [{ time_offset: 'soon' }, ['time_offset', 'integer']],
    [{ sequence_id: 'first' }, ['sequence_id', 'numeric']],
    [{ sequence_id: 1.5 }, ['sequence_id', 'integer']],
    [{ continue_on_failure: 'maybe' }, ['continue_on_failure', 'boolean']],
    [{ keep_backups: 0 }, ['keep_backups', 'min']],
    [{ keep_backups: 101 }, ['keep_backups', 'max']],
    [{ keep_backups: 'all' }, ['keep_backups', 'integer']],
  ])('are refused where they do not fit: %j', async (fields, failure) => {
    const id = await fixtures.addTask(schedule)
    for (const task of [undefined, id]) {
      const answer = await fixtures.post(at(task), { ...command, ...fields })
      expect(refusalIn(answer)).toEqual([422, 'ValidationException', failure])
    }
    expect(await fixtures.tasksOf(schedule)).toMatchObject([{ id, payload: 'say hi' }])
    expect(await world.events()).toHaveLength(2)
  })

  it('are named together, in the order of the specification', async () => {
    expect(refusalIn(await fixtures.post(at(), {})).slice(2)).toEqual([
      ['action', 'required'],
      ['payload', 'required_unless'],
      ['time_offset', 'required'],
    ])
  })

  it('may be at their bounds', async () => {
    await fixtures.addTask(schedule, { payload: 'x'.repeat(4096), time_offset: 900 })
    await fixtures.addTask(schedule, { payload: 'say\ta', time_offset: 0 })
    expect((await fixtures.tasksOf(schedule)).map(({ time_offset }) => time_offset)).toEqual([900, 0])
  })
})

/** The permission that each action needs beside `schedule.update`. */
const actions = [
  [{ action: 'command', payload: 'list' }, 'control.console'],
  [{ action: 'power', payload: 'start' }, 'control.start'],
  [{ action: 'power', payload: 'stop' }, 'control.stop'],
  [{ action: 'power', payload: 'kill' }, 'control.stop'],
  [{ action: 'power', payload: 'restart' }, 'control.restart'],
  [{ action: 'backup', payload: '' }, 'backup.create'],
] as const
const rights = [...new Set(actions.map(([, right]) => right))]
const everythingBut = (right: string) => rights.filter((each) => each !== right)

describe('what a task does', () => {
  it.each(actions)('must be allowed to who stores it: %j needs %s', async (fields, right) => {
    const task = { ...command, ...fields }
    const able = await fixtures.subuser('schedule.update', right)
    const unable = await fixtures.subuser('schedule.update', 'schedule.read', ...everythingBut(right))
    expect(refusalIn(await fixtures.post(at(), task, unable))).toEqual([403, 'AccessDeniedHttpException'])
    const added = await fixtures.post(at(), task, able)
    expect(added.status).toBe(200)
    const { id } = added.body.attributes
    expect((await fixtures.post(at(id), { ...task, time_offset: 5 }, able)).status).toBe(200)
    // The subuser may not turn it into a permitted task, or a permitted task into it.
    const other = actions.find(([, needed]) => needed !== right)?.[0] ?? command
    const change = (path: string, wanted: object, as: string) =>
      fixtures.post(path, { ...command, ...wanted }, as)
    expect(refusalIn(await change(at(id), other, unable))).toEqual([403, 'AccessDeniedHttpException'])
    const mine = await fixtures.addTask(schedule, other)
    expect(refusalIn(await change(at(mine), fields, unable))).toEqual([403, 'AccessDeniedHttpException'])
    expect((await fixtures.tasksOf(schedule)).map(({ action, payload }) => ({ action, payload }))).toEqual([
      fields,
      other,
    ])
  })

  it('needs nothing more to be removed', async () => {
    const id = await fixtures.addTask(schedule)
    const unable = await fixtures.subuser(
      'schedule.read',
      'schedule.create',
      'schedule.delete',
      'control.console',
    )
    expect(refusalIn(await fixtures.remove(at(id), undefined, unable))).toEqual([
      403,
      'HttpForbiddenException',
    ])
    expect(refusalIn(await fixtures.post(at(), command, unable))).toEqual([403, 'AccessDeniedHttpException'])
    expect(refusalIn(await fixtures.post(at(id), command, unable))).toEqual([
      403,
      'AccessDeniedHttpException',
    ])
    expect(await fixtures.tasksOf(schedule)).toHaveLength(1)
    expect((await fixtures.remove(at(id), undefined, await fixtures.subuser('schedule.update'))).status).toBe(
      204,
    )
  })

  it('is no backup on a server that may have none', async () => {
    const poor = await createScheduleFixtures(world, { backupLimit: 0 })
    const id = await poor.add()
    const backup = { action: 'backup', payload: '', time_offset: 0 }
    const refused = [403, 'HttpForbiddenException']
    expect(refusalIn(await poor.post(`/${id}/tasks`, backup))).toEqual(refused)
    const task = await poor.addTask(id)
    expect(refusalIn(await poor.post(`/${id}/tasks/${task}`, backup))).toEqual(refused)
    expect(await poor.tasksOf(id)).toMatchObject([{ action: 'command' }])
    // What was stored before the limit sank can still be changed into something else.
    await world.database.db.update(tasks).set({ action: 'backup', payload: '' }).where(eq(tasks.id, task))
    expect((await poor.post(`/${id}/tasks/${task}`, command)).status).toBe(200)
  })
})

describe('the number of tasks', () => {
  it('is limited, also for many callers at once', async () => {
    await world.database.db.insert(settings).values({ key: 'schedules.tasks_per_schedule', value: 3 })
    const answers = await Promise.all(Array.from({ length: 20 }, () => fixtures.post(at(), command)))
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(refusalIn)).toEqual(Array(17).fill([400, 'ServiceLimitExceededException']))
    expect((await fixtures.tasksOf(schedule)).map(({ sequence_id }) => sequence_id)).toEqual([1, 2, 3])
    expect(await world.events()).toHaveLength(4)
    // Another schedule has room, and so has this one once a task is gone.
    expect((await fixtures.post(`/${await fixtures.add()}/tasks`, command)).status).toBe(200)
    await fixtures.remove(at(1))
    expect((await fixtures.post(at(), command)).status).toBe(200)
  })

  it('is ten unless the administrator has said otherwise', async () => {
    for (let count = 0; count < 10; count += 1) await fixtures.addTask(schedule)
    expect(refusalIn(await fixtures.post(at(), command))).toEqual([400, 'ServiceLimitExceededException'])
    expect(await world.database.db.select().from(schedules)).toHaveLength(1)
  })
})
