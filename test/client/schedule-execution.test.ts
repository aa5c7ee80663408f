import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { scheduleRuns, schedules, servers, tasks } from '../../src/db/schema.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import { makeNode } from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'
import {
  hourly,
  createScheduleFixtures,
  listEvents,
  refusalIn,
  type ScheduleFixtures,
} from './schedule-fixtures.ts'

const world = useWorld()
const daemon = useStubDaemon()
let fixtures: ScheduleFixtures
let schedule: number

beforeEach(async () => {
  fixtures = await createScheduleFixtures(world, {
    node: await makeNode(world, { daemonListen: daemon.port }),
  })
  schedule = await fixtures.add()
})

/** Adds tasks `a`, `b`, … in this order. */
async function addTasks(names: string): Promise<void> {
  for (const payload of names) await fixtures.addTask(schedule, { payload })
}

const daemonCalls = () =>
  daemon.calls.filter(({ method }) => method === 'POST').map(({ body }) => body.commands?.[0] ?? body.action)
const execute = (as?: string) => fixtures.post(`/${schedule}/execute`, undefined, as)
const runs = async () =>
  (await fixtures.get(`/${schedule}/runs`)).body.data.map((item: any) => item.attributes)

describe('a schedule that is run by hand', () => {
  it('runs at once, active or not, and keeps its times', async () => {
    await addTasks('ab')
    const { status, body, text } = await execute()
    expect([status, body, text]).toEqual([202, [], '[]'])
    expect((await fixtures.get(`/${schedule}`)).body.attributes).toMatchObject({
      is_active: false,
      is_processing: true,
      next_run_at: '2031-03-01T13:00:00+00:00',
    })
    expect((await fixtures.tasksOf(schedule)).map(({ is_queued }) => is_queued)).toEqual([true, false])
    await world.runJobs()
    await world.runJobs()
    expect(daemonCalls()).toEqual(['a', 'b'])
    expect((await fixtures.get(`/${schedule}`)).body.attributes).toMatchObject({
      is_processing: false,
      last_run_at: '2031-03-01T12:00:00+00:00',
    })
    expect((await fixtures.tasksOf(schedule)).map(({ is_queued }) => is_queued)).toEqual([false, false])
    expect((await listEvents(world)).at(-1)).toEqual(['server:schedule.execute', { name: 'Hourly' }])
  })

  it('waits for no offset before its first task, and for those of the others', async () => {
    await fixtures.addTask(schedule, { payload: 'a', time_offset: 300 })
    await fixtures.addTask(schedule, { payload: 'b', time_offset: 300 })
    await execute()
    await world.runJobs()
    expect(daemonCalls()).toEqual(['a'])
    world.clock.advance(299)
    await world.runJobs()
    expect(daemonCalls()).toEqual(['a'])
    world.clock.advance(1)
    await world.runJobs()
    expect(daemonCalls()).toEqual(['a', 'b'])
  })

  it('is refused without tasks and while it runs', async () => {
    expect(refusalIn(await execute())).toEqual([400, 'DisplayException'])
    await addTasks('a')
    const answers = await Promise.all(Array.from({ length: 10 }, () => execute()))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      202,
      ...Array(9).fill(409),
    ])
    expect(refusalIn(await execute())).toEqual([409, 'ConflictHttpException'])
    await world.runJobs()
    expect(daemonCalls()).toEqual(['a'])
    expect((await execute()).status).toBe(202)
    expect((await world.events()).filter((event) => event === 'server:schedule.execute')).toHaveLength(2)
  })

  it('needs schedule.update, and the right to do what each of its tasks does', async () => {
    await addTasks('a')
    await fixtures.addTask(schedule, { action: 'power', payload: 'kill' })
    await fixtures.addTask(schedule, { action: 'backup', payload: '' })
    const all = ['schedule.update', 'control.console', 'control.stop', 'backup.create']
    for (const missing of all) {
      const as = await fixtures.subuser(
        ...all.filter((right) => right !== missing),
        'control.start',
        'control.restart',
      )
      expect(refusalIn(await execute(as))).toEqual([403, 'AccessDeniedHttpException'])
    }
    expect(await world.database.db.select().from(scheduleRuns)).toEqual([])
    expect((await execute(await fixtures.subuser(...all))).status).toBe(202)
  })

  it('may be run again at once when an edit cancelled the current run', async () => {
    await fixtures.addTask(schedule, { payload: 'a' })
    await fixtures.addTask(schedule, { payload: 'b', time_offset: 600 })
    await world.database.db.update(schedules).set({ isActive: true })
    world.clock.now = new Date('2031-03-01T13:00:10Z')
    await runTick(world.panel)
    expect(refusalIn(await execute())).toEqual([409, 'ConflictHttpException'])
    expect((await fixtures.post(`/${schedule}`, { ...hourly, is_active: true })).status).toBe(200)
    world.clock.advance(1)
    expect((await execute()).status).toBe(202)
    await world.runJobs()
    expect(daemonCalls()).toEqual(['a', 'a'])
    for (let minutes = 0; minutes < 11; minutes += 1) {
      world.clock.advance(60)
      await runTick(world.panel)
    }
    expect(daemonCalls()).toEqual(['a', 'a', 'b'])
    const ended = ({ trigger, state, reason, reason_code: code }: any) => [trigger, state, reason, code]
    expect((await runs()).map(ended)).toEqual([
      ['manual', 'succeeded', null, null],
      ['cron', 'skipped', 'The schedule was changed.', 'schedule_changed'],
    ])
    expect((await fixtures.get(`/${schedule}`)).body.attributes).toMatchObject({ is_processing: false })
  })
})

describe('the runs of a schedule', () => {
  it('are listed with every step, who asked for them, and why they ended', async () => {
    await fixtures.addTask(schedule, { payload: 'a', continue_on_failure: true })
    await fixtures.addTask(schedule, { action: 'power', payload: 'restart', time_offset: 30 })
    await execute()
    daemon.respond({ status: 502, json: { error: 'secret of the node' } })
    await world.runJobs()
    daemon.respond(null)
    world.clock.advance(30)
    await world.runJobs()
    const step = { action: 'command', payload: 'a', sequence_id: 1 }
    expect(await runs()).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        trigger: 'manual',
        requested_by: fixtures.owner.username,
        state: 'succeeded',
        reason: null,
        reason_code: null,
        due_at: '2031-03-01T12:00:00+00:00',
        started_at: '2031-03-01T12:00:00+00:00',
        finished_at: '2031-03-01T12:00:30+00:00',
        steps: [
          {
            ...step,
            state: 'failed',
            reason: 'The server must be running to take commands.',
            reason_code: 'server_stopped',
            due_at: '2031-03-01T12:00:00+00:00',
            dispatched_at: '2031-03-01T12:00:00+00:00',
            finished_at: '2031-03-01T12:00:00+00:00',
          },
          {
            sequence_id: 2,
            action: 'power',
            payload: 'restart',
            state: 'succeeded',
            reason: null,
            reason_code: null,
            due_at: '2031-03-01T12:00:30+00:00',
            dispatched_at: '2031-03-01T12:00:30+00:00',
            finished_at: '2031-03-01T12:00:30+00:00',
          },
        ],
      },
    ])
  })

  it('name the cause in words for people, and by a code unless the words are those of the node', async () => {
    await fixtures.addTask(schedule, { action: 'power', payload: 'start' })
    const reasonAfter = async (prepare: () => Promise<unknown> | void) => {
      expect((await execute()).status).toBe(202)
      await prepare()
      await world.runJobs()
      daemon.respond(null)
      world.clock.advance(60)
      await world.database.db.update(servers).set({ status: null })
      const { state, reason, reason_code: code, steps } = (await runs())[0]
      if (steps[0].state === 'failed') expect(steps[0].reason_code).toBe(code)
      return [state, reason, code, steps[0].state]
    }
    expect(await reasonAfter(() => daemon.respond({ status: 500, json: { error: '/etc/secret' } }))).toEqual([
      'failed',
      'The node failed with status 500 (request daemon-request).',
      'node_failed',
      'failed',
    ])
    expect(await reasonAfter(() => daemon.respond({ status: 400, json: { error: 'suspended' } }))).toEqual([
      'failed',
      'suspended (request daemon-request)',
      null,
      'failed',
    ])
    expect(await reasonAfter(() => daemon.respond({ status: 403 }))).toEqual([
      'failed',
      'The node does not accept the credential of the panel (request daemon-request).',
      'node_refuses_panel',
      'failed',
    ])
    const suspend = () => world.database.db.update(servers).set({ status: 'suspended' })
    expect(await reasonAfter(suspend)).toEqual([
      'skipped',
      'The server was suspended.',
      'server_suspended',
      'skipped',
    ])
    await world.database.db.update(schedules).set({ onlyWhenOnline: true })
    const offline = () => daemon.respond({ json: { state: 'offline' } })
    expect(await reasonAfter(offline)).toEqual([
      'skipped',
      'The server was not online.',
      'server_offline',
      'skipped',
    ])
    expect(daemonCalls()).toEqual(['start', 'start', 'start'])
  })

  it('come in pages, the newest first', async () => {
    await addTasks('a')
    for (let count = 0; count < 3; count += 1) {
      await execute()
      await world.runJobs()
      world.clock.advance(60)
    }
    const { body } = await fixtures.get(`/${schedule}/runs?per_page=2`)
    expect(body.data.map((item: any) => item.attributes.started_at.slice(11, 16))).toEqual(['12:02', '12:01'])
    expect(body.meta.pagination).toMatchObject({
      total: 3,
      count: 2,
      per_page: 2,
      current_page: 1,
      total_pages: 2,
    })
    const second = await fixtures.get(`/${schedule}/runs?per_page=2&page=2`)
    expect(second.body.data.map((item: any) => item.attributes.started_at.slice(11, 16))).toEqual(['12:00'])
    expect((await fixtures.get(`/${await fixtures.add()}/runs`)).body).toMatchObject({
      object: 'list',
      data: [],
    })
  })

  it('go with their schedule', async () => {
    await addTasks('ab')
    await execute()
    await fixtures.remove(`/${schedule}`)
    await world.runJobs()
    expect(daemonCalls()).toEqual([])
    const { db } = world.database
    expect(await db.select().from(scheduleRuns)).toEqual([])
    expect(await db.select().from(tasks).where(eq(tasks.scheduleId, schedule))).toEqual([])
  })
})
