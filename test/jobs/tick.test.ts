import { eq, type SQL, sql } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { jobs, scheduleRuns, schedules, tasks } from '../../src/db/schema.ts'
import { enqueueJob } from '../../src/domain/jobs/enqueue.ts'
import { claimDueSchedules } from '../../src/domain/schedules/due-schedules.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import type { Panel } from '../../src/panel.ts'
import { makeServer } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let serverId: number

beforeEach(async () => {
  serverId = (await makeServer(world)).id
})

/** Makes hourly schedules that were due a moment ago, each with two commands. */
async function makeDue(count: number, fields: Partial<typeof schedules.$inferInsert> = {}) {
  const nextRunAt = new Date(world.clock.now.getTime() - 1000)
  const times = { cronMinute: '0', cronHour: '*', cronDayOfMonth: '*', cronDayOfWeek: '*' }
  if (count === 0) return []
  const made = await world.database.db
    .insert(schedules)
    .values(
      Array.from({ length: count }, (_, at) => ({
        ...times,
        serverId,
        name: `No. ${at}`,
        isActive: true,
        nextRunAt,
        ...fields,
      })),
    )
    .returning({ id: schedules.id })
  await world.database.db.insert(tasks).values(
    made.flatMap(({ id }) =>
      [1, 2].map((sequenceId) => ({
        scheduleId: id,
        sequenceId,
        action: 'command' as const,
        payload: `say ${sequenceId}`,
        timeOffset: sequenceId === 1 ? 0 : 60,
      })),
    ),
  )
  return made
}

const runs = () => world.database.db.select().from(scheduleRuns)
const jobsNamed = (name: string) => world.database.db.select().from(jobs).where(eq(jobs.name, name))

/** Creates a panel with one failing statement. */
const failingAt = (part: RegExp): Panel => ({
  ...world.panel,
  transaction: (work) => world.panel.transaction((db) => work(brokenAt(part, db))),
  db: brokenAt(part, world.panel.db),
})
const brokenAt = (part: RegExp, db: Panel['db']): Panel['db'] =>
  new Proxy(db, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown
      if (name !== 'execute' || typeof value !== 'function') return value
      return (statement: SQL) => {
        const { sql: text } = new PgDialect({ casing: 'snake_case' }).sqlToQuery(statement)
        if (part.test(text)) throw new Error(`no ${part.source}`)
        return value.call(target, statement) as unknown
      }
    },
  })

describe('claiming', () => {
  it('costs three statements for a thousand schedules, however many tasks they have', async () => {
    const cost = async (count: number) => {
      await makeDue(count)
      return world.countStatements(() => claimDueSchedules(world.panel))
    }
    // The first statement looks whether any is due.
    expect([await cost(0), await cost(7), await cost(999)]).toEqual([1, 4, 4])
    // The last one finds that nothing is due any more.
    expect(await cost(1000)).toBe(5)
    expect(await cost(2500)).toBe(10)
  })

  it('announces a thousand runs together', async () => {
    await makeDue(1250)
    const sent: number[] = []
    const panel = { ...world.panel, wake: (woken: readonly unknown[]) => void sent.push(woken.length) }
    expect(await claimDueSchedules(panel)).toBe(1250)
    expect(sent).toEqual([1000, 250])
  })

  it('by four at once gives each schedule one run', async () => {
    await makeDue(3300)
    const counts = await Promise.all(Array.from({ length: 4 }, () => claimDueSchedules(world.panel)))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3300)
    const all = await runs()
    expect(new Set(all.map(({ scheduleId }) => scheduleId)).size).toBe(3300)
    expect(all).toHaveLength(3300)
    expect(await jobsNamed('run-schedule')).toHaveLength(3300)
  })

  it('skips one with invalid fields, which is never due again', async () => {
    const [broken] = await makeDue(1, { cronMinute: 'often', timezone: 'Nowhere/Land' })
    const [never] = await makeDue(1, { cronDayOfMonth: '31', cronMonth: '2' })
    await makeDue(3)
    expect(await claimDueSchedules(world.panel)).toBe(5)
    const rows = await world.database.db.select().from(schedules)
    const next = new Map(rows.map(({ id, nextRunAt }) => [id, nextRunAt]))
    expect([next.get(broken?.id ?? 0), next.get(never?.id ?? 0)]).toEqual([null, null])
    expect([...next.values()].filter((at) => at !== null && at > world.clock.now)).toHaveLength(3)
    expect(await claimDueSchedules(world.panel)).toBe(0)
  })

  it('ends with its time, and the next tick goes on', async () => {
    await makeDue(1250)
    const until = new Date(world.clock.now.getTime() - 1)
    expect(await claimDueSchedules(world.panel, until)).toBe(1000)
    expect(await claimDueSchedules(world.panel)).toBe(250)
  })

  it('leaves no trace of those whose transaction fails', async () => {
    await makeDue(5)
    await expect(claimDueSchedules(failingAt(/insert into "jobs"/))).rejects.toThrow('no insert')
    expect(await runs()).toEqual([])
    expect(world.messages).toEqual([])
    expect(await claimDueSchedules(world.panel)).toBe(5)
  })
})

describe('a tick', () => {
  it('says how much each part did', async () => {
    await makeDue(3)
    const report = await runTick(world.panel)
    expect(report.map(({ part }) => part)).toEqual([
      'schedules',
      'recurring',
      'trash',
      'runs',
      'heartbeats',
      'jobs',
    ])
    expect(report[0]).toMatchObject({ count: 3, milliseconds: expect.any(Number) })
    const states = (await jobsNamed('prune')).map(({ state }) => state)
    expect(states.toSorted((one, other) => one.localeCompare(other))).toEqual(['done', 'waiting'])
  })

  it('twice at the same time does everything once', async () => {
    await makeDue(120)
    await Promise.all([runTick(world.panel), runTick(world.panel), runTick(world.panel)])
    expect(await runs()).toHaveLength(120)
    const done = (await jobsNamed('run-schedule')).filter(({ state }) => state === 'done')
    expect(done.every(({ attempts }) => attempts === 1)).toBe(true)
    for (const name of ['maintain-activity', 'prune']) {
      expect((await jobsNamed(name)).filter(({ state }) => state === 'waiting')).toHaveLength(1)
    }
  })

  it.each([
    ['claiming schedules', /insert into "schedule_runs"/, 'no insert'],
    ['keeping recurring jobs', /insert into "jobs"/, 'no insert'],
  ])('does the others when one part fails: %s', async (_name, part, says) => {
    await makeDue(2)
    await enqueueJob(world.panel, 'sync-server', { serverId: 4711 })
    await expect(runTick(failingAt(part))).rejects.toThrow(says)
    expect((await jobsNamed('sync-server'))[0]).toMatchObject({ state: 'done' })
    expect(await runs()).toEqual([])
    await runTick(world.panel)
    expect(await runs()).toHaveLength(2)
    expect(await jobsNamed('prune')).not.toEqual([])
  })

  it('does not disturb a recurring job that takes longer than a minute', async () => {
    await runTick(world.panel)
    await world.database.db
      .update(jobs)
      .set({ leasedUntil: new Date(world.clock.now.getTime() + 180_000) })
      .where(eq(jobs.state, 'waiting'))
    const before = await jobsNamed('prune')
    world.clock.advance(60)
    await runTick(world.panel)
    expect(await jobsNamed('prune')).toEqual(before)
  })

  it('begins no job once its time is over, so that a function ends before it is ended', async () => {
    for (let at = 0; at < 150; at += 1) await enqueueJob(world.panel, 'sync-server', { serverId: at + 1000 })
    const now = vi.fn(() => world.clock.now)
    const panel = { ...world.panel, now }
    // Each look at the clock finds it half a second later.
    now.mockImplementation(() => {
      world.clock.advance(0.5)
      return world.clock.now
    })
    await runTick(panel)
    const done = (await jobsNamed('sync-server')).filter(({ state }) => state === 'done').length
    expect(done).toBeLessThan(30)
    await world.database.db.execute(sql`update jobs set run_at = now() where state = 'waiting'`)
    await runTick(world.panel)
    expect((await jobsNamed('sync-server')).filter(({ state }) => state !== 'done')).toEqual([])
  })
})

describe('a step that comes too late', () => {
  it('is skipped because it is too late', async () => {
    await makeDue(1)
    await claimDueSchedules(world.panel)
    world.clock.advance(3700)
    await world.runJobs()
    expect(await runs()).toMatchObject([{ state: 'skipped', reason: 'The panel was away when it was due.' }])
    expect((await world.database.db.select().from(schedules))[0]).toMatchObject({ isProcessing: false })
  })
})
