import type { ScheduleRun } from '../../src/db/tables/schedule-runs.ts'
import type { ScheduleStep } from '../../src/db/tables/schedule-steps.ts'
import { nextRuns } from '../../src/domain/cron.ts'
import { timesOf } from '../../src/domain/schedules/schedules.ts'
import type { Call, Seen, Site } from './schedule-site.ts'

const quarterOfAnHour = 15 * 60_000

/** What holds between any two things that happen, and what of it does not. */
export function violations(site: Site, seen: Seen): string[] {
  return [
    ...site.forbiddenCalls.map(({ payload }) => `${payload} was sent to a suspended server`),
    ...doubleRuns(seen),
    ...seen.runs.flatMap((run) => runFaults(site, seen, run)),
    ...scheduleFaults(seen),
    ...sequenceFaults(seen),
  ]
}

function doubleRuns({ runs }: Seen): string[] {
  const dueTimes = runs
    .filter(({ trigger }) => trigger === 'cron')
    .map(({ scheduleId, dueAt }) => `${scheduleId} at ${dueAt.toISOString()}`)
  return dueTimes
    .filter((time, at) => dueTimes.indexOf(time) !== at)
    .map((time) => `schedule ${time} has two runs`)
}

function runFaults(site: Site, seen: Seen, run: ScheduleRun): string[] {
  const steps = seen.steps.filter(({ runId }) => runId === run.id)
  const calls = site.calls.filter(({ runId }) => runId === run.id)
  const faults = [
    ...callFaults(site, run, steps, calls),
    ...orderFaults(steps),
    ...freshnessFaults(site, seen, run, steps),
    ...(run.finishedAt === null ? [] : endFaults(site, run.finishedAt, steps, calls)),
  ]
  if ((run.state === 'running') !== (run.finishedAt === null)) faults.push('it is half ended')
  const allowed = site.calledOff.get(run.id)
  if (allowed && steps.some(({ id, dispatchedAt }) => dispatchedAt !== null && !allowed.has(id)))
    faults.push('it made a step after it was called off')
  return faults.map((fault) => `run ${run.id} (${run.trigger}, ${run.state}): ${fault}`)
}

const nameOf = ({ action, payload }: { action: string; payload: string }) => `${action} ${payload}`
const countOf = (names: string[], name: string) => names.filter((each) => each === name).length

/** Each step called its daemon at most once, and exactly once unless its process died in between. */
function callFaults(site: Site, run: ScheduleRun, steps: ScheduleStep[], calls: Call[]): string[] {
  const begun = steps.filter(({ dispatchedAt }) => dispatchedAt !== null)
  const surely = begun.filter(
    ({ state }) => !site.diedIn.has(run.id) || !['unknown', 'dispatched'].includes(state),
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
  if (!site.diedIn.has(run.id)) {
    const outcomes = begun.map(({ state }) => state)
    const heard = calls.map(({ outcome }) => outcome)
    if (!site.overtaken.has(run.id) && outcomes.join() !== heard.join())
      faults.push(`its steps are ${outcomes.join()}, its calls were ${heard.join()}`)
  }
  return faults
}

/** A step begins when the one before it has ended, and its offset is over. */
const orderFaults = (steps: ScheduleStep[]): string[] =>
  steps.flatMap((step, at) => {
    const before = steps[at - 1]
    if (!before || step.dispatchedAt === null) return []
    if (before.finishedAt === null) return [`step ${step.sequenceId} began before ${before.sequenceId} ended`]
    const waited = step.dispatchedAt.getTime() - before.finishedAt.getTime()
    return waited < step.timeOffset * 1000 ? [`step ${step.sequenceId} waited only ${waited} ms`] : []
  })

function endFaults(site: Site, finishedAt: Date, steps: ScheduleStep[], calls: Call[]): string[] {
  const latest = finishedAt.getTime() + site.turnedBack * 1000
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

/** Nothing is done that nobody expects any more: the first step by the clock may be as late as one period. */
function freshnessFaults(site: Site, seen: Seen, run: ScheduleRun, steps: ScheduleStep[]): string[] {
  const following = followingOf(site, seen, run)
  return steps.flatMap((step, at) => {
    if (step.dispatchedAt === null || step.dueAt === null) return []
    const lateness = step.dispatchedAt.getTime() - step.dueAt.getTime()
    if (lateness < 0) return [`step ${step.sequenceId} began too early`]
    if (lateness <= quarterOfAnHour) return []
    const isExpected = at === 0 && run.trigger === 'cron' && following && following >= step.dispatchedAt
    return isExpected ? [] : [`step ${step.sequenceId} began ${lateness} ms late`]
  })
}

/** When the schedule of a run is due next, by the fields it had when the run was first seen. */
function followingOf(site: Site, { schedules }: Seen, run: ScheduleRun): Date | undefined {
  const schedule = schedules.find(({ id }) => id === run.scheduleId)
  const [first] = schedule ? nextRuns(timesOf(schedule), run.dueAt, 1) : []
  const following = site.followings.get(run.id) ?? first
  if (following) site.followings.set(run.id, following)
  return following
}

function scheduleFaults({ schedules, runs, tasks }: Seen): string[] {
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

const sequenceFaults = ({ schedules, tasks }: Seen): string[] =>
  schedules.flatMap(({ id }) => {
    const places = tasks.filter(({ scheduleId }) => scheduleId === id).map(({ sequenceId }) => sequenceId)
    return places.every((place, at) => place === at + 1)
      ? []
      : [`schedule ${id} has tasks at ${places.join()}`]
  })
