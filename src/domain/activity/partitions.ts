import { sql } from 'drizzle-orm'
import { rowsOf, single } from '../../db/database.ts'
import { inTransaction, type Panel, type Tx } from '../../panel.ts'
import { replaceJob } from '../jobs/enqueue.ts'

/** Key of the waiting job, which exists once. */
const jobKey = 'maintain-activity'
const dayMs = 86_400_000
const monthsAhead = 2

/** Creates missing partitions of the activity log and schedules itself for the next day. */
export async function maintainActivity(panel: Panel): Promise<void> {
  await ensureActivityPartitions(panel)
  const runAt = new Date(panel.now().getTime() + dayMs)
  await replaceJob(panel, 'maintain-activity', {}, { key: jobKey, runAt })
}

/**
 * Creates the partitions of this month, the next two and `monthsBack` before it, in UTC. A month with entries in the default
 * partition stays there, because moving them would block every write.
 */
export async function ensureActivityPartitions(tx: Tx, monthsBack = 0): Promise<void> {
  const now = tx.now()
  for (let ahead = -monthsBack; ahead <= monthsAhead; ahead += 1) {
    const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1))
    const end = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead + 1, 1))
    if (await isPartitionMissing(tx, start, end)) await addPartition(tx, start, end)
  }
}

async function isPartitionMissing(tx: Tx, start: Date, end: Date): Promise<boolean> {
  const result = await tx.db.execute(sql`
    select to_regclass(${partitionName(start)}) is null and not exists (
      select 1 from activity_default
      where timestamp >= ${start.toISOString()}::timestamptz and timestamp < ${end.toISOString()}::timestamptz
    ) as missing`)
  return single(rowsOf<{ missing: boolean }>(result)).missing
}

/** Names and bounds cannot be parameters; they consist only of digits. */
async function addPartition(tx: Tx, start: Date, end: Date): Promise<void> {
  const statement = `create table if not exists ${partitionName(start)} partition of activity
    for values from ('${start.toISOString()}') to ('${end.toISOString()}')`
  await inTransaction(tx, async (tx) => {
    // Writes wait behind this lock: fail soon and retry later.
    await tx.db.execute(sql`set local lock_timeout = '3s'`)
    await tx.db.execute(sql.raw(statement))
  })
}

const partitionName = (start: Date) => `activity_${start.toISOString().slice(0, 7).replace('-', '_')}`

/** Lists the monthly partitions, oldest first, with the end of each month. */
export async function listActivityPartitions(panel: Panel): Promise<{ name: string; end: Date }[]> {
  const result = await panel.db.execute(sql`
    select child.relname as name from pg_inherits join pg_class child on child.oid = inhrelid
    where inhparent = 'activity'::regclass order by child.relname`)
  return rowsOf<{ name: string }>(result).flatMap(({ name }) => {
    const [, year, month] = /^activity_(\d{4})_(\d\d)$/.exec(name) ?? []
    return month === undefined ? [] : [{ name, end: new Date(Date.UTC(Number(year), Number(month), 1)) }]
  })
}
