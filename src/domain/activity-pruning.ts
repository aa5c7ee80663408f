import { sql } from 'drizzle-orm'
import { only, rowsOf } from '../db/database.ts'
import { activity, activitySubjects } from '../db/schema.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { listActivityPartitions } from './activity-partitions.ts'
import { batchSize, inBatches } from './batches.ts'
import { setting } from './settings.ts'

const dayInMilliseconds = 86_400_000

/**
 * The audit log holds nothing older than `activity.retention_days`: months that are over for that long are dropped
 * as a whole, single entries removed in batches, and what `activity_subjects` says of them as well. False when
 * there is more to do.
 */
export async function pruneActivity(panel: Panel): Promise<boolean> {
  const days = await setting(panel, 'activity.retention_days')
  const cutoff = new Date(panel.now().getTime() - days * dayInMilliseconds)
  for (const { name, end } of await listActivityPartitions(panel)) {
    if (end > cutoff) continue
    if (!(await removeSubjectsOf(panel, name))) return false
    await dropPartition(panel, name)
  }
  return removeEntriesBefore(panel, cutoff)
}

/** Entries of a partition that is about to go are spoken of no more. */
const removeSubjectsOf = (panel: Panel, partition: string) =>
  inBatches(async () => {
    const removed = await panel.db.execute(sql`
      delete from ${activitySubjects} where activity_id in (
        select entry.id from ${sql.identifier(partition)} entry
        where exists (select from ${activitySubjects} subject where subject.activity_id = entry.id)
        order by entry.id limit ${batchSize}
      ) returning 1`)
    return rowsOf(removed).length
  })

async function dropPartition(panel: Panel, name: string): Promise<void> {
  await inTransaction(panel, async (inside) => {
    // Whoever writes waits behind this lock; rather try again later than stop the panel.
    await inside.db.execute(sql`set local lock_timeout = '3s'`)
    await inside.db.execute(sql`drop table if exists ${sql.identifier(name)}`)
  })
}

const removeEntriesBefore = (panel: Panel, cutoff: Date) =>
  inBatches(async () => {
    const result = await panel.db.execute(sql`
      with removed as (
        delete from ${activity} where (id, timestamp) in (
          select id, timestamp from ${activity} where timestamp < ${cutoff.toISOString()}::timestamptz limit ${batchSize}
        ) returning id
      ), unspoken as (
        delete from ${activitySubjects} where activity_id in (select id from removed)
      )
      select count(*)::int as count from removed`)
    return only(rowsOf<{ count: number }>(result)).count
  })
