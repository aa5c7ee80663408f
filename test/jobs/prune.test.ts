import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { rowsOf } from '../../src/db/database.ts'
import {
  activity,
  activitySubjects,
  jobs,
  notifications,
  passwordResets,
  scheduleRuns,
  schedules,
  scheduleSteps,
  sessions,
  settings,
  throttles,
} from '../../src/db/schema.ts'
import { ensureActivityPartitions, listActivityPartitions } from '../../src/domain/activity/partitions.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import { makeNotification, makeServer, makeUser } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const execute = (statement: string) => world.database.db.execute(sql.raw(statement))

beforeEach(() => {
  world.clock.now = new Date('2040-05-15T12:00:00Z')
})

const daysAgo = (days: number) => new Date(world.clock.now.getTime() - days * 86_400_000)
const count = async (table: string) =>
  rowsOf<{ count: number }>(await execute(`select count(*)::int as count from ${table}`))[0]?.count
const prunes = async () =>
  (await world.database.db.select().from(jobs)).filter(({ name }) => name === 'prune')

describe('what is over', () => {
  it('is removed when its time has come, and nothing else', async () => {
    const { db } = world.database
    const { id: userId } = await makeUser(world)
    const session = (id: string, expiresAt: Date) => ({ id, userId, ip: '192.0.2.1', expiresAt })
    await db.insert(sessions).values([session('old', daysAgo(1)), session('new', daysAgo(-1))])
    await db.insert(throttles).values([
      { key: 'old', hits: 1, resetsAt: daysAgo(1) },
      { key: 'new', hits: 1, resetsAt: daysAgo(-1) },
    ])
    await db.insert(passwordResets).values([
      { userId, tokenHash: 'old', expiresAt: daysAgo(1) },
      { userId, tokenHash: 'new', expiresAt: daysAgo(-1) },
    ])
    const job = (key: string, state: 'waiting' | 'done' | 'dead', finishedAt: Date | null) => ({
      name: 'sync-server',
      payload: {},
      key,
      state,
      finishedAt,
      runAt: daysAgo(-1),
      deadlineAt: daysAgo(-1),
    })
    await db
      .insert(jobs)
      .values([
        job('done 8', 'done', daysAgo(8)),
        job('done 6', 'done', daysAgo(6)),
        job('dead 91', 'dead', daysAgo(91)),
        job('dead 89', 'dead', daysAgo(89)),
        job('waiting', 'waiting', null),
      ])
    await runTick(world.panel)
    const left = {
      sessions: (await db.select().from(sessions)).map(({ id }) => id),
      throttles: (await db.select().from(throttles)).map(({ key }) => key),
      resets: (await db.select().from(passwordResets)).map(({ tokenHash }) => tokenHash),
      jobs: (await db.select().from(jobs))
        .filter(({ name }) => name === 'sync-server')
        .map(({ key }) => key ?? '')
        .toSorted((one, other) => one.localeCompare(other)),
    }
    expect(left).toEqual({
      sessions: ['new'],
      throttles: ['new'],
      resets: ['new'],
      jobs: ['dead 89', 'done 6', 'waiting'],
    })
  })

  it('are also runs of schedules older than 30 days with their steps, but none that still runs', async () => {
    const { db } = world.database
    const { id: serverId } = await makeServer(world)
    const fields = {
      serverId,
      name: 'x',
      cronMinute: '0',
      cronHour: '*',
      cronDayOfMonth: '*',
      cronDayOfWeek: '*',
    }
    const made = await db.insert(schedules).values([fields, fields, fields]).returning()
    for (const { id } of made) {
      for (const [days, state] of [
        [31, 'succeeded'],
        [29, 'failed'],
        [40, 'running'],
      ] as const) {
        const [run] = await db
          .insert(scheduleRuns)
          .values({
            scheduleId: id,
            trigger: 'manual',
            dueAt: daysAgo(days),
            startedAt: daysAgo(days),
            finishedAt: state === 'running' ? null : daysAgo(days),
            state,
          })
          .returning()
        await db.insert(scheduleSteps).values({
          runId: run?.id ?? '',
          sequenceId: 1,
          action: 'command',
          state: state === 'running' ? 'pending' : 'succeeded',
          dueAt: daysAgo(-1),
        })
      }
    }
    await runTick(world.panel)
    const states = (await db.select().from(scheduleRuns)).map(({ state }) => state)
    expect(states.toSorted()).toEqual(['failed', 'failed', 'failed', 'running', 'running', 'running'])
    expect(await count('schedule_steps')).toBe(6)
  })

  it('are also notifications older than 60 days, and those beyond the latest 200 of a user', async () => {
    const [server, user, other] = [await makeServer(world), await makeUser(world), await makeUser(world)]
    await makeNotification(world, server, other, { subject: 'old', createdAt: daysAgo(61) })
    await makeNotification(world, server, other, { subject: 'new', createdAt: daysAgo(59) })
    await execute(`insert into notifications (user_id, server_id, kind, subject, created_at)
      select ${user.id}, ${server.id}, 'schedule.failed', n, timestamptz '2040-05-15' - n * interval '1 minute'
      from generate_series(1, 203) n`)
    await runTick(world.panel)
    const left = await world.database.db.select().from(notifications)
    const subjectsOf = ({ id }: { id: number }) =>
      left.filter(({ userId }) => userId === id).map(({ subject }) => subject)
    expect(subjectsOf(other)).toEqual(['new'])
    expect(subjectsOf(user).length).toBe(200)
    expect(subjectsOf(user)).not.toContain('203')
  })

  it('is removed a thousand at a time, and what was too much a minute later', async () => {
    await execute(`insert into throttles (key, hits, resets_at)
      select 'k' || n, 1, timestamptz '2040-01-01' from generate_series(1, 20500) n`)
    await runTick(world.panel)
    expect(await count('throttles')).toBe(500)
    const [waiting] = (await prunes()).filter(({ state }) => state === 'waiting')
    expect(waiting?.runAt).toEqual(new Date(world.clock.now.getTime() + 60_000))
    const deletes = world.database.statements.filter((text) => /delete from "throttles"/.test(text))
    expect(deletes).toHaveLength(20)
    world.clock.advance(60)
    await runTick(world.panel)
    expect(await count('throttles')).toBe(0)
    const [next] = (await prunes()).filter(({ state }) => state === 'waiting')
    expect(next?.runAt).toEqual(new Date(world.clock.now.getTime() + 86_400_000))
  })

  it('is found by indexes', async () => {
    await execute(`insert into throttles (key, hits, resets_at)
      select 'k' || n, 1, timestamptz '2040-06-01' + n * interval '1 second' from generate_series(1, 20000) n`)
    await execute(`insert into jobs (name, payload, state, deadline_at, finished_at)
      select 'x', '{}', 'done', now(), timestamptz '2040-05-14' + n * interval '1 second' from generate_series(1, 20000) n`)
    await execute('analyze throttles, jobs')
    const plan = async (statement: string) =>
      JSON.stringify(rowsOf(await execute(`explain (format json) ${statement}`)))
    for (const statement of [
      `select key from throttles where resets_at < '2040-06-01' order by resets_at limit 1000`,
      `select id from jobs where state = 'done' and finished_at < '2040-05-14' order by finished_at limit 1000`,
    ]) {
      expect(await plan(statement)).not.toContain('Seq Scan')
    }
  })
})

describe('the audit log', () => {
  const add = async (timestamps: string[]) => {
    for (const timestamp of timestamps) {
      const [entry] = await world.database.db
        .insert(activity)
        .values({ event: 'server:power.start', source: 'system', timestamp: new Date(timestamp) })
        .returning()
      await world.database.db
        .insert(activitySubjects)
        .values({ activityId: entry?.id ?? 0, subjectType: 'backup', subjectId: 1 })
    }
  }
  const left = async () =>
    (await world.database.db.select().from(activity).orderBy(activity.timestamp)).map(({ timestamp }) =>
      timestamp.toISOString().slice(0, 10),
    )
  const partitions = async () => (await listActivityPartitions(world.panel)).map(({ name }) => name)
  const keepFor = (days: number) =>
    world.database.db.insert(settings).values({ key: 'activity.retention_days', value: days })

  it('loses months as a whole once they are over for long enough, and days of the month in between', async () => {
    for (const month of ['2040-01-15', '2040-04-15']) {
      world.clock.now = new Date(`${month}T00:00:00Z`)
      await ensureActivityPartitions(world.panel)
    }
    await add(['2039-12-31', '2040-01-05', '2040-02-10', '2040-02-20', '2040-03-01', '2040-05-15'])
    world.clock.now = new Date('2040-05-15T12:00:00Z')
    expect(await partitions()).toContain('activity_2040_01')
    await runTick(world.panel)
    // Ninety days before are the 15th of February.
    expect(await left()).toEqual(['2040-02-20', '2040-03-01', '2040-05-15'])
    expect(await partitions()).not.toContain('activity_2040_01')
    expect(await partitions()).toContain('activity_2040_02')
    expect(await count('activity_subjects')).toBe(3)
    await runTick(world.panel)
    expect(await left()).toHaveLength(3)
  })

  it('is kept for as long as the setting says', async () => {
    await add(['2039-05-16', '2040-05-13', '2040-05-15'])
    await keepFor(1)
    await runTick(world.panel)
    expect(await left()).toEqual(['2040-05-15'])
    expect(await count('activity_subjects')).toBe(1)
  })

  it('loses no more than its batches at a time', async () => {
    await execute(`insert into activity (event, source, timestamp)
      select 'server:power.start', 'system', timestamptz '2039-01-01' from generate_series(1, 20700)`)
    await runTick(world.panel)
    expect(await count('activity')).toBe(700)
    world.clock.advance(60)
    await runTick(world.panel)
    expect(await count('activity')).toBe(0)
  })
})
