import { eq } from 'drizzle-orm'
import fc from 'fast-check'
import { nodes, servers } from '../../src/db/schema.ts'
import type { User } from '../../src/db/tables/users.ts'
import { jobHandlers } from '../../src/domain/job-handlers.ts'
import { runJob } from '../../src/domain/jobs.ts'
import { executeSchedule } from '../../src/domain/schedules/execute.ts'
import { addSchedule, changeSchedule, removeSchedule } from '../../src/domain/schedules/schedules.ts'
import { addTask, changeTask, removeTask } from '../../src/domain/schedules/tasks.ts'
import { ApiError } from '../../src/errors.ts'
import type { Panel } from '../../src/panel.ts'
import type { Death } from '../support/mortal-panel.ts'
import { violations } from './schedule-invariants.ts'
import { type Mood, moods, readSite, type Seen, type Site } from './schedule-site.ts'

export type Command = fc.AsyncCommand<object, Site>

const crons = ['* * * * *', '*/5 * * * *', '0 * * * *', '30 2 * * *', '0,30 1-3 * * *', '15 3 29 2 *']
const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca']
/** A little before their clocks are put forward or back. */
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

/** One of the things that are there, whatever their number; undefined without any. */
const pick = <T>(things: readonly T[], which: number): T | undefined => things[which % things.length]

let serial = 0

const often = (on: number, off: number) =>
  fc.oneof({ weight: on, arbitrary: fc.constant(true) }, { weight: off, arbitrary: fc.constant(false) })

const scheduleInput = fc.record({
  cron: fc.constantFrom(...crons),
  timezone: fc.constantFrom(...zones),
  is_active: often(5, 1),
  only_when_online: often(1, 2),
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

const death: fc.Arbitrary<Death | null> = fc.option(
  fc.record({ at: fc.integer({ min: 1, max: 28 }), happens: fc.boolean() }),
  { freq: 2 },
)
const which = fc.nat(7)

/** As the owner does it over the wire; what is refused changes nothing, and that is checked as well. */
async function asOwner(site: Site, dying: Death | null, work: (panel: Panel) => Promise<unknown>) {
  const owner = { id: site.server.ownerId } as User
  await site.inProcess(dying, (panel) =>
    work({ ...panel, actor: { kind: 'user', user: owner, apiKey: null } }).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error
    }),
  )
}

/** Runs by the clock that are under way may make no step beyond those that they have begun. */
function noteCalledOff(site: Site, scheduleId: number, seen: Seen): void {
  for (const { id } of seen.runs.filter((run) => run.scheduleId === scheduleId && run.reason !== null)) {
    const begun = seen.steps.filter(({ runId, dispatchedAt }) => runId === id && dispatchedAt !== null)
    if (!site.calledOff.has(id)) site.calledOff.set(id, new Set(begun.map((step) => step.id)))
  }
}

/** One of the schedules is changed by somebody, and everybody remembers what that called off. */
async function onSchedule(
  site: Site,
  at: number,
  dying: Death | null,
  work: (panel: Panel, id: number, seen: Seen) => Promise<unknown>,
): Promise<void> {
  const seen = await readSite(site)
  const schedule = pick(seen.schedules, at)
  if (!schedule) return
  await asOwner(site, dying, (panel) => work(panel, schedule.id, seen))
  const after = await readSite(site)
  noteCalledOff(site, schedule.id, { ...after, runs: after.runs.filter(({ state }) => state === 'running') })
}

const placeOf = (site: Site, scheduleId: number) => ({
  server: { ...site.server, backupLimit: 1 },
  scheduleId,
})
const anything = () => undefined

const edit = (site: Site, at: number, wanted: Wanted, dying: Death | null) =>
  onSchedule(site, at, dying, (panel, id) => changeSchedule(panel, site.server, id, inputOf(wanted)))

/** The last one stays: without it nothing would happen any more. */
const remove = (site: Site, at: number, dying: Death | null) =>
  onSchedule(site, at, dying, async (panel, id, { schedules }) => {
    if (schedules.length > 1) await removeSchedule(panel, site.server, id)
  })

const execute = (site: Site, at: number, dying: Death | null) =>
  onSchedule(site, at, dying, (panel, id) => executeSchedule(panel, site.server, id, anything))

const changeOneTask = (site: Site, at: number, wanted: WantedTask, dying: Death | null) =>
  onSchedule(site, at, dying, async (panel, id, { tasks }) => {
    const task = pick(
      tasks.filter(({ scheduleId }) => scheduleId === id),
      at,
    )
    if (task) await changeTask(panel, placeOf(site, id), task.id, taskOf(wanted), anything)
  })

const removeOneTask = (site: Site, at: number, dying: Death | null) =>
  onSchedule(site, at, dying, async (panel, id, { tasks }) => {
    const own = tasks.filter(({ scheduleId }) => scheduleId === id)
    const task = pick(own, at)
    if (task && own.length > 1) await removeTask(panel, placeOf(site, id), task.id)
  })

const suspend = (site: Site, isSuspended: boolean) =>
  site.world.database.db
    .update(servers)
    .set({ status: isSuspended ? 'suspended' : null })
    .where(eq(servers.id, site.server.id))

/** A minute's tick that nobody disturbs leaves nothing due behind, and forgets no time. */
async function wholeTick(site: Site): Promise<void> {
  const before = await readSite(site)
  const now = site.world.clock.now
  await site.tick()
  const after = await readSite(site)
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

/** The messages may come twice at once, late, out of order, or never. */
async function deliver(site: Site, at: number, times: number, dying: Death | null): Promise<void> {
  const id = pick(site.messages.toReversed(), at)
  if (id === undefined) return
  await Promise.all(
    Array.from({ length: times }, () => site.inProcess(dying, (panel) => runJob(panel, id, jobHandlers))),
  )
}

const command = (name: string, input: object, run: (site: Site) => Promise<unknown>): Command => ({
  check: () => true,
  run: async (_model, site) => {
    await run(site)
    const found = violations(site, await readSite(site))
    if (found.length > 0) throw new Error(found.join('\n'))
  },
  toString: () => `${name}${JSON.stringify(Object.values(input))}`,
})

/** A command of some input, built anew for each value of it. */
const of = <T extends object>(
  name: string,
  input: { [K in keyof T]: fc.Arbitrary<T[K]> },
  run: (site: Site, input: T) => Promise<unknown>,
): fc.Arbitrary<Command> =>
  (fc.record(input) as fc.Arbitrary<T>).map((values) => command(name, values, (site) => run(site, values)))

const add = of('add', { wanted: scheduleInput, death }, async (site, { wanted, death: dying }) => {
  const { schedules } = await readSite(site)
  if (schedules.length < 3)
    await asOwner(site, dying, (panel) => addSchedule(panel, site.server, inputOf(wanted)))
})
const addOneTask = of(
  'addTask',
  { which, wanted: taskInput, death },
  (site, { which: at, wanted, death: dying }) =>
    onSchedule(site, at, dying, async (panel, id, { tasks }) => {
      const count = tasks.filter(({ scheduleId }) => scheduleId === id).length
      if (count < 4) await addTask(panel, placeOf(site, id), taskOf(wanted), anything)
    }),
)
const passing = fc.constantFrom(1, 20, 60, 300, 1000)
const pass = of('pass', { seconds: passing }, async (site, { seconds }) => site.world.clock.advance(seconds))
const passDays = of('passDays', { days: fc.constantFrom(0.1, 1, 4, 40) }, async (site, { days }) =>
  site.world.clock.advance(days * 86_400),
)

/** As if another machine went on, whose clock is behind. */
const turnBack = of('turnBack', { seconds: fc.constantFrom(1, 30, 90) }, async (site, { seconds }) => {
  site.world.clock.advance(-seconds)
  site.turnedBack += seconds
})

/** To the time at which one of the schedules is due, or a little later. */
async function passUntilDue(site: Site, at: number, late: number): Promise<void> {
  const { now } = site.world.clock
  const schedule = pick(
    (await readSite(site)).schedules.filter(({ isActive, nextRunAt }) => isActive && nextRunAt),
    at,
  )
  const due = schedule?.nextRunAt
  if (due && due > now) site.world.clock.now = new Date(due.getTime() + late * 1000)
}
const lateness = fc.constantFrom(0, 0, 0, 1, 30, 59, 600)
const comeDue = of('comeDue', { which, late: lateness }, async (site, { which: at, late }) => {
  await passUntilDue(site, at, late)
  await wholeTick(site)
})
const dieWhenDue = of('dieWhenDue', { which, late: lateness, death }, async (site, input) => {
  await passUntilDue(site, input.which, input.late)
  await site.tick(input.death)
})
const passToEdge = of('passToEdge', { edge: fc.constantFrom(...edges) }, async (site, { edge }) => {
  if (edge > site.world.clock.now) site.world.clock.now = edge
})
const seconds = fc.constantFrom(1, 5, 30, 60, 60, 60, 185)
const minute = of('minute', { seconds }, async (site, input) => {
  site.world.clock.advance(input.seconds)
  await wholeTick(site)
})
const dyingTick = of('dyingTick', { seconds, death }, (site, input) => {
  site.world.clock.advance(input.seconds)
  return site.tick(input.death)
})
const twoTicks = of('twoTicks', { seconds, death }, (site, input) => {
  site.world.clock.advance(input.seconds)
  return Promise.all([site.tick(input.death), site.tick()])
})
const deliveries = of('deliver', { which, times: fc.integer({ min: 1, max: 3 }), death }, (site, input) =>
  deliver(site, input.which, input.times, input.death),
)
const loseMessages = of('loseMessages', {}, async (site) => site.messages.splice(0))
const turn = of(
  'daemon',
  { mood: fc.constantFrom<Mood>('up', 'up', 'up', 'stalled', ...moods) },
  async (site, { mood }) => {
    site.mood = mood
  },
)
const suspension = of('suspend', { isSuspended: often(1, 3) }, (site, { isSuspended }) =>
  suspend(site, isSuspended),
)
const maintenance = of('maintain', { isOn: often(1, 4) }, (site, { isOn }) =>
  site.world.database.db.update(nodes).set({ maintenanceMode: isOn }),
)

const during: Record<string, (site: Site, at: number, wanted: Wanted) => Promise<unknown>> = {
  edit: (site, at, wanted) => edit(site, at, wanted, null),
  remove: (site, at) => remove(site, at, null),
  removeTask: (site, at) => removeOneTask(site, at, null),
  execute: (site, at) => execute(site, at, null),
  tick: (site) => site.tick(),
  suspend: (site) => suspend(site, true),
}
const meanwhile = of(
  'meanwhile',
  { what: fc.constantFrom(...Object.keys(during)), which, wanted: scheduleInput },
  async (site, { what, which: at, wanted }) => {
    site.meanwhile = () => during[what]?.(site, at, wanted) ?? Promise.resolve()
  },
)

const edits = [
  of('edit', { which, wanted: scheduleInput, death }, (site, input) =>
    edit(site, input.which, input.wanted, input.death),
  ),
  of('changeTask', { which, wanted: taskInput, death }, (site, input) =>
    changeOneTask(site, input.which, input.wanted, input.death),
  ),
  of('removeTask', { which, death }, (site, input) => removeOneTask(site, input.which, input.death)),
  of('execute', { which, death }, (site, input) => execute(site, input.which, input.death)),
]
const removal = of('remove', { which, death }, (site, input) => remove(site, input.which, input.death))

/** Every command; those by which something runs more often than those by which nothing does. */
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
    dyingTick,
  ]).flat(),
  ...Array.from({ length: 4 }, () => [comeDue, dieWhenDue, minute, deliveries]).flat(),
]

/** Two people press the button at once. */
function executeTwice(): fc.Arbitrary<Command> {
  return of('executeTwice', { which }, (site, input) =>
    Promise.all([execute(site, input.which, null), execute(site, input.which, null)]),
  )
}
