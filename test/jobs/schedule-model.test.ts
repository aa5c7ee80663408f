import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodes, schedules, servers } from '../../src/db/schema.ts'
import type { Server } from '../../src/db/tables/servers.ts'
import { addSchedule, changeSchedule } from '../../src/domain/schedules/schedules.ts'
import { addTask } from '../../src/domain/schedules/tasks.ts'
import { testDriver } from '../support/database.ts'
import { makeServer } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { commands, edges } from './schedule-commands.ts'
import { violations } from './schedule-invariants.ts'
import { openSite, readSite, type Site, watchHandlers } from './schedule-site.ts'

const world = useWorld()
let server: Server
let site: Site
let watch: { mockRestore: () => void }

/** Sequences: the other drivers are here for what connections of their own do to each other. */
const runs = Number(process.env.FAST_CHECK_RUNS ?? (testDriver === 'pglite' ? 40 : 12))
const seed = process.env.FAST_CHECK_SEED ? { seed: Number(process.env.FAST_CHECK_SEED) } : {}
const path = process.env.FAST_CHECK_PATH ? { path: process.env.FAST_CHECK_PATH } : {}
/** Milliseconds for one sequence, when it is slow. */
const patience = 3_000

beforeEach(async () => {
  server = await makeServer(world)
  watch = watchHandlers(() => site)
})
afterEach(() => watch.mockRestore())

const everyMinute = { minute: '*', hour: '*', day_of_month: '*', day_of_week: '*', timezone: 'UTC' }

/** What every sequence begins with: a schedule that is about to be due, with two tasks. */
async function openShop(now: Date, offset: number, onlyWhenOnline: boolean): Promise<void> {
  site = await openSite(world, server, now)
  const fields = { ...everyMinute, name: 'First', is_active: true, only_when_online: onlyWhenOnline }
  const schedule = await addSchedule(world.panel, server, fields)
  const place = { server: { ...server, backupLimit: 1 }, scheduleId: schedule.id }
  for (const [at, payload] of ['say first', 'say second'].entries()) {
    const task = { action: 'command' as const, payload, time_offset: at * offset, continue_on_failure: true }
    await addTask(world.panel, place, task, () => undefined)
  }
}

/** Nothing new comes due, the daemon answers, and the minutes pass until nothing is under way. */
async function settle(): Promise<void> {
  const { db } = world.database
  Object.assign(site, { mood: 'up', meanwhile: null })
  await db.update(schedules).set({ nextRunAt: null, updatedAt: new Date(0) })
  await db.update(servers).set({ status: null })
  await db.update(nodes).set({ maintenanceMode: false })
  for (let minutes = 0; minutes < 90; minutes += 4) {
    world.clock.advance(240)
    await site.tick()
    const { runs: all } = await readSite(site)
    if (all.every(({ state }) => state !== 'running')) break
  }
  const seen = await readSite(site)
  expect(violations(site, seen)).toEqual([])
  expect(seen.runs.filter(({ state }) => state === 'running')).toEqual([])
  expect(seen.schedules.filter(({ isProcessing }) => isProcessing)).toEqual([])
  expect(seen.tasks.filter(({ isQueued }) => isQueued)).toEqual([])
  // The job of a run that went with its schedule finds nothing when its time comes.
  const known = new Set(seen.runs.map(({ id }) => `run:${id}`))
  expect(seen.waiting.filter(({ key }) => key !== null && known.has(key))).toEqual([])
}

/** Whatever has happened to a schedule, it still runs. */
async function runAgain(): Promise<void> {
  const before = await readSite(site)
  for (const { id } of before.schedules) {
    await changeSchedule(world.panel, server, id, { ...everyMinute, name: 'Again', is_active: true })
  }
  world.clock.now = new Date(Math.ceil((world.clock.now.getTime() + 1) / 60_000) * 60_000 + 1000)
  const dueAt = new Date(world.clock.now.getTime() - 1000)
  await site.tick()
  const after = await readSite(site)
  for (const { id } of before.schedules) {
    const hasTasks = before.tasks.some(({ scheduleId }) => scheduleId === id)
    const found = after.runs.filter((run) => run.scheduleId === id && +run.dueAt === +dueAt)
    expect(found.map(({ trigger }) => trigger)).toEqual(hasTasks ? ['cron'] : [])
  }
  expect(violations(site, after)).toEqual([])
}

describe('schedules, whatever happens and whoever dies', () => {
  it(
    'run each time at most once, call each step at most once, and forget nothing',
    async () => {
      const sequences = fc.commands(commands, { maxCommands: 30, size: 'max' })
      const beginnings = fc.tuple(fc.constantFrom(...edges), fc.constantFrom(0, 0, 60, 900), fc.boolean())
      await fc.assert(
        fc.asyncProperty(beginnings, sequences, async ([now, offset, onlyWhenOnline], sequence) => {
          await openShop(now, offset, onlyWhenOnline)
          await fc.asyncModelRun(() => ({ model: {}, real: site }), sequence)
          await settle()
          await runAgain()
        }),
        {
          numRuns: runs,
          interruptAfterTimeLimit: runs * patience,
          markInterruptAsFailure: false,
          ...seed,
          ...path,
        },
      )
    },
    runs * patience + 120_000,
  )
})
