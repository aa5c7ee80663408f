import { eq, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { rowsOf } from '../../src/db/database.ts'
import { scheduleRuns, schedules, scheduleSteps, servers, tasks } from '../../src/db/schema.ts'
import { claimDueSchedules } from '../../src/domain/schedules/due-schedules.ts'
import { advanceRun } from '../../src/domain/schedules/advance-run.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import { testDriver } from '../support/database.ts'
import { makeClientToken, makeNode, makeServer, makeUser } from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let server: Awaited<ReturnType<typeof makeServer>>
let token: string

beforeEach(async () => {
  const owner = await makeUser(world)
  server = await makeServer(world, { owner, node: await makeNode(world, { daemonListen: daemon.port }) })
  token = await makeClientToken(world, owner)
  world.clock.now = new Date('2031-03-01T11:59:30Z')
})

const at = (path = '') => `/api/client/servers/${server.uuid}/schedules${path}`
const post = (path: string, body?: unknown) => world.request('POST', at(path), { token, body })

/** Makes an hourly schedule with these tasks. */
async function makeSchedule(steps: object[], fields: object = {}): Promise<number> {
  const body = {
    name: 'Hourly',
    is_active: true,
    minute: '0',
    hour: '*',
    day_of_month: '*',
    month: '*',
    day_of_week: '*',
  }
  const answer = await post('', { ...body, ...fields })
  expect(answer.status).toBe(200)
  const { id } = answer.body.attributes
  for (const step of steps) {
    const task = { action: 'command', payload: 'say hi', time_offset: 0, continue_on_failure: false, ...step }
    expect((await post(`/${id}/tasks`, task)).status).toBe(200)
  }
  return id
}

const daemonCalls = () =>
  daemon.calls.filter(({ method }) => method === 'POST').map(({ body }) => body.commands?.[0] ?? body.action)
const runs = () => world.database.db.select().from(scheduleRuns).orderBy(scheduleRuns.startedAt)
const steps = () => world.database.db.select().from(scheduleSteps).orderBy(scheduleSteps.sequenceId)
const schedule = async () => (await world.database.db.select().from(schedules))[0]

/** Advances the clock by a minute and runs the tick. */
async function minute(count = 1): Promise<void> {
  for (let passed = 0; passed < count; passed += 1) {
    world.clock.advance(60)
    await runTick(world.panel)
  }
}

/** Waits until a statement waits for a row; the embedded database runs one transaction at a time. */
async function untilStatementWaits(): Promise<void> {
  if (testDriver === 'pglite') return
  const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  while (rowsOf(await world.database.db.execute(waiting)).length === 0)
    await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('a schedule that is due', () => {
  it('runs its tasks in order, each after its own offset', async () => {
    await makeSchedule([
      { payload: 'say one' },
      { payload: 'say two', time_offset: 90 },
      { action: 'power', payload: 'restart', time_offset: 30 },
    ])
    await minute()
    expect(daemonCalls()).toEqual(['say one'])
    expect(await schedule()).toMatchObject({ isProcessing: true, lastRunAt: null })
    await minute()
    expect(daemonCalls()).toEqual(['say one'])
    await minute()
    expect(daemonCalls()).toEqual(['say one', 'say two'])
    await minute()
    expect(daemonCalls()).toEqual(['say one', 'say two', 'restart'])
    expect(await schedule()).toMatchObject({ isProcessing: false, lastRunAt: world.clock.now })
    expect(await runs()).toMatchObject([
      { state: 'succeeded', trigger: 'cron', dueAt: new Date('2031-03-01T12:00:00Z') },
    ])
    expect((await world.database.db.select().from(tasks)).filter(({ isQueued }) => isQueued)).toEqual([])
  })

  it('runs once for each time, however many claim and deliver', async () => {
    await makeSchedule([{ payload: 'once' }])
    world.clock.advance(40)
    await Promise.all(Array.from({ length: 8 }, () => claimDueSchedules(world.panel)))
    const [run] = await runs()
    await Promise.all(Array.from({ length: 8 }, () => advanceRun(world.panel, { runId: run?.id ?? '' })))
    await world.runJobs()
    expect(daemonCalls()).toEqual(['once'])
    expect(await runs()).toHaveLength(1)
    expect(await schedule()).toMatchObject({ isProcessing: false })
  })

  it('is still processing when another run has begun while one ended', async () => {
    const id = await makeSchedule([{}])
    world.clock.advance(40)
    await claimDueSchedules(world.panel)
    const [run] = await runs()
    let ending: Promise<unknown> = Promise.resolve()
    await world.database.transaction(async (db) => {
      await db.update(schedules).set({ isProcessing: true }).where(eq(schedules.id, id))
      await db.insert(scheduleRuns).values({ scheduleId: id, trigger: 'manual', dueAt: world.clock.now })
      ending = advanceRun(world.panel, { runId: run?.id ?? '' })
      await untilStatementWaits()
    })
    await ending
    expect(await runs()).toMatchObject([{ state: 'running' }, { id: run?.id, state: 'succeeded' }])
    expect(await schedule()).toMatchObject({ isProcessing: true })
  })

  it('is skipped once, and said to be, when the panel was away for long', async () => {
    await makeSchedule([{}])
    world.clock.advance(3 * 3600)
    await runTick(world.panel)
    expect(daemonCalls()).toEqual([])
    expect(await runs()).toMatchObject([{ state: 'skipped' }])
    expect(await schedule()).toMatchObject({
      nextRunAt: new Date('2031-03-01T15:00:00Z'),
      isProcessing: false,
    })
    world.clock.now = new Date('2031-03-01T15:00:05Z')
    await runTick(world.panel)
    expect(daemonCalls()).toHaveLength(1)
  })

  it('is skipped when the daemon takes until the next time to say that the server is online', async () => {
    await makeSchedule([{ time_offset: 90 }], { only_when_online: true })
    await minute()
    world.clock.now = new Date('2031-03-01T12:59:58Z')
    daemon.respond(({ method }) => {
      if (method === 'GET') world.clock.advance(5)
      return { json: { state: 'running' } }
    })
    await runTick(world.panel)
    expect(daemonCalls()).toEqual([])
    expect(await runs()).toMatchObject([{ state: 'skipped' }])
  })

  it('is not run while its server is suspended', async () => {
    await makeSchedule([{}])
    await world.database.db.update(servers).set({ status: 'suspended' }).where(eq(servers.id, server.id))
    await minute()
    expect(daemonCalls()).toEqual([])
    expect(await runs()).toMatchObject([{ state: 'skipped', reason: 'The server was suspended.' }])
    expect(await schedule()).toMatchObject({ isProcessing: false })
  })
})

describe('a step', () => {
  it('whose process died after it was marked is not sent again', async () => {
    await makeSchedule([{ payload: 'a', continue_on_failure: true }, { payload: 'b' }])
    world.clock.advance(40)
    await claimDueSchedules(world.panel)
    await world.database.db
      .update(scheduleSteps)
      .set({ state: 'dispatched' })
      .where(eq(scheduleSteps.sequenceId, 1))
    await minute(2)
    expect(daemonCalls()).toEqual(['b'])
    expect((await steps()).map(({ state }) => state)).toEqual(['unknown', 'succeeded'])
    expect(await runs()).toMatchObject([{ state: 'succeeded' }])
  })

  it('that the node refuses ends the run, unless it may go on', async () => {
    daemon.respond({ status: 502, json: { error: 'stopped' } })
    await makeSchedule([{ payload: 'a', continue_on_failure: true }, { payload: 'b' }, { payload: 'c' }])
    await minute(3)
    expect(daemonCalls()).toEqual(['a', 'b'])
    expect((await steps()).map(({ state }) => state)).toEqual(['failed', 'failed', 'skipped'])
    expect(await runs()).toMatchObject([
      { state: 'failed', reason: 'The server must be running to take commands.' },
    ])
    expect(await schedule()).toMatchObject({ isProcessing: false })
  })

  it('is not made once its schedule was changed, but those of a run by hand are', async () => {
    const id = await makeSchedule([{ payload: 'a' }, { payload: 'b', time_offset: 120 }])
    await minute()
    world.clock.advance(1)
    expect(
      (
        await post(`/${id}`, {
          name: 'Other',
          is_active: true,
          minute: '0',
          hour: '*',
          day_of_month: '*',
          day_of_week: '*',
        })
      ).status,
    ).toBe(200)
    await minute(3)
    expect(daemonCalls()).toEqual(['a'])
    expect(await runs()).toMatchObject([{ state: 'skipped' }])
    expect((await post(`/${id}/execute`)).status).toBe(202)
    expect((await post(`/${id}/execute`)).status).toBe(409)
    await world.runJobs()
    world.clock.advance(1)
    expect(
      (
        await post(`/${id}`, {
          name: 'Off',
          is_active: false,
          minute: '0',
          hour: '*',
          day_of_month: '*',
          day_of_week: '*',
        })
      ).status,
    ).toBe(200)
    await minute(3)
    expect(daemonCalls()).toEqual(['a', 'a', 'b'])
  })
})

describe('an abandoned run', () => {
  it('is found by the tick', async () => {
    await makeSchedule([{ payload: 'late' }])
    world.clock.advance(40)
    await claimDueSchedules(world.panel)
    await world.database.db.execute('delete from jobs')
    await minute(3)
    expect(daemonCalls()).toEqual(['late'])
    expect(await schedule()).toMatchObject({ isProcessing: false })
  })
})
