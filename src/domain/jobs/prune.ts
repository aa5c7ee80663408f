import { sql, type SQL } from 'drizzle-orm'
import { rowsOf } from '../../db/database.ts'
import {
  bulkOperations,
  emailVerifications,
  jobs,
  nodeSamples,
  notifications,
  passwordResets,
  scheduleRuns,
  serverSamples,
  sessions,
  throttles,
} from '../../db/schema.ts'
import type { Panel } from '../../panel.ts'
import { pruneActivity } from '../activity/prune.ts'
import { getSetting } from '../settings/settings.ts'
import { batchSize, deleteInBatches } from './batch-deletion.ts'
import { replaceJob } from './enqueue.ts'

/** Key of the waiting job; the tick enqueues it under the same key. */
const jobKey = 'prune'
const dayMs = 86_400_000
/** Milliseconds until the next run when rows are left. */
const continuationDelayMs = 60_000

/** Days for which finished rows are kept. */
const retentionDays = { doneJobs: 7, deadJobs: 90, scheduleRuns: 30, bulkOperations: 7, notifications: 60 }
/** Notifications that a user keeps. Spec: docs/limits.md#sizes. */
const maxNotifications = 200

/**
 * Runs `prune`: deletes sessions, throttles and mailed links once they expire, finished jobs after 7 days,
 * dead ones after 90, runs of schedules after 30, bulk operations after 7, notifications after 60 and beyond the latest 200 of a user, activity after `activity.retention_days`, samples after
 * `metrics.retention_days`. Repeats itself
 * after a day, or after a minute when rows are left.
 */
export async function prune(panel: Panel): Promise<void> {
  const now = panel.now()
  let isDone = await pruneActivity(panel)
  const statements = deleteStatements(now, await getSetting(panel, 'metrics.retention_days'))
  for (const statement of statements) {
    const isEmpty = await deleteInBatches(async () => rowsOf(await panel.db.execute(statement)).length)
    isDone = isEmpty && isDone
  }
  const runAt = new Date(now.getTime() + (isDone ? dayMs : continuationDelayMs))
  await replaceJob(panel, 'prune', {}, { key: jobKey, runAt })
}

/** Returns the statements; each deletes at most one batch and returns a row for each that it deleted. */
function deleteStatements(now: Date, sampleDays: number): SQL[] {
  const timestampSql = (daysAgo = 0) =>
    sql`${new Date(now.getTime() - daysAgo * dayMs).toISOString()}::timestamptz`
  const deleteFinishedJobs = (state: 'done' | 'dead', days: number) => sql`
    delete from ${jobs} where id in (
      select id from ${jobs} where state = ${state} and finished_at < ${timestampSql(days)}
      order by finished_at limit ${batchSize}
    ) returning 1`
  return [
    sql`delete from ${sessions} where id in (
      select id from ${sessions} where expires_at < ${timestampSql()} order by expires_at limit ${batchSize}
    ) returning 1`,
    sql`delete from ${throttles} where resets_at < ${timestampSql()} and key in (
      select key from ${throttles} where resets_at < ${timestampSql()} order by resets_at limit ${batchSize}
    ) returning 1`,
    sql`delete from ${passwordResets} where id in (
      select id from ${passwordResets} where expires_at < ${timestampSql()} order by expires_at limit ${batchSize}
    ) returning 1`,
    sql`delete from ${emailVerifications} where id in (
      select id from ${emailVerifications} where expires_at < ${timestampSql()} order by expires_at limit ${batchSize}
    ) returning 1`,
    deleteFinishedJobs('done', retentionDays.doneJobs),
    deleteFinishedJobs('dead', retentionDays.deadJobs),
    sql`delete from ${scheduleRuns} where id in (
      select id from ${scheduleRuns} where finished_at < ${timestampSql(retentionDays.scheduleRuns)}
      order by finished_at limit ${batchSize}
    ) returning 1`,
    sql`delete from ${bulkOperations} where id in (
      select id from ${bulkOperations} where created_at < ${timestampSql(retentionDays.bulkOperations)}
      order by created_at limit ${batchSize}
    ) returning 1`,
    sql`delete from ${notifications} where id in (
      select id from ${notifications} where created_at < ${timestampSql(retentionDays.notifications)}
      order by created_at limit ${batchSize}
    ) returning 1`,
    sql`delete from ${notifications} where id in (
      select id from (
        select id, row_number() over (partition by user_id order by created_at desc, id desc) as number from ${notifications}
      ) numbered where number > ${maxNotifications} limit ${batchSize}
    ) returning 1`,
    deleteSamples(nodeSamples, timestampSql(sampleDays)),
    deleteSamples(serverSamples, timestampSql(sampleDays)),
  ]
}

const deleteSamples = (table: typeof nodeSamples | typeof serverSamples, before: SQL) => sql`
  delete from ${table} where ctid = any(array(
    select ctid from ${table} where hour < ${before} order by hour limit ${batchSize}
  )) returning 1`
