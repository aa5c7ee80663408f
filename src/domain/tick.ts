import type { Panel } from '../panel.ts'
import { jobHandlers } from './job-handlers.ts'
import { enqueueAll, sweepJobs } from './jobs.ts'
import { claimDueSchedules } from './schedules/claims.ts'
import { recoverRuns } from './schedules/run-history.ts'
import { lastTick, rememberTick } from './tick-history.ts'
import { enqueueExpiries } from './trash/expiry.ts'

/** Milliseconds after which a tick begins nothing more: what it has begun ends before a function's time is up. */
const longestTick = 12_000

/** Jobs that ask for themselves again: each is there, or will be with the next tick. */
const recurring = ['maintain-activity', 'prune', 'sweep-uploads'] as const

/** How much each part did, and the milliseconds it took. */
export type TickReport = { part: string; count: number; milliseconds: number }[]

/**
 * Once a minute: schedules that are due are claimed, recurring jobs kept alive, runs carried on that nobody
 * carries, and jobs run that were due before and nobody was woken for, in this order. Two at once do no harm. A part that fails
 * does not keep the others from their work; its failure is thrown in the end.
 */
export async function tick(panel: Panel): Promise<TickReport> {
  const start = panel.now()
  const began = performance.now()
  let outcome = 'failed'
  try {
    await observeLateness(panel, start)
    const report = await runParts(panel, start)
    await rememberTick(panel, start)
    outcome = 'done'
    return report
  } finally {
    panel.metrics.count('roost_ticks_total', { outcome })
    panel.metrics.observe('roost_tick_duration_seconds', (performance.now() - began) / 1000, {})
  }
}

/** Seconds between ticks that are on time. */
const period = 60

async function observeLateness(panel: Panel, start: Date): Promise<void> {
  const last = await lastTick(panel).catch(() => null)
  if (!last) return
  const seconds = (start.getTime() - last.getTime()) / 1000
  panel.metrics.observe('roost_tick_lateness_seconds', Math.max(0, seconds - period), {})
}

async function runParts(panel: Panel, start: Date): Promise<TickReport> {
  const until = new Date(start.getTime() + longestTick)
  const parts: [part: string, run: () => Promise<number>][] = [
    ['schedules', () => claimDueSchedules(panel, until)],
    ['recurring', () => keepRecurring(panel)],
    ['trash', () => enqueueExpiries(panel)],
    ['runs', () => recoverRuns(panel)],
    ['jobs', () => sweepJobs(panel, jobHandlers, { dueBy: start, until })],
  ]
  const report: TickReport = []
  const failures: unknown[] = []
  for (const [part, run] of parts) {
    const before = performance.now()
    try {
      const count = await run()
      report.push({ part, count, milliseconds: Math.round(performance.now() - before) })
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return report
}

async function keepRecurring(panel: Panel): Promise<number> {
  // Not `enqueue`, which would have one that runs just now run once more.
  for (const name of recurring) {
    await enqueueAll(panel, name, [{ payload: {}, key: name, runAt: panel.now() }])
  }
  return recurring.length
}
