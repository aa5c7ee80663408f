import { eq } from 'drizzle-orm'
import fc from 'fast-check'
import { nodes, servers } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { jobHandlers } from '../../src/domain/jobs/handlers.ts'
import { runJob } from '../../src/domain/jobs/run.ts'
import { executeSchedule } from '../../src/domain/schedules/execute.ts'
import { addSchedule, changeSchedule, removeSchedule } from '../../src/domain/schedules/schedules.ts'
import { addTask, changeTask, removeTask } from '../../src/domain/schedules/tasks.ts'
import { ApiError } from '../../src/errors.ts'
import type { Panel } from '../../src/panel.ts'
import type { CrashPoint } from '../support/crashing-panel.ts'
import { violations } from './schedule-invariants.ts'
import {
  type DaemonMode,
  daemonModes,
  readSnapshot,
  type Snapshot,
  type Simulation,
} from './schedule-simulation.ts'

export type Command = fc.AsyncCommand<object, Simulation>

const crons = ['* * * * *', '*/5 * * * *', '0 * * * *', '30 2 * * *', '0,30 1-3 * * *', '15 3 29 2 *']
const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca']
/** Instants shortly before clocks are put forward or back. */
export const edges = [
  '2031-03-30T00:58:40Z',
  '2031-10-26T00:28:40Z',
  '2031-03-09T06:58:40Z',
  '2031-11-02T05:28:40Z',
  '2031-10-04T15:28:40Z',
  '2031-04-05T14:43:40Z',
  '2031-12-13T01:28:40Z',
  '2032-02-29T02:13:40Z',
].map((text) => new Date(text))

/** Picks an item, whatever their number; returns undefined when there is none. */
const pick = <T>(items: readonly T[], index: number): T | undefined => items[index % items.length]

let serial = 0

const weightedBoolean = (on: number, off: number) =>
  fc.oneof({ weight: on, arbitrary: fc.constant(true) }, { weight: off, arbitrary: fc.constant(false) })

const scheduleInput = fc.record({
  cron: fc.constantFrom(...crons),
  timezone: fc.constantFrom(...zones),
  is_active: weightedBoolean(5, 1),
  only_when_online: weightedBoolean(1, 2),
})
type Wanted = typeof scheduleInput extends fc.Arbitrary<infer T> ? T : never
const inputOf = ({ cron, ...rest }: Wanted) => {
  const [minute = '', hour = '', day_of_month = '', month = '', day_of_week = ''] = cron.split(' ')
  return { name: 'Model', minute, hour, day_of_month, month, day_of_week, ...rest }
}

const taskInput = fc.record({
  signal: fc.option(fc.constantFrom('start', 'stop', 'restart', 'kill'), { freq: 5 }),
  time_offset: fc.constantFrom(0, 0, 0, 1, 30, 60, 900),
  continue_on_failure: fc.boolean(),
  sequence_id: fc.option(fc.integer({ min: -1, max: 5 })),
})
type WantedTask = typeof taskInput extends fc.Arbitrary<infer T> ? T : never
const taskOf = ({ signal, ...rest }: WantedTask) =>
  signal === null
    ? { ...rest, action: 'command' as const, payload: `say ${(serial += 1)}` }
    : { ...rest, action: 'power' as const, payload: signal }

const crash: fc.Arbitrary<CrashPoint | null> = fc.option(
  fc.record({ at: fc.integer({ min: 1, max: 28 }), happens: fc.boolean() }),
  { freq: 2 },
)
const index = fc.nat(7)

/** Acts as the owner does over the API. Refused requests change nothing, which the invariants check. */
async function asOwner(
  simulation: Simulation,
  crash: CrashPoint | null,
  work: (panel: Panel) => Promise<unknown>,
) {
  const owner = { id: simulation.server.ownerId } as User
  await simulation.inProcess(crash, (panel) =>
    work({ ...panel, actor: { kind: 'user', user: owner, apiKey: null } }).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error
    }),
  )
}

/** Notes that running cron runs may start no step beyond those they have begun. */
function noteCancelledRuns(simulation: Simulation, scheduleId: number, seen: Snapshot): void {
  for (const { id } of seen.runs.filter((run) => run.scheduleId === scheduleId && run.reason !== null)) {
    const begun = seen.steps.filter(({ runId, dispatchedAt }) => runId === id && dispatchedAt !== null)
    if (!simulation.cancelledRuns.has(id))
      simulation.cancelledRuns.set(id, new Set(begun.map((step) => step.id)))
  }
}

/** Changes one of the schedules, and notes the runs that this cancels. */
async function onSchedule(
  simulation: Simulation,
  at: number,
  crash: CrashPoint | null,
  work: (panel: Panel, id: number, seen: Snapshot) => Promise<unknown>,
): Promise<void> {
  const seen = await readSnapshot(simulation)
  const schedule = pick(seen.schedules, at)
  if (!schedule) return
  await asOwner(simulation, crash, (panel) => work(panel, schedule.id, seen))
  const after = await readSnapshot(simulation)
  noteCancelledRuns(simulation, schedule.id, {
    ...after,
    runs: after.runs.filter(({ state }) => state === 'running'),
  })
}

const placeOf = (simulation: Simulation, scheduleId: number) => ({
  server: { ...simulation.server, backupLimit: 1 },
  scheduleId,
})
const anything = () => undefined

const edit = (simulation: Simulation, at: number, wanted: Wanted, crash: CrashPoint | null) =>
  onSchedule(simulation, at, crash, (panel, id) =>
    changeSchedule(panel, simulation.server, id, inputOf(wanted), anything),
  )

/** Removes a schedule, but keeps the last one, so that the simulation goes on. */
const remove = (simulation: Simulation, at: number, crash: CrashPoint | null) =>
  onSchedule(simulation, at, crash, async (panel, id, { schedules }) => {
    if (schedules.length > 1) await removeSchedule(panel, simulation.server, id)
  })

const execute = (simulation: Simulation, at: number, crash: CrashPoint | null) =>
  onSchedule(simulation, at, crash, (panel, id) => executeSchedule(panel, simulation.server, id, anything))

const changeOneTask = (simulation: Simulation, at: number, wanted: WantedTask, crash: CrashPoint | null) =>
  onSchedule(simulation, at, crash, async (panel, id, { tasks }) => {
    const task = pick(
      tasks.filter(({ scheduleId }) => scheduleId === id),
      at,
    )
    if (task) await changeTask(panel, placeOf(simulation, id), task.id, taskOf(wanted), anything)
  })

const removeOneTask = (simulation: Simulation, at: number, crash: CrashPoint | null) =>
  onSchedule(simulation, at, crash, async (panel, id, { tasks }) => {
    const own = tasks.filter(({ scheduleId }) => scheduleId === id)
    const task = pick(own, at)
    if (task && own.length > 1) await removeTask(panel, placeOf(simulation, id), task.id)
  })

const suspend = (simulation: Simulation, isSuspended: boolean) =>
  simulation.world.database.db
    .update(servers)
    .set({ status: isSuspended ? 'suspended' : null })
    .where(eq(servers.id, simulation.server.id))

/** Runs the tick of a minute undisturbed; checks that nothing due is left and that no time is lost. */
async function wholeTick(simulation: Simulation): Promise<void> {
  const before = await readSnapshot(simulation)
  const now = simulation.world.clock.now
  await simulation.tick()
  const after = await readSnapshot(simulation)
  for (const schedule of before.schedules) {
    const { id, isActive, isProcessing, nextRunAt } = schedule
    const hasTasks = before.tasks.some(({ scheduleId }) => scheduleId === id)
    if (!isActive || isProcessing || nextRunAt === null || nextRunAt > now || !hasTasks) continue
    const isClaimed = after.runs.some(
      ({ scheduleId, dueAt, trigger }) => scheduleId === id && trigger === 'cron' && +dueAt === +nextRunAt,
    )
    const isStill = after.schedules.some((each) => each.id === id)
    if (!isClaimed && isStill) throw new Error(`schedule ${id} has no run for ${nextRunAt.toISOString()}`)
  }
}

/** Delivers a message of the queue, perhaps twice at once, late or out of order. */
async function deliver(
  simulation: Simulation,
  at: number,
  times: number,
  crash: CrashPoint | null,
): Promise<void> {
  const id = pick(simulation.messages.toReversed(), at)
  if (id === undefined) return
  await Promise.all(
    Array.from({ length: times }, () =>
      simulation.inProcess(crash, (panel) => runJob(panel, id, jobHandlers)),
    ),
  )
}

const command = (
  name: string,
  input: object,
  run: (simulation: Simulation) => Promise<unknown>,
): Command => ({
  check: () => true,
  run: async (_model, simulation) => {
    await run(simulation)
    const found = violations(simulation, await readSnapshot(simulation))
    if (found.length > 0) throw new Error(found.join('\n'))
  },
  toString: () => `${name}${JSON.stringify(Object.values(input))}`,
})

/** Creates a command with the given input. */
const of = <T extends object>(
  name: string,
  input: { [K in keyof T]: fc.Arbitrary<T[K]> },
  run: (simulation: Simulation, input: T) => Promise<unknown>,
): fc.Arbitrary<Command> =>
  (fc.record(input) as fc.Arbitrary<T>).map((values) =>
    command(name, values, (simulation) => run(simulation, values)),
  )

const add = of('add', { wanted: scheduleInput, crash }, async (simulation, { wanted, crash }) => {
  const { schedules } = await readSnapshot(simulation)
  if (schedules.length < 3)
    await asOwner(simulation, crash, (panel) => addSchedule(panel, simulation.server, inputOf(wanted)))
})
const addOneTask = of(
  'addTask',
  { index, wanted: taskInput, crash },
  (simulation, { index: at, wanted, crash }) =>
    onSchedule(simulation, at, crash, async (panel, id, { tasks }) => {
      const count = tasks.filter(({ scheduleId }) => scheduleId === id).length
      if (count < 4) await addTask(panel, placeOf(simulation, id), taskOf(wanted), anything)
    }),
)
const passing = fc.constantFrom(1, 20, 60, 300, 1000)
const pass = of('pass', { seconds: passing }, async (simulation, { seconds }) =>
  simulation.world.clock.advance(seconds),
)
const passDays = of('passDays', { days: fc.constantFrom(0.1, 1, 4, 40) }, async (simulation, { days }) =>
  simulation.world.clock.advance(days * 86_400),
)

/** Turns the clock back, as on another machine whose clock is behind. */
const turnBack = of('turnBack', { seconds: fc.constantFrom(1, 30, 90) }, async (simulation, { seconds }) => {
  simulation.world.clock.advance(-seconds)
  simulation.secondsTurnedBack += seconds
})

/** Advances the clock to the time at which one of the schedules is due, or a little later. */
async function advanceUntilDue(simulation: Simulation, at: number, late: number): Promise<void> {
  const { now } = simulation.world.clock
  const schedule = pick(
    (await readSnapshot(simulation)).schedules.filter(({ isActive, nextRunAt }) => isActive && nextRunAt),
    at,
  )
  const due = schedule?.nextRunAt
  if (due && due > now) simulation.world.clock.now = new Date(due.getTime() + late * 1000)
}
const lateness = fc.constantFrom(0, 0, 0, 1, 30, 59, 600)
const comeDue = of('comeDue', { index, late: lateness }, async (simulation, { index: at, late }) => {
  await advanceUntilDue(simulation, at, late)
  await wholeTick(simulation)
})
const crashWhenDue = of('crashWhenDue', { index, late: lateness, crash }, async (simulation, input) => {
  await advanceUntilDue(simulation, input.index, input.late)
  await simulation.tick(input.crash)
})
const passToEdge = of('passToEdge', { edge: fc.constantFrom(...edges) }, async (simulation, { edge }) => {
  if (edge > simulation.world.clock.now) simulation.world.clock.now = edge
})
const seconds = fc.constantFrom(1, 5, 30, 60, 60, 60, 185)
const minute = of('minute', { seconds }, async (simulation, input) => {
  simulation.world.clock.advance(input.seconds)
  await wholeTick(simulation)
})
const crashingTick = of('crashingTick', { seconds, crash }, (simulation, input) => {
  simulation.world.clock.advance(input.seconds)
  return simulation.tick(input.crash)
})
const twoTicks = of('twoTicks', { seconds, crash }, (simulation, input) => {
  simulation.world.clock.advance(input.seconds)
  return Promise.all([simulation.tick(input.crash), simulation.tick()])
})
const deliveries = of(
  'deliver',
  { index, times: fc.integer({ min: 1, max: 3 }), crash },
  (simulation, input) => deliver(simulation, input.index, input.times, input.crash),
)
const loseMessages = of('loseMessages', {}, async (simulation) => simulation.messages.splice(0))
const turn = of(
  'daemon',
  { mode: fc.constantFrom<DaemonMode>('up', 'up', 'up', 'stalled', ...daemonModes) },
  async (simulation, { mode }) => {
    simulation.daemonMode = mode
  },
)
const suspension = of('suspend', { isSuspended: weightedBoolean(1, 3) }, (simulation, { isSuspended }) =>
  suspend(simulation, isSuspended),
)
const maintenance = of('maintain', { isOn: weightedBoolean(1, 4) }, (simulation, { isOn }) =>
  simulation.world.database.db.update(nodes).set({ maintenanceMode: isOn }),
)

const during: Record<string, (simulation: Simulation, at: number, wanted: Wanted) => Promise<unknown>> = {
  edit: (simulation, at, wanted) => edit(simulation, at, wanted, null),
  remove: (simulation, at) => remove(simulation, at, null),
  removeTask: (simulation, at) => removeOneTask(simulation, at, null),
  execute: (simulation, at) => execute(simulation, at, null),
  tick: (simulation) => simulation.tick(),
  suspend: (simulation) => suspend(simulation, true),
}
const meanwhile = of(
  'meanwhile',
  { what: fc.constantFrom(...Object.keys(during)), index, wanted: scheduleInput },
  async (simulation, { what, index: at, wanted }) => {
    simulation.duringNextCall = () => during[what]?.(simulation, at, wanted) ?? Promise.resolve()
  },
)

const edits = [
  of('edit', { index, wanted: scheduleInput, crash }, (simulation, input) =>
    edit(simulation, input.index, input.wanted, input.crash),
  ),
  of('changeTask', { index, wanted: taskInput, crash }, (simulation, input) =>
    changeOneTask(simulation, input.index, input.wanted, input.crash),
  ),
  of('removeTask', { index, crash }, (simulation, input) =>
    removeOneTask(simulation, input.index, input.crash),
  ),
  of('execute', { index, crash }, (simulation, input) => execute(simulation, input.index, input.crash)),
]
const removal = of('remove', { index, crash }, (simulation, input) =>
  remove(simulation, input.index, input.crash),
)

/** Every command, weighted so that schedules run often. */
export const commands: fc.Arbitrary<Command>[] = [
  ...edits,
  add,
  removal,
  pass,
  passDays,
  passToEdge,
  turnBack,
  loseMessages,
  suspension,
  maintenance,
  ...Array.from({ length: 2 }, () => [
    addOneTask,
    executeTwice(),
    turn,
    meanwhile,
    meanwhile,
    twoTicks,
    crashingTick,
  ]).flat(),
  ...Array.from({ length: 4 }, () => [comeDue, crashWhenDue, minute, deliveries]).flat(),
]

/** Executes a schedule twice at once. */
function executeTwice(): fc.Arbitrary<Command> {
  return of('executeTwice', { index }, (simulation, input) =>
    Promise.all([execute(simulation, input.index, null), execute(simulation, input.index, null)]),
  )
}
