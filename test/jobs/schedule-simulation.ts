import { AsyncLocalStorage } from 'node:async_hooks'
import { eq, sql } from 'drizzle-orm'
import { vi } from 'vitest'
import { DaemonError } from '../../src/adapters/daemon-error.ts'
import type { Daemon } from '../../src/adapters/daemon.ts'
import { single } from '../../src/db/database.ts'
import { jobs, nodes, scheduleRuns, schedules, scheduleSteps, servers, tasks } from '../../src/db/schema.ts'
import type { Server } from '../../src/db/tables/servers.ts'
import { jobHandlers } from '../../src/domain/jobs/handlers.ts'
import { advanceRun } from '../../src/domain/schedules/advance-run.ts'
import { runTick } from '../../src/domain/jobs/tick.ts'
import type { Panel } from '../../src/panel.ts'
import {
  type CrashPoint,
  type ProcessState,
  processThatCrashes,
  crashingPanel,
  ProcessCrashed,
} from '../support/crashing-panel.ts'
import type { World } from '../support/world.ts'

/** The modes of the daemon; a stalled one responds after its caller's lease has ended. */
export const daemonModes = ['up', 'offline', 'down', 'refusing', 'away', 'slow', 'stalled'] as const
export type DaemonMode = (typeof daemonModes)[number]

/** One command or signal that was sent to the daemon. */
export type Call = {
  runId: string
  action: string
  payload: string
  at: Date
  outcome: 'succeeded' | 'failed' | 'unknown'
}

/** The run of a call, its process, and whether the server was suspended when its job began. */
type JobContext = { runId: string; processState: ProcessState; wasSuspended: boolean }

/** Two replicas of a panel, its daemon, its clock, and the records that the invariants need. */
export type Simulation = {
  world: World
  server: Server
  daemonMode: DaemonMode
  calls: Call[]
  /** Calls for a server that had been suspended before their job began. */
  forbiddenCalls: Call[]
  /** Runs whose job crashed, perhaps between marking a step and its call. */
  crashedRuns: Set<string>
  /** Runs whose job was taken over while its call was under way. */
  overtakenRuns: Set<string>
  /** Runs that were cancelled, with the steps they had begun by then. */
  cancelledRuns: Map<string, Set<number>>
  /** When the schedule of a run was due next, as it was when the run began. */
  nextRunTimes: Map<string, Date>
  /** Total seconds by which the clock was turned back. */
  secondsTurnedBack: number
  /** Runs once, during the next call to the daemon. */
  duringNextCall: (() => Promise<unknown>) | null
  /** Every message that was ever sent, however often it was delivered. */
  messages: string[]
  /** Runs work in a process that may crash; returns true when it did. */
  inProcess: (crash: CrashPoint | null, work: (panel: Panel) => Promise<unknown>) => Promise<boolean>
  tick: (crash?: CrashPoint | null) => Promise<boolean>
}

const jobContexts = new AsyncLocalStorage<JobContext>()
const processes = new AsyncLocalStorage<ProcessState>()

/** Makes the jobs of runs set their context; `mockRestore` ends that. */
export const watchHandlers = (currentSimulation: () => Simulation) =>
  vi.spyOn(jobHandlers, 'run-schedule').mockImplementation(async (panel, payload) => {
    const simulation = currentSimulation()
    const processState = processes.getStore() ?? processThatCrashes(null)
    const { status } = single(
      await simulation.world.database.db
        .select({ status: servers.status })
        .from(servers)
        .where(eq(servers.id, simulation.server.id)),
    )
    try {
      const context = { runId: payload.runId, processState, wasSuspended: status !== null }
      await jobContexts.run(context, () => advanceRun(panel, payload))
    } finally {
      if (processState.hasCrashed) simulation.crashedRuns.add(payload.runId)
    }
  })

/** Opens an empty simulation at an instant; removes what an earlier one left. */
export async function openSimulation(world: World, server: Server, now: Date): Promise<Simulation> {
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
  const simulation: Simulation = {
    world,
    server,
    daemonMode: 'up',
    calls: [],
    forbiddenCalls: [],
    crashedRuns: new Set(),
    overtakenRuns: new Set(),
    cancelledRuns: new Map(),
    nextRunTimes: new Map(),
    secondsTurnedBack: 0,
    duringNextCall: null,
    messages: [],
    inProcess: async (crash, work) => {
      const processState = processThatCrashes(crash)
      const whole = { ...world.panel, daemon: () => daemonOf(simulation) }
      try {
        await processes.run(processState, () => work(crashingPanel(whole, processState)))
      } catch (error) {
        if (!isCrash(error)) throw error
      }
      simulation.messages.push(...world.messages.splice(0).map(({ id }) => id))
      return processState.hasCrashed
    },
    tick: (crash = null) => simulation.inProcess(crash, runTick),
  }
  return simulation
}

/** Checks for a crash, also where drizzle has wrapped it. */
const isCrash = (error: unknown): boolean =>
  error instanceof ProcessCrashed || (error instanceof Error && isCrash(error.cause))

/** Creates a daemon that records its calls; it has only the methods that schedules use. */
function daemonOf(simulation: Simulation): Daemon {
  const hear = async (action: string, payload: string) => {
    const { daemonMode } = simulation
    const context = jobContexts.getStore()
    const call: Call = {
      runId: context?.runId ?? '',
      action,
      payload,
      at: simulation.world.clock.now,
      outcome:
        daemonMode === 'down'
          ? 'unknown'
          : daemonMode === 'refusing' || daemonMode === 'away'
            ? 'failed'
            : 'succeeded',
    }
    simulation.calls.push(call)
    if (context?.wasSuspended) simulation.forbiddenCalls.push(call)
    await passTime(simulation)
    if (daemonMode === 'down') throw new DaemonError(null, 'The node did not answer.')
    if (daemonMode === 'refusing') throw new DaemonError(500, 'no')
    if (daemonMode === 'away') throw new DaemonError(null, 'not lately', { retryAfterSeconds: 5 })
  }
  return {
    showServer: async () => {
      await passTime(simulation)
      if (['down', 'away', 'refusing'].includes(simulation.daemonMode))
        throw new DaemonError(null, 'The node did not answer.')
      return { state: simulation.daemonMode === 'offline' ? 'offline' : 'running' }
    },
    setPower: (_uuid: string, signal: string) => hear('power', signal),
    sendCommands: (_uuid: string, [line = '']: string[]) => hear('command', line),
  } as unknown as Daemon
}

/** Simulates the time of a call. */
async function passTime(simulation: Simulation): Promise<void> {
  const { duringNextCall, daemonMode } = simulation
  simulation.duringNextCall = null
  await duringNextCall?.()
  if (daemonMode === 'slow') simulation.world.clock.advance(11)
  if (daemonMode === 'stalled') {
    simulation.daemonMode = 'up'
    simulation.overtakenRuns.add(jobContexts.getStore()?.runId ?? '')
    simulation.world.clock.advance(200)
    await simulation.tick()
  }
}

/** Reads all rows of schedules, in order. */
export async function readSnapshot({ world: { database } }: Simulation) {
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
export type Snapshot = Awaited<ReturnType<typeof readSnapshot>>
