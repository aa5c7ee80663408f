import { eq, sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { jobs } from '../../src/db/schema.ts'
import { jobHandlers } from '../../src/domain/jobs/handlers.ts'
import { enqueueJob, replaceJob } from '../../src/domain/jobs/enqueue.ts'
import { type JobHandlers, runJob, sweepJobs } from '../../src/domain/jobs/run.ts'
import type { Panel } from '../../src/panel.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()

/** Ids of servers whose job a worker began, in order. */
let begun: number[]
let work: (serverId: number) => Promise<void>
const handlers: JobHandlers = {
  ...jobHandlers,
  'sync-server': async (_panel, { serverId }) => {
    begun.push(serverId)
    await work(serverId)
  },
}

beforeEach(() => {
  begun = []
  work = async () => undefined
})

const add = (serverId: number, options = {}) => enqueueJob(world.panel, 'sync-server', { serverId }, options)
const rows = () =>
  world.database.db
    .select()
    .from(jobs)
    .orderBy(sql`(payload ->> 'serverId')::int`)
const onlyJob = async () => {
  const [job] = await rows()
  if (!job) throw new Error('There is no job.')
  return job
}
const secondsFromNow = (seconds: number) => new Date(world.clock.now.getTime() + seconds * 1000)

/** Opens another process over the same database, whose clock is off by some seconds. */
const anotherPanel = (skew = 0): Panel => ({
  ...world.panel,
  now: () => new Date(world.clock.now.getTime() + skew * 1000),
})

/** Creates a gate at which a handler waits, as a slow or frozen one does. */
function gate() {
  const [reached, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  return {
    reached: reached.promise,
    open: () => open.resolve(),
    wait: () => {
      reached.resolve()
      return open.promise
    },
  }
}

describe('a worker', () => {
  it('holds a job alone, also against a process whose clock goes two minutes ahead', async () => {
    await add(1)
    const { id } = await onlyJob()
    const frozen = gate()
    work = frozen.wait
    const running = runJob(world.panel, id, handlers)
    await frozen.reached
    for (const skew of [-120, 0, 120]) {
      expect(await runJob(anotherPanel(skew), id, handlers)).toBe('not due')
      expect(await sweepJobs(anotherPanel(skew), handlers)).toBe(0)
    }
    frozen.open()
    expect(await running).toBe('done')
    expect(begun).toEqual([1])
  })

  it.each([
    ['finish', false],
    ['postpone', true],
  ])('whose lease ran out cannot %s the job of its successor', async (_verb, throws) => {
    await add(1)
    const { id } = await onlyJob()
    const [first, second] = [gate(), gate()]
    work = async () => {
      await (begun.length === 1 ? first : second).wait()
      if (begun.length === 1 || throws) throw new Error('of a worker that came too late')
    }
    const outlived = runJob(world.panel, id, handlers)
    await first.reached
    world.clock.advance(200)
    work = async () => second.wait()
    const successor = runJob(anotherPanel(), id, handlers)
    await second.reached
    const between = await onlyJob()
    first.open()
    await outlived
    expect(await onlyJob()).toEqual(between)
    second.open()
    expect(await successor).toBe('done')
    expect(await onlyJob()).toMatchObject({ state: 'done', fence: 2, lastError: null })
  })

  it('that crashes each time does not block the others, and in the end the job is dead', async () => {
    await add(1, { lifetimeSeconds: 1000 })
    const { id } = await onlyJob()
    /** Claims the job and never ends it. */
    const die = async () => {
      work = () => new Promise(() => undefined)
      void runJob(world.panel, id, handlers)
      await expect.poll(() => begun.length).toBeGreaterThan(0)
      begun.length = 0
    }
    await die()
    expect((await onlyJob()).runAt).toEqual(secondsFromNow(180))
    for (let death = 1; death < 6; death += 1) {
      world.clock.advance(190)
      await add(100 + death, { runAt: secondsFromNow(-15) })
      await add(200 + death, { runAt: secondsFromNow(-5) })
      work = async (serverId) => {
        if (serverId === 1) throw new Error('It should not have run.')
      }
      const due = await world.database.db.select().from(jobs).orderBy(jobs.runAt)
      expect(due.filter(({ state }) => state === 'waiting').map(({ payload }) => payload.serverId)).toEqual([
        100 + death,
        1,
        200 + death,
      ])
      for (const { id: other, payload } of due)
        if (payload.serverId !== 1) await runJob(world.panel, other, handlers)
      begun.length = 0
      if (world.clock.now <= (await onlyJob()).deadlineAt) await die()
    }
    world.clock.advance(1000)
    expect(await sweepJobs(world.panel, handlers)).toBe(1)
    expect(begun).toEqual([])
    expect(await onlyJob()).toMatchObject({ state: 'dead', lastError: 'The worker ended before the job.' })
  })

  it('runs a job that was never tried even after its deadline, and is told how late', async () => {
    await add(1, { lifetimeSeconds: 60 })
    world.clock.advance(86_400)
    let lateness = 0
    const lateHandlers: JobHandlers = {
      ...handlers,
      'sync-server': async (_panel, _payload, job) => void (lateness = job.latenessSeconds),
    }
    expect(await sweepJobs(world.panel, lateHandlers)).toBe(1)
    expect(lateness).toBe(86_400)
    expect(await onlyJob()).toMatchObject({ state: 'done' })
  })

  it('goes on after the clock was put back: the job waits until its time comes again', async () => {
    work = async () => {
      throw new Error('not yet')
    }
    await add(1)
    await sweepJobs(world.panel, handlers)
    const { runAt } = await onlyJob()
    world.clock.advance(-7200)
    expect(await sweepJobs(world.panel, handlers)).toBe(0)
    world.clock.now = new Date(runAt.getTime() + 1)
    work = async () => undefined
    expect(await sweepJobs(world.panel, handlers)).toBe(1)
  })
})

describe('the reason of a failure', () => {
  it.each([
    ['with a letter that no database takes', () => Promise.reject(new Error('a\0b\ud800')), /^ab/],
    ['that is no error', () => Promise.reject('plain' as unknown as Error), /^plain$/],
    [
      'of the database, without the values of the statement',
      async () => void (await world.database.db.execute(sql`select ${'a secret'}::text from nowhere`)),
      /^(?!.*a secret).*nowhere/,
    ],
  ])('is kept: %s', async (_name, fail, reason) => {
    work = fail
    await add(1)
    expect(await sweepJobs(world.panel, handlers)).toBe(1)
    const job = await onlyJob()
    expect(job).toMatchObject({ state: 'waiting', leasedUntil: null })
    expect(job.lastError).toMatch(reason)
  })
})

describe('a sweep', () => {
  const many = async (count: number, payload = (at: number) => ({ serverId: at })) => {
    for (let at = 0; at < count; at += 1)
      await enqueueJob(world.panel, 'sync-server', payload(at), { runAt: secondsFromNow(at - count) })
  }

  it('runs many at once, but not all, the longest due first', async () => {
    await many(60)
    let [now, most] = [0, 0]
    const sixteen = Promise.withResolvers<void>()
    work = async () => {
      now += 1
      most = Math.max(most, now)
      // None ends before sixteen have begun, so that who begins early does not depend on who ends early.
      if (now === 16) sixteen.resolve()
      await sixteen.promise
      now -= 1
    }
    expect(await sweepJobs(world.panel, handlers)).toBe(60)
    expect(most).toBe(16)
    expect(new Set(begun.slice(0, 16))).toEqual(new Set(Array.from({ length: 16 }, (_, at) => at)))
  })

  it('skips no job because of one that fails or hangs', async () => {
    await many(40)
    const hanging = gate()
    work = async (serverId) => {
      if (serverId === 0) await hanging.wait()
      if (serverId === 1) throw new Error('poison')
    }
    const sweeping = sweepJobs(world.panel, handlers)
    await expect.poll(() => begun.length).toBe(40)
    await expect.poll(async () => (await rows()).filter(({ state }) => state === 'done').length).toBe(38)
    hanging.open()
    expect(await sweeping).toBe(40)
  })

  it('takes all there are within its time, and begins none after it', async () => {
    await many(250)
    work = async () => world.clock.advance(0.01)
    expect(await sweepJobs(world.panel, handlers, { until: secondsFromNow(60) })).toBe(250)
    await many(250)
    begun.length = 0
    const ran = await sweepJobs(world.panel, handlers, { until: secondsFromNow(1) })
    expect(ran).toBe(begun.length)
    expect(ran).toBeGreaterThanOrEqual(100)
    expect(ran).toBeLessThanOrEqual(116)
  })

  it('leaves to their messages what became due only lately', async () => {
    await many(10)
    expect(await sweepJobs(world.panel, handlers, { dueBy: secondsFromNow(-5) })).toBe(6)
    expect(begun.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('announces what its jobs leave behind with one message', async () => {
    await many(30)
    const sent: number[] = []
    const panel = { ...world.panel, wake: (woken: readonly unknown[]) => void sent.push(woken.length) }
    work = async (serverId) => {
      if (serverId % 2 === 0) throw new Error('later')
    }
    await sweepJobs(panel, handlers)
    expect(sent).toEqual([15])
  })

  it('by two processes at once does each job once', async () => {
    await many(80)
    const counts = await Promise.all([
      sweepJobs(world.panel, handlers),
      sweepJobs(anotherPanel(30), handlers),
    ])
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(80)
    expect(begun.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 80 }, (_, at) => at))
  })
})

describe('a job that comes again', () => {
  it('waits once under its key, also when two workers ask for it', async () => {
    await add(1, { key: 'again' })
    const again = () =>
      replaceJob(world.panel, 'sync-server', { serverId: 2 }, { key: 'again', runAt: secondsFromNow(60) })
    await Promise.all([again(), again(), again()])
    const waiting = await world.database.db.select().from(jobs).where(eq(jobs.state, 'waiting'))
    expect(waiting).toMatchObject([{ payload: { serverId: 2 }, runAt: secondsFromNow(60) }])
  })

  it('is announced anew when it is asked for while it runs', async () => {
    await add(1, { key: 'one' })
    work = async () => {
      if (begun.length > 1) return
      world.clock.advance(5)
      await add(1, { key: 'one' })
    }
    await runJob(world.panel, (await onlyJob()).id, handlers)
    expect(await onlyJob()).toMatchObject({ state: 'waiting', leasedUntil: null, runAt: world.clock.now })
    expect(world.messages).toHaveLength(2)
    expect(await sweepJobs(world.panel, handlers)).toBe(1)
    expect(await onlyJob()).toMatchObject({ state: 'done' })
  })
})
