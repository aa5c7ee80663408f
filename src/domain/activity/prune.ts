import { sql } from 'drizzle-orm'
import { rowsOf, single } from '../../db/database.ts'
import { activity, activitySubjects } from '../../db/schema.ts'
import { inTransaction, type Panel } from '../../panel.ts'
import { batchSize, deleteInBatches } from '../jobs/batch-deletion.ts'
import { getSetting } from '../settings/settings.ts'
import { listActivityPartitions } from './partitions.ts'

const dayMs = 86_400_000

/**
 * Deletes entries older than `activity.retention_days`: drops whole months, deletes single entries in
 * batches, and deletes their rows in `activity_subjects`. Returns false when work is left.
 */
export async function pruneActivity(panel: Panel): Promise<boolean> {
  const days = await getSetting(panel, 'activity.retention_days')
  const cutoff = new Date(panel.now().getTime() - days * dayMs)
  for (const { name, end } of await listActivityPartitions(panel)) {
    if (end > cutoff) continue
    if (!(await deletePartitionSubjects(panel, name))) return false
    await dropPartition(panel, name)
  }
  return deleteEntriesBefore(panel, cutoff)
}

/** Deletes the subjects of all entries of a partition before it is dropped. */
const deletePartitionSubjects = (panel: Panel, partition: string) =>
  deleteInBatches(async () => {
    const removed = await panel.db.execute(sql`
      delete from ${activitySubjects} where activity_id in (
        select entry.id from ${sql.identifier(partition)} entry
        where exists (select from ${activitySubjects} subject where subject.activity_id = entry.id)
        order by entry.id limit ${batchSize}
      ) returning 1`)
    return rowsOf(removed).length
  })

async function dropPartition(panel: Panel, name: string): Promise<void> {
  await inTransaction(panel, async (tx) => {
    // Writes wait behind this lock: fail soon and retry later.
    await tx.db.execute(sql`set local lock_timeout = '3s'`)
    await tx.db.execute(sql`drop table if exists ${sql.identifier(name)}`)
  })
}

const deleteEntriesBefore = (panel: Panel, cutoff: Date) =>
  deleteInBatches(async () => {
    const result = await panel.db.execute(sql`
      with removed as (
        delete from ${activity} where (id, timestamp) in (
          select id, timestamp from ${activity} where timestamp < ${cutoff.toISOString()}::timestamptz limit ${batchSize}
        ) returning id
      ), removed_subjects as (
        delete from ${activitySubjects} where activity_id in (select id from removed)
      )
      select count(*)::int as count from removed`)
    return single(rowsOf<{ count: number }>(result)).count
  })
