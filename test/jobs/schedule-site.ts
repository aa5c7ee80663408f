import { AsyncLocalStorage } from 'node:async_hooks'
import { eq, sql } from 'drizzle-orm'
import { vi } from 'vitest'
import { type Daemon, DaemonError } from '../../src/adapters/daemon.ts'
import { only } from '../../src/db/database.ts'
import { jobs, nodes, scheduleRuns, schedules, scheduleSteps, servers, tasks } from '../../src/db/schema.ts'
import type { Server } from '../../src/db/tables/servers.ts'
import { jobHandlers } from '../../src/domain/job-handlers.ts'
import { carryRunOn } from '../../src/domain/schedules/runs.ts'
import { tick } from '../../src/domain/tick.ts'
import type { Panel } from '../../src/panel.ts'
import { type Death, type Life, lifeWith, mortalPanel, ProcessDied } from '../support/mortal-panel.ts'
import type { World } from '../support/world.ts'

/** How the daemon is just now; a stalled one answers after its caller's lease has ended. */
export const moods = ['up', 'offline', 'down', 'refusing', 'away', 'slow', 'stalled'] as const
export type Mood = (typeof moods)[number]

/** One command or signal as the daemon heard of it, or would have. */
export type Call = {
  runId: string
  action: string
  payload: string
  at: Date
  outcome: 'succeeded' | 'failed' | 'unknown'
}

/** Whose run a call belongs to, and how it stood with the server when its job began. */
type Handling = { runId: string; life: Life; wasSuspended: boolean }

/** Two replicas of a panel, its daemon, its clock, and all that an invariant needs to know. */
export type Site = {
  world: World
  server: Server
  mood: Mood
  calls: Call[]
  /** Calls for a server that had been suspended before their job began. */
  forbiddenCalls: Call[]
  /** Runs whose job died in the middle, perhaps between a step's mark and its call. */
  diedIn: Set<string>
  /** Runs whose job was taken over while its call was under way. */
  overtaken: Set<string>
  /** Runs that were called off, with the steps they had begun by then. */
  calledOff: Map<string, Set<number>>
  /** When the schedule of a run was due next, as it was when the run began. */
  followings: Map<string, Date>
  /** Seconds by which the clock was ever turned back. */
  turnedBack: number
  /** What happens, once, while the next call to the daemon is under way. */
  meanwhile: (() => Promise<unknown>) | null
  /** Every message that was ever sent, however often it was delivered. */
  messages: string[]
  /** Does something in a process that may die on the way; true when it did. */
  inProcess: (death: Death | null, work: (panel: Panel) => Promise<unknown>) => Promise<boolean>
  tick: (death?: Death | null) => Promise<boolean>
}

const handled = new AsyncLocalStorage<Handling>()
const lives = new AsyncLocalStorage<Life>()

/** Jobs of runs tell for whom they call from now on; `mockRestore` ends that. */
export const watchHandlers = (siteNow: () => Site) =>
  vi.spyOn(jobHandlers, 'run-schedule').mockImplementation(async (panel, payload) => {
    const site = siteNow()
    const life = lives.getStore() ?? lifeWith(null)
    const { status } = only(
      await site.world.database.db
        .select({ status: servers.status })
        .from(servers)
        .where(eq(servers.id, site.server.id)),
    )
    try {
      const handling = { runId: payload.runId, life, wasSuspended: status !== null }
      await handled.run(handling, () => carryRunOn(panel, payload))
    } finally {
      if (life.isOver) site.diedIn.add(payload.runId)
    }
  })

/** An empty site at an instant; what an earlier one left is gone. */
export async function openSite(world: World, server: Server, now: Date): Promise<Site> {
  const { db } = world.database
  await db.delete(schedules)
  await db.delete(jobs)
  await db.update(servers).set({ status: null })
  await db.update(nodes).set({ maintenanceMode: false })
  world.messages.length = 0
  world.clock.now = now
  // The recurring jobs are not what this is about.
  const far = new Date('2100-01-01')
  const recurring = ['maintain-activity', 'prune']
  await db
    .insert(jobs)
    .values(recurring.map((name) => ({ name, key: name, payload: {}, runAt: far, deadlineAt: far })))
  const site: Site = {
    world,
    server,
    mood: 'up',
    calls: [],
    forbiddenCalls: [],
    diedIn: new Set(),
    overtaken: new Set(),
    calledOff: new Map(),
    followings: new Map(),
    turnedBack: 0,
    meanwhile: null,
    messages: [],
    inProcess: async (death, work) => {
      const life = lifeWith(death)
      const whole = { ...world.panel, daemon: () => daemonOf(site) }
      try {
        await lives.run(life, () => work(mortalPanel(whole, life)))
      } catch (error) {
        if (!isDeath(error)) throw error
      }
      site.messages.push(...world.messages.splice(0).map(({ id }) => id))
      return life.isOver
    },
    tick: (death = null) => site.inProcess(death, tick),
  }
  return site
}

/** Also where drizzle has wrapped it. */
const isDeath = (error: unknown): boolean =>
  error instanceof ProcessDied || (error instanceof Error && isDeath(error.cause))

/** A daemon that remembers who told it what; only what schedules ask of one. */
function daemonOf(site: Site): Daemon {
  const hear = async (action: string, payload: string) => {
    const { mood } = site
    const handling = handled.getStore()
    const call: Call = {
      runId: handling?.runId ?? '',
      action,
      payload,
      at: site.world.clock.now,
      outcome: mood === 'down' ? 'unknown' : mood === 'refusing' || mood === 'away' ? 'failed' : 'succeeded',
    }
    site.calls.push(call)
    if (handling?.wasSuspended) site.forbiddenCalls.push(call)
    await passTime(site)
    if (mood === 'down') throw new DaemonError(null, 'The node did not answer.')
    if (mood === 'refusing') throw new DaemonError(500, 'no')
    if (mood === 'away') throw new DaemonError(null, 'not lately', { retryAfter: 5 })
  }
  return {
    showServer: async () => {
      await passTime(site)
      if (['down', 'away', 'refusing'].includes(site.mood))
        throw new DaemonError(null, 'The node did not answer.')
      return { state: site.mood === 'offline' ? 'offline' : 'running' }
    },
    setPower: (_uuid: string, signal: string) => hear('power', signal),
    sendCommands: (_uuid: string, [line = '']: string[]) => hear('command', line),
  } as unknown as Daemon
}

/** What goes on while a call is under way. */
async function passTime(site: Site): Promise<void> {
  const { meanwhile, mood } = site
  site.meanwhile = null
  await meanwhile?.()
  if (mood === 'slow') site.world.clock.advance(11)
  if (mood === 'stalled') {
    site.mood = 'up'
    site.overtaken.add(handled.getStore()?.runId ?? '')
    site.world.clock.advance(200)
    await site.tick()
  }
}

/** All that the database holds of schedules, in order. */
export async function readSite({ world: { database } }: Site) {
  const { db } = database
  return {
    schedules: await db.select().from(schedules).orderBy(schedules.id),
    tasks: await db.select().from(tasks).orderBy(tasks.scheduleId, tasks.sequenceId),
    runs: await db.select().from(scheduleRuns).orderBy(scheduleRuns.startedAt),
    steps: await db.select().from(scheduleSteps).orderBy(scheduleSteps.runId, scheduleSteps.sequenceId),
    waiting: await db
      .select()
      .from(jobs)
      .where(sql`${jobs.name} = 'run-schedule' and ${jobs.state} = 'waiting'`),
  }
}
export type Seen = Awaited<ReturnType<typeof readSite>>
