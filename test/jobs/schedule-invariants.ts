import type { ScheduleRun } from '../../src/db/tables/schedule-runs.ts'
import type { ScheduleStep } from '../../src/db/tables/schedule-steps.ts'
import { nextRuns } from '../../src/domain/schedules/cron.ts'
import { readCronTimes } from '../../src/domain/schedules/schedules.ts'
import type { Call, Snapshot, Simulation } from './schedule-simulation.ts'

const quarterOfAnHour = 15 * 60_000

/** Lists the invariants that are violated. */
export function violations(simulation: Simulation, seen: Snapshot): string[] {
  return [
    ...simulation.forbiddenCalls.map(({ payload }) => `${payload} was sent to a suspended server`),
    ...doubleRuns(seen),
    ...seen.runs.flatMap((run) => runFaults(simulation, seen, run)),
    ...scheduleFaults(seen),
    ...sequenceFaults(seen),
  ]
}

function doubleRuns({ runs }: Snapshot): string[] {
  const dueTimes = runs
    .filter(({ trigger }) => trigger === 'cron')
    .map(({ scheduleId, dueAt }) => `${scheduleId} at ${dueAt.toISOString()}`)
  return dueTimes
    .filter((time, at) => dueTimes.indexOf(time) !== at)
    .map((time) => `schedule ${time} has two runs`)
}

function runFaults(simulation: Simulation, seen: Snapshot, run: ScheduleRun): string[] {
  const steps = seen.steps.filter(({ runId }) => runId === run.id)
  const calls = simulation.calls.filter(({ runId }) => runId === run.id)
  const faults = [
    ...callFaults(simulation, run, steps, calls),
    ...orderFaults(steps),
    ...freshnessFaults(simulation, seen, run, steps),
    ...(run.finishedAt === null ? [] : endFaults(simulation, run.finishedAt, steps, calls)),
  ]
  if ((run.state === 'running') !== (run.finishedAt === null)) faults.push('it is half ended')
  const allowed = simulation.cancelledRuns.get(run.id)
  if (allowed && steps.some(({ id, dispatchedAt }) => dispatchedAt !== null && !allowed.has(id)))
    faults.push('it made a step after it was cancelled')
  return faults.map((fault) => `run ${run.id} (${run.trigger}, ${run.state}): ${fault}`)
}

const nameOf = ({ action, payload }: { action: string; payload: string }) => `${action} ${payload}`
const countOf = (names: string[], name: string) => names.filter((each) => each === name).length

/** Checks that each step called its daemon at most once, and exactly once unless its process crashed. */
function callFaults(
  simulation: Simulation,
  run: ScheduleRun,
  steps: ScheduleStep[],
  calls: Call[],
): string[] {
  const begun = steps.filter(({ dispatchedAt }) => dispatchedAt !== null)
  const surely = begun.filter(
    ({ state }) => !simulation.crashedRuns.has(run.id) || !['unknown', 'dispatched'].includes(state),
  )
  const called = calls.map(nameOf)
  const faults = [...new Set([...called, ...begun.map(nameOf)])].flatMap((name) => {
    const count = countOf(called, name)
    if (count > countOf(begun.map(nameOf), name)) return [`${name} was called twice, or never marked`]
    return count < countOf(surely.map(nameOf), name) ? [`${name} was never called`] : []
  })
  const left = begun.map(nameOf)
  for (const name of called) {
    const at = left.indexOf(name)
    if (at === -1) faults.push(`${name} was called out of order`)
    left.splice(0, at + 1)
  }
  if (!simulation.crashedRuns.has(run.id)) {
    const outcomes = begun.map(({ state }) => state)
    const callOutcomes = calls.map(({ outcome }) => outcome)
    if (!simulation.overtakenRuns.has(run.id) && outcomes.join() !== callOutcomes.join())
      faults.push(`its steps are ${outcomes.join()}, its calls were ${callOutcomes.join()}`)
  }
  return faults
}

/** Checks that a step begins after the previous one has ended and its offset is over. */
const orderFaults = (steps: ScheduleStep[]): string[] =>
  steps.flatMap((step, at) => {
    const before = steps[at - 1]
    if (!before || step.dispatchedAt === null) return []
    if (before.finishedAt === null) return [`step ${step.sequenceId} began before ${before.sequenceId} ended`]
    const waited = step.dispatchedAt.getTime() - before.finishedAt.getTime()
    return waited < step.timeOffset * 1000 ? [`step ${step.sequenceId} waited only ${waited} ms`] : []
  })

function endFaults(simulation: Simulation, finishedAt: Date, steps: ScheduleStep[], calls: Call[]): string[] {
  const latest = finishedAt.getTime() + simulation.secondsTurnedBack * 1000
  return [
    ...steps
      .filter(({ finishedAt: end }) => end === null)
      .map(({ state }) => `it ended with a step that is ${state}`),
    ...steps
      .filter(({ dispatchedAt }) => dispatchedAt !== null && dispatchedAt.getTime() > latest)
      .map(({ sequenceId }) => `step ${sequenceId} began after its end`),
    ...calls
      .filter(({ at }) => at.getTime() > latest)
      .map(({ payload }) => `${payload} was called after its end`),
  ]
}

/** Checks that no run is stale: its first step may be at most one period late. */
function freshnessFaults(
  simulation: Simulation,
  seen: Snapshot,
  run: ScheduleRun,
  steps: ScheduleStep[],
): string[] {
  const following = followingOf(simulation, seen, run)
  return steps.flatMap((step, at) => {
    if (step.dispatchedAt === null || step.dueAt === null) return []
    const lateness = step.dispatchedAt.getTime() - step.dueAt.getTime()
    if (lateness < 0) return [`step ${step.sequenceId} began too early`]
    if (lateness <= quarterOfAnHour) return []
    const isExpected = at === 0 && run.trigger === 'cron' && following && following >= step.dispatchedAt
    return isExpected ? [] : [`step ${step.sequenceId} began ${lateness} ms late`]
  })
}

/** Returns when the schedule of a run is due next, by the fields it had when the run was first seen. */
function followingOf(simulation: Simulation, { schedules }: Snapshot, run: ScheduleRun): Date | undefined {
  const schedule = schedules.find(({ id }) => id === run.scheduleId)
  const [first] = schedule ? nextRuns(readCronTimes(schedule), run.dueAt, 1) : []
  const following = simulation.nextRunTimes.get(run.id) ?? first
  if (following) simulation.nextRunTimes.set(run.id, following)
  return following
}

function scheduleFaults({ schedules, runs, tasks }: Snapshot): string[] {
  return schedules.flatMap(({ id, isProcessing }) => {
    const running = runs.filter(({ scheduleId, state }) => scheduleId === id && state === 'running')
    const byClock = running.filter(({ trigger, reason }) => trigger === 'cron' && reason === null)
    const queued = tasks.filter(({ scheduleId, isQueued }) => scheduleId === id && isQueued)
    return [
      ...(isProcessing && running.length === 0 ? [`schedule ${id} is processing without a run`] : []),
      ...(byClock.length > 1 ? [`schedule ${id} has ${byClock.length} runs by the clock at once`] : []),
      ...(!isProcessing && byClock.length > 0 ? [`schedule ${id} runs without processing`] : []),
      ...(queued.length > 0 && running.length === 0
        ? [`schedule ${id} has a queued task without a run`]
        : []),
    ]
  })
}

const sequenceFaults = ({ schedules, tasks }: Snapshot): string[] =>
  schedules.flatMap(({ id }) => {
    const places = tasks.filter(({ scheduleId }) => scheduleId === id).map(({ sequenceId }) => sequenceId)
    return places.every((place, at) => place === at + 1)
      ? []
      : [`schedule ${id} has tasks at ${places.join()}`]
  })
