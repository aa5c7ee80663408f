import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { rowsOf } from '../../src/db/database.ts'
import { activity, jobs } from '../../src/db/schema.ts'
import { ensureActivityPartitions } from '../../src/domain/activity/partitions.ts'
import { enqueueJob } from '../../src/domain/jobs/enqueue.ts'
import { inTransaction } from '../../src/panel.ts'
import { makeNode, makeServer } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()

const partitions = async () =>
  rowsOf<{ name: string }>(
    await world.database.db.execute(sql`select inhrelid::regclass::text as name from pg_inherits
      where inhparent = 'activity'::regclass and inhrelid <> 'activity_default'::regclass order by name`),
  ).map(({ name }) => name)

const add = (timestamp: string) =>
  world.database.db
    .insert(activity)
    .values({ event: 'server:power.start', source: 'system', timestamp: new Date(timestamp) })

const placeOf = async (timestamp: string) =>
  rowsOf<{ place: string }>(
    await world.database.db.execute(
      sql`select tableoid::regclass::text as place from activity where timestamp = ${timestamp}::timestamptz`,
    ),
  ).map(({ place }) => place)

describe('the audit log', () => {
  it('gets a partition for this month and the next two, also over the end of a year', async () => {
    world.clock.now = new Date('2040-11-30T23:59:59.999Z')
    await ensureActivityPartitions(world.panel)
    await ensureActivityPartitions(world.panel)
    expect(await partitions()).toEqual(['activity_2040_11', 'activity_2040_12', 'activity_2041_01'])
    world.clock.now = new Date('2040-12-01T00:00:00Z')
    await ensureActivityPartitions(world.panel)
    expect(await partitions()).toHaveLength(4)
  })

  it('puts entries where they belong by UTC', async () => {
    world.clock.now = new Date('2040-05-15T00:00:00Z')
    await inTransaction(world.panel, async (inside) => {
      await inside.db.execute(sql`set local time zone 'Asia/Tokyo'`)
      await ensureActivityPartitions(inside)
    })
    for (const [timestamp, place] of [
      ['2040-04-30T23:59:59.999Z', 'activity_default'],
      ['2040-05-01T00:00:00.000Z', 'activity_2040_05'],
      ['2040-07-31T23:59:59.999Z', 'activity_2040_07'],
      ['2040-08-01T00:00:00.000Z', 'activity_default'],
    ] as const) {
      await add(timestamp)
      expect(await placeOf(timestamp)).toEqual([place])
    }
  })

  it('leaves a month in the default partition that has entries there', async () => {
    world.clock.now = new Date('2040-05-15T00:00:00Z')
    await add('2040-06-02T00:00:00Z')
    await ensureActivityPartitions(world.panel)
    expect(await partitions()).toEqual(['activity_2040_05', 'activity_2040_07'])
    expect(await placeOf('2040-06-02T00:00:00Z')).toEqual(['activity_default'])
  })

  it('knows a batch again within partitions', async () => {
    world.clock.now = new Date('2040-05-15T00:00:00Z')
    await ensureActivityPartitions(world.panel)
    const node = await makeNode(world)
    const server = await makeServer(world, { node })
    const data = ['2040-05-14T23:59:59Z', '2040-04-30T10:00:00Z', 'never'].map((timestamp) => ({
      user: null,
      server: server.uuid,
      event: 'server:power.start',
      metadata: {},
      ip: '203.0.113.9',
      timestamp,
    }))
    for (let time = 0; time < 3; time += 1) {
      await world.request('POST', '/api/remote/activity', { token: node.token, body: { data } })
      world.clock.advance(60)
    }
    expect(await world.events()).toHaveLength(3)
  })

  it('is maintained once a day, however often it is requested', async () => {
    const ask = () => enqueueJob(world.panel, 'maintain-activity', {}, { key: 'maintain-activity' })
    world.clock.now = new Date('2040-05-15T00:00:00Z')
    for (let minute = 0; minute < 3; minute += 1) {
      await ask()
      expect(await world.runJobs()).toBe(minute === 0 ? 1 : 0)
      world.clock.advance(60)
    }
    expect(await partitions()).toHaveLength(3)
    world.clock.advance(86_400)
    await ask()
    expect(await world.runJobs()).toBe(1)
    const states = (await world.database.db.select().from(jobs)).map(({ state }) => state)
    expect(states.toSorted()).toEqual(['done', 'done', 'waiting'])
  })
})
