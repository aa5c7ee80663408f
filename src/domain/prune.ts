import { sql, type SQL } from 'drizzle-orm'
import { rowsOf } from '../db/database.ts'
import { jobs, passwordResets, scheduleRuns, schedules, sessions, throttles } from '../db/schema.ts'
import type { Panel } from '../panel.ts'
import { pruneActivity } from './activity-pruning.ts'
import { batchSize, inBatches } from './batches.ts'
import { replaceJob } from './jobs.ts'

/** Of the waiting job; the tick asks for it. */
const jobKey = 'prune'
const dayInMilliseconds = 86_400_000
/** Milliseconds until it goes on with what it left. */
const pause = 60_000

/** Days for which things are kept that are over. */
const keptDays = { doneJobs: 7, deadJobs: 90, scheduleRuns: 30 }

/**
 * The job: nothing is left of what is over for long enough; a day later, or in a minute when there was too much
 * of it, it comes again. Sessions, throttles and password resets go when they end, finished jobs after 7 days,
 * dead ones after 90, runs of schedules after 30, the audit log after `activity.retention_days`.
 */
export async function prune(panel: Panel): Promise<void> {
  const now = panel.now()
  let isDone = await pruneActivity(panel)
  for (const statement of statementsAt(now)) {
    const isEmpty = await inBatches(async () => rowsOf(await panel.db.execute(statement)).length)
    isDone = isEmpty && isDone
  }
  const runAt = new Date(now.getTime() + (isDone ? dayInMilliseconds : pause))
  await replaceJob(panel, 'prune', {}, { key: jobKey, runAt })
}

/** Each removes at most one batch and gives a row for each that it removed. */
function statementsAt(now: Date): SQL[] {
  const instant = (daysAgo = 0) =>
    sql`${new Date(now.getTime() - daysAgo * dayInMilliseconds).toISOString()}::timestamptz`
  const finished = (state: 'done' | 'dead', days: number) => sql`
    delete from ${jobs} where id in (
      select id from ${jobs} where state = ${state} and finished_at < ${instant(days)}
      order by finished_at limit ${batchSize}
    ) returning 1`
  return [
    sql`delete from ${sessions} where id in (
      select id from ${sessions} where expires_at < ${instant()} order by expires_at limit ${batchSize}
    ) returning 1`,
    sql`delete from ${throttles} where resets_at < ${instant()} and key in (
      select key from ${throttles} where resets_at < ${instant()} order by resets_at limit ${batchSize}
    ) returning 1`,
    sql`delete from ${passwordResets} where id in (
      select id from ${passwordResets} where expires_at < ${instant()} order by expires_at limit ${batchSize}
    ) returning 1`,
    finished('done', keptDays.doneJobs),
    finished('dead', keptDays.deadJobs),
    // By way of the schedules, since runs have an index for each of them and none for all.
    sql`delete from ${scheduleRuns} where id in (
      select old.id from ${schedules} cross join lateral (
        select id from ${scheduleRuns} run where run.schedule_id = ${schedules.id}
        and run.started_at < ${instant(keptDays.scheduleRuns)} and run.state <> 'running'
        order by run.started_at limit ${batchSize}
      ) old limit ${batchSize}
    ) returning 1`,
  ]
}
