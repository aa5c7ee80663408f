import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { nodes, schedules, servers } from '../../src/db/schema.ts'
import type { Server } from '../../src/db/tables/servers.ts'
import { addSchedule, changeSchedule } from '../../src/domain/schedules/schedules.ts'
import { addTask } from '../../src/domain/schedules/tasks.ts'
import { testDriver } from '../support/database.ts'
import { makeServer } from '../support/factories.ts'
import { generatedRuns, generatedSeed } from '../support/generated-runs.ts'
import { useWorld } from '../support/world.ts'
import { commands, edges } from './schedule-commands.ts'
import { violations } from './schedule-invariants.ts'
import { openSimulation, readSnapshot, type Simulation, watchHandlers } from './schedule-simulation.ts'

const world = useWorld()
let server: Server
let simulation: Simulation

/** The number of sequences: the other drivers only check concurrent connections. */
const runs = generatedRuns({ few: 8, all: testDriver === 'pglite' ? 40 : 12 })
/**
 * Milliseconds for one sequence on a slow machine. Sequences are not interrupted: fast-check would leave one running
 * beside the next file.
 */
const maxMsPerRun = 30_000

beforeEach(async () => {
  server = await makeServer(world)
  watchHandlers(() => simulation)
})

const everyMinute = { minute: '*', hour: '*', day_of_month: '*', day_of_week: '*', timezone: 'UTC' }

/** Starts a sequence with a schedule that will soon be due, with two tasks. */
async function openShop(now: Date, offset: number, onlyWhenOnline: boolean): Promise<void> {
  simulation = await openSimulation(world, server, now)
  const fields = { ...everyMinute, name: 'First', is_active: true, only_when_online: onlyWhenOnline }
  const schedule = await addSchedule(world.panel, server, fields)
  const place = { server: { ...server, backupLimit: 1 }, scheduleId: schedule.id }
  for (const [at, payload] of ['say first', 'say second'].entries()) {
    const task = { action: 'command' as const, payload, time_offset: at * offset, continue_on_failure: true }
    await addTask(world.panel, place, task, () => undefined)
  }
}

/** Lets the simulation end: nothing new is due, the daemon responds, and minutes pass until no run is left. */
async function settle(): Promise<void> {
  const { db } = world.database
  Object.assign(simulation, { daemonMode: 'up', duringNextCall: null })
  await db.update(schedules).set({ nextRunAt: null, updatedAt: new Date(0) })
  await db.update(servers).set({ status: null })
  await db.update(nodes).set({ maintenanceMode: false })
  for (let minutes = 0; minutes < 90; minutes += 4) {
    world.clock.advance(240)
    await simulation.tick()
    const { runs: all } = await readSnapshot(simulation)
    if (all.every(({ state }) => state !== 'running')) break
  }
  const seen = await readSnapshot(simulation)
  expect(violations(simulation, seen)).toEqual([])
  expect(seen.runs.filter(({ state }) => state === 'running')).toEqual([])
  expect(seen.schedules.filter(({ isProcessing }) => isProcessing)).toEqual([])
  expect(seen.tasks.filter(({ isQueued }) => isQueued)).toEqual([])
  // The job of a run that went with its schedule finds nothing when its time comes.
  const known = new Set(seen.runs.map(({ id }) => `run:${id}`))
  expect(seen.waiting.filter(({ key }) => key !== null && known.has(key))).toEqual([])
}

/** Checks that a schedule still runs, whatever has happened to it. */
async function runAgain(): Promise<void> {
  const before = await readSnapshot(simulation)
  for (const { id } of before.schedules) {
    const input = { ...everyMinute, name: 'Again', is_active: true }
    await changeSchedule(world.panel, server, id, input, () => undefined)
  }
  world.clock.now = new Date(Math.ceil((world.clock.now.getTime() + 1) / 60_000) * 60_000 + 1000)
  const dueAt = new Date(world.clock.now.getTime() - 1000)
  await simulation.tick()
  const after = await readSnapshot(simulation)
  for (const { id } of before.schedules) {
    const hasTasks = before.tasks.some(({ scheduleId }) => scheduleId === id)
    const found = after.runs.filter((run) => run.scheduleId === id && +run.dueAt === +dueAt)
    expect(found.map(({ trigger }) => trigger)).toEqual(hasTasks ? ['cron'] : [])
  }
  expect(violations(simulation, after)).toEqual([])
}

describe('schedules, whatever happens and whichever process crashes', () => {
  it(
    'run each time at most once, call each step at most once, and forget nothing',
    async () => {
      const sequences = fc.commands(commands, { maxCommands: 30, size: 'max' })
      const beginnings = fc.tuple(fc.constantFrom(...edges), fc.constantFrom(0, 0, 60, 900), fc.boolean())
      await fc.assert(
        fc.asyncProperty(beginnings, sequences, async ([now, offset, onlyWhenOnline], sequence) => {
          await openShop(now, offset, onlyWhenOnline)
          await fc.asyncModelRun(() => ({ model: {}, real: simulation }), sequence)
          await settle()
          await runAgain()
        }),
        {
          numRuns: runs,
          ...generatedSeed(),
        },
      )
    },
    runs * maxMsPerRun + 120_000,
  )
})
