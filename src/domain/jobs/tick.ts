import { sql } from 'drizzle-orm'
import type { Panel } from '../../panel.ts'
import { nodeCheckJobs } from '../heartbeats/check-nodes.ts'
import { abandonedRunJobs } from '../schedules/advance-run.ts'
import { claimDueSchedules } from '../schedules/due-schedules.ts'
import { trashExpiryJobs } from '../trash/expiry.ts'
import { enqueueMissingJobs, type JobName } from './enqueue.ts'
import { jobHandlers } from './handlers.ts'
import { sweepJobs } from './run.ts'
import { readLastTick, storeLastTick } from './tick-history.ts'

/**
 * Milliseconds after which a tick starts no more work: what it has started must end before the time limit of a
 * function.
 */
const maxTickMs = 12_000

/** Jobs that repeat themselves; the tick enqueues them where they are missing. */
const recurringJobs = ['maintain-activity', 'prune', 'sweep-uploads'] as const

/** Count and duration of each step. */
export type TickReport = { part: string; count: number; milliseconds: number }[]

/**
 * Runs the work of each minute in this order: claims due schedules, enqueues recurring jobs, expiry of the
 * trash and checks of nodes, recovers abandoned runs, runs due jobs whose message was lost. Two ticks at once do no harm. A failing
 * step does not stop the others; its error is thrown at the end.
 */
export async function runTick(panel: Panel): Promise<TickReport> {
  const start = panel.now()
  const startMs = performance.now()
  let outcome = 'failed'
  try {
    await observeLateness(panel, start)
    const report = await runSteps(panel, start)
    await storeLastTick(panel, start)
    outcome = 'done'
    return report
  } finally {
    panel.metrics.count('roost_ticks_total', { outcome })
    panel.metrics.observe('roost_tick_duration_seconds', (performance.now() - startMs) / 1000, {})
  }
}

/** Seconds between two ticks. */
const tickPeriodSeconds = 60

async function observeLateness(panel: Panel, start: Date): Promise<void> {
  const last = await readLastTick(panel).catch(() => null)
  if (!last) return
  const seconds = (start.getTime() - last.getTime()) / 1000
  panel.metrics.observe('roost_tick_lateness_seconds', Math.max(0, seconds - tickPeriodSeconds), {})
}

type PartCounts = [part: string, count: number][]

async function runSteps(panel: Panel, start: Date): Promise<TickReport> {
  const until = new Date(start.getTime() + maxTickMs)
  const steps: (() => Promise<PartCounts>)[] = [
    async () => [['schedules', await claimDueSchedules(panel, until)]],
    () => enqueueDueJobs(panel),
    async () => [['jobs', await sweepJobs(panel, jobHandlers, { dueBy: start, until })]],
  ]
  const report: TickReport = []
  const failures: unknown[] = []
  for (const run of steps) {
    const before = performance.now()
    try {
      const counts = await run()
      const milliseconds = Math.round(performance.now() - before)
      report.push(...counts.map(([part, count]) => ({ part, count, milliseconds })))
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return report
}

/**
 * Enqueues the jobs that recur, that delete expired trash, that continue abandoned runs and that check the nodes, in one
 * statement.
 */
async function enqueueDueJobs(panel: Panel): Promise<PartCounts> {
  const added = await enqueueMissingJobs(panel, [
    recurringJobRows,
    trashExpiryJobs(panel.now()),
    abandonedRunJobs(panel.now()),
    nodeCheckJobs,
  ])
  const countOf = (name: JobName) => added.get(name) ?? 0
  return [
    ['recurring', recurringJobs.length],
    ['trash', countOf('expire-trash')],
    ['runs', countOf('run-schedule')],
    ['heartbeats', countOf('check-nodes')],
  ]
}

/** A running job is not made to run once more, as `enqueueJob` would. */
const recurringJobRows = sql`select name, '{}'::jsonb, name from (values ${sql.join(
  recurringJobs.map((name) => sql`(${name}::text)`),
  sql`, `,
)}) recurring (name)`
