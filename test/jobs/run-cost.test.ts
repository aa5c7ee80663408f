import { beforeEach, describe, expect, it } from 'vitest'
import type { Cache } from '../../src/adapters/cache.ts'
import { schedules, tasks } from '../../src/db/schema.ts'
import { jobHandlers } from '../../src/domain/jobs/handlers.ts'
import { runJob } from '../../src/domain/jobs/run.ts'
import { claimDueSchedules } from '../../src/domain/schedules/due-schedules.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import { makeNode, makeServer } from '../support/factories.ts'
import { useStubDaemon } from '../support/stub-daemon.ts'
import { useWorld } from '../support/world.ts'

const world = useWorld()
const daemon = useStubDaemon()
let serverId: number
let cacheCalls = 0

beforeEach(async () => {
  serverId = (await makeServer(world, { node: await makeNode(world, { daemonListen: daemon.port }) })).id
  cacheCalls = 0
  const counting = (cache: Cache): Cache =>
    new Proxy(cache, {
      get: (target, name: keyof Cache) => {
        cacheCalls += 1
        return target[name]
      },
    })
  Object.assign(world.services, { cache: counting(world.services.cache) })
})

/** Makes a due schedule, with commands so many seconds apart. */
async function makeDue(offsets: number[]): Promise<void> {
  const [made] = await world.database.db
    .insert(schedules)
    .values({
      serverId,
      name: 'Hourly',
      isActive: true,
      cronMinute: '0',
      cronHour: '*',
      cronDayOfMonth: '*',
      cronDayOfWeek: '*',
      nextRunAt: new Date(world.clock.now.getTime() - 1000),
    })
    .returning({ scheduleId: schedules.id })
  await world.database.db.insert(tasks).values(
    offsets.map((timeOffset, at) => ({
      scheduleId: made?.scheduleId ?? 0,
      sequenceId: at + 1,
      action: 'command' as const,
      payload: `say ${at}`,
      timeOffset,
    })),
  )
}

/** Delivers every message as the queue would, until there are no more; returns how many. */
async function deliverAll(): Promise<number> {
  let delivered = 0
  for (let next = world.messages.shift(); next; next = world.messages.shift()) {
    world.clock.advance(next.delay)
    expect(await runJob({ ...world.panel, cache: world.services.cache }, next.id, jobHandlers)).toBe('done')
    delivered += 1
  }
  return delivered
}

/** Measures the statements of a run after it was claimed. */
async function costOf(offsets: number[]) {
  await makeDue(offsets)
  await claimDueSchedules(world.panel)
  cacheCalls = 0
  daemon.calls.length = 0
  let messages = 0
  const statements = await world.countStatements(async () => void (messages = await deliverAll()))
  return { statements, messages, cacheCalls, commands: daemon.calls.length }
}

describe('a run of a schedule', () => {
  it.each([[[0]], [[0, 0]], [[0, 60, 60]]])(
    'costs what the documentation says, with commands at %j',
    async (offsets) => {
      const count = offsets.length
      expect(await costOf(offsets)).toEqual({
        statements: 4 + 11 * (count - 1),
        messages: count,
        cacheCalls: 0,
        commands: count,
      })
    },
  )
})

describe('a tick that finds nothing to do', () => {
  it('costs what the documentation says', async () => {
    await runTick(world.panel)
    const announced = world.messages.length
    // The node: its job is claimed, reads it, stores the heartbeat and is done.
    expect(await world.countStatements(() => runTick(world.panel))).toBe(3 + 4)
    expect(world.messages).toHaveLength(announced + 1)
  })
})
