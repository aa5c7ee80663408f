import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { activity, jobs } from '../../src/db/schema.ts'
import { jobHandlers } from '../../src/domain/jobs/handlers.ts'
import { enqueueJob } from '../../src/domain/jobs/enqueue.ts'
import { runJob } from '../../src/domain/jobs/run.ts'
import { makeApplicationToken } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
let token: string

beforeEach(async () => {
  token = await makeApplicationToken(world)
})

const base = '/api/application/jobs'
const ask = (method: string, path = '') => world.request(method, `${base}${path}`, { token })
const later = (seconds: number) => new Date(world.clock.now.getTime() + seconds * 1000)

async function make(values: Partial<typeof jobs.$inferInsert> = {}): Promise<string> {
  const [job] = await world.database.db
    .insert(jobs)
    .values({ name: 'sync-server', payload: { serverId: 1 }, deadlineAt: later(86_400), ...values })
    .returning({ id: jobs.id })
  return job?.id ?? ''
}
const dead = (values: Partial<typeof jobs.$inferInsert> = {}) =>
  make({
    state: 'dead',
    attempts: 17,
    lastError: 'The node did not answer.',
    finishedAt: later(-3600),
    ...values,
  })
const rowOf = async (id: string) => (await world.database.db.select().from(jobs).where(eq(jobs.id, id)))[0]
const entries = async () =>
  (await world.database.db.select().from(activity)).map(({ event, properties }) => ({ event, properties }))

describe('jobs', () => {
  it('are listed with what they are about and why they failed', async () => {
    world.clock.now = new Date('2031-03-01T12:00:00Z')
    const id = await dead({ runAt: later(-3700), createdAt: later(-90_000), deadlineAt: later(-3600) })
    expect((await ask('GET')).body.data).toEqual([
      {
        object: 'job',
        attributes: {
          id,
          name: 'sync-server',
          state: 'dead',
          is_running: false,
          payload: { serverId: 1 },
          attempts: 17,
          run_at: '2031-03-01T10:58:20+00:00',
          deadline_at: '2031-03-01T11:00:00+00:00',
          last_error: 'The node did not answer.',
          finished_at: '2031-03-01T11:00:00+00:00',
          created_at: '2031-02-28T11:00:00+00:00',
        },
      },
    ])
  })

  it('are listed in pages: those that wait, then the last to end first; by state and name', async () => {
    await dead({ name: 'configure-node', finishedAt: later(-50) })
    await make({ state: 'done', finishedAt: later(-10) })
    await make()
    await dead({ finishedAt: later(-100) })
    const listed = async (query: string) =>
      (await ask('GET', query)).body.data.map(
        ({ attributes }: any) => `${attributes.name} ${attributes.state}`,
      )
    expect(await listed('')).toEqual([
      'sync-server waiting',
      'sync-server done',
      'configure-node dead',
      'sync-server dead',
    ])
    expect(await listed('?filter[state]=dead&per_page=1&page=2')).toEqual(['sync-server dead'])
    expect(await listed('?filter[state]=dead,waiting&filter[name]=sync')).toEqual([
      'sync-server waiting',
      'sync-server dead',
    ])
    await make({ name: 'prune', runAt: later(50) })
    await make({ name: 'tidy', runAt: later(40) })
    expect(await listed('?filter[state]=waiting')).toEqual([
      'sync-server waiting',
      'tidy waiting',
      'prune waiting',
    ])
    expect((await ask('GET', '?filter[payload]=1')).body.errors[0].code).toBe('InvalidFilterQuery')
    const { statements } = world.database
    statements.length = 0
    await ask('GET', '?filter[name]=SYNC')
    expect(statements).toHaveLength(3)
  })

  it('hold no secret of a request, whatever it was about', async () => {
    await enqueueJob(world.panel, 'apply-database-password', { databaseId: 1 })
    const { text } = await ask('GET')
    expect(text).not.toMatch(/password":|token|secret/i)
  })
})

describe('trying a job again', () => {
  it('that is dead makes it due at once, with a deadline of a day, and announces it', async () => {
    const id = await dead({ key: 'sync:1', deadlineAt: later(-3600), fence: 4 })
    const { status, body } = await ask('POST', `/${id}/retry`)
    expect([status, body.attributes.state, body.attributes.finished_at]).toEqual([200, 'waiting', null])
    expect(await rowOf(id)).toMatchObject({
      attempts: 0,
      runAt: world.clock.now,
      deadlineAt: later(86_400),
      fence: 5,
    })
    expect(world.messages).toEqual([{ id, delay: 0 }])
    expect(await entries()).toEqual([
      { event: 'admin:job.retry', properties: { job: id, name: 'sync-server' } },
    ])
    expect(await world.runJobs()).toBe(1)
    expect(await rowOf(id)).toMatchObject({ state: 'done', lastError: null })
  })

  it('that waits for its next attempt makes it due at once', async () => {
    const id = await make({ runAt: later(3600), attempts: 8 })
    expect((await ask('POST', `/${id}/retry`)).status).toBe(200)
    expect(await world.runJobs()).toBe(1)
  })

  it('is refused while it runs, once it is done, and when another one does the same', async () => {
    const running = await make({ leasedUntil: later(100), runAt: later(100) })
    const done = await make({ state: 'done', finishedAt: later(-1) })
    await make({ key: 'sync:1', runAt: later(10) })
    const second = await dead({ key: 'sync:1' })
    for (const [id, detail] of [
      [running, 'The job is running.'],
      [done, 'The job is done.'],
      [second, 'Another job that does the same is waiting.'],
    ] as const) {
      const before = await rowOf(id)
      const { status, body } = await ask('POST', `/${id}/retry`)
      expect([status, body.errors[0].detail]).toEqual([409, detail])
      expect(await rowOf(id)).toEqual(before)
    }
    expect((await ask('POST', `/${crypto.randomUUID()}/retry`)).status).toBe(404)
    expect(await entries()).toEqual([])
    expect(world.messages).toEqual([])
  })

  it('by ten at once is done once', async () => {
    const id = await dead()
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask('POST', `/${id}/retry`)))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => runJob(world.panel, id, jobHandlers)))
    expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1)
  })
})

describe('forgetting a job', () => {
  it('removes it and says so in the audit log', async () => {
    for (const id of [await dead(), await make({ runAt: later(60) })]) {
      expect((await ask('DELETE', `/${id}`)).status).toBe(204)
      expect(await rowOf(id)).toBeUndefined()
      expect((await ask('DELETE', `/${id}`)).status).toBe(404)
      expect(await entries()).toContainEqual({
        event: 'admin:job.discard',
        properties: { job: id, name: 'sync-server' },
      })
    }
  })

  it('is refused while it runs and once it is done', async () => {
    const running = await make({ leasedUntil: later(100), runAt: later(100) })
    const done = await make({ state: 'done', finishedAt: later(-1) })
    for (const id of [running, done]) expect((await ask('DELETE', `/${id}`)).status).toBe(409)
    expect(await world.database.db.select().from(jobs)).toHaveLength(2)
    world.clock.advance(101)
    expect((await ask('DELETE', `/${running}`)).status).toBe(204)
  })
})

describe('the levels of a key', () => {
  it('let readers read and writers write', async () => {
    const id = await dead()
    const statuses = async (level: 0 | 1 | 2) => {
      const as = { token: await makeApplicationToken(world, { jobs: level }) }
      return [
        (await world.request('GET', base, as)).status,
        (await world.request('POST', `${base}/${id}/retry`, as)).status,
      ]
    }
    expect(await statuses(0)).toEqual([403, 403])
    expect(await statuses(1)).toEqual([200, 403])
    expect(await statuses(2)).toEqual([403, 200])
  })
})
