import { sql } from 'drizzle-orm'
import { only, rowsOf } from '../db/database.ts'
import { inTransaction, type Panel } from '../panel.ts'
import { replaceJob } from './jobs.ts'

/** Of the waiting job; who asks for it again changes nothing. */
const jobKey = 'maintain-activity'
const dayInMilliseconds = 86_400_000
const monthsAhead = 2

/** Keeps the audit log partitioned, and the job itself coming back a day later. */
export async function maintainActivity(panel: Panel): Promise<void> {
  await ensureActivityPartitions(panel)
  const runAt = new Date(panel.now().getTime() + dayInMilliseconds)
  await replaceJob(panel, 'maintain-activity', {}, { key: jobKey, runAt })
}

/**
 * The audit log has a partition for this month and each of the next two, months in UTC. A month that already
 * has entries in the default partition stays there: to move them would stop everything that writes.
 */
export async function ensureActivityPartitions(panel: Panel): Promise<void> {
  const now = panel.now()
  for (let ahead = 0; ahead <= monthsAhead; ahead += 1) {
    const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1))
    const end = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead + 1, 1))
    if (await isMissing(panel, start, end)) await addPartition(panel, start, end)
  }
}

async function isMissing(panel: Panel, start: Date, end: Date): Promise<boolean> {
  const result = await panel.db.execute(sql`
    select to_regclass(${partitionName(start)}) is null and not exists (
      select 1 from activity_default
      where timestamp >= ${start.toISOString()}::timestamptz and timestamp < ${end.toISOString()}::timestamptz
    ) as missing`)
  return only(rowsOf<{ missing: boolean }>(result)).missing
}

/** Names and bounds cannot be parameters of a statement; they are made of numbers only. */
async function addPartition(panel: Panel, start: Date, end: Date): Promise<void> {
  const statement = `create table if not exists ${partitionName(start)} partition of activity
    for values from ('${start.toISOString()}') to ('${end.toISOString()}')`
  await inTransaction(panel, async (inside) => {
    // Whoever writes waits behind this lock; rather try again later than stop the panel.
    await inside.db.execute(sql`set local lock_timeout = '3s'`)
    await inside.db.execute(sql.raw(statement))
  })
}

const partitionName = (start: Date) => `activity_${start.toISOString().slice(0, 7).replace('-', '_')}`

/** The partitions for one month each, the oldest first, and the instant before which all of their entries are. */
export async function listActivityPartitions(panel: Panel): Promise<{ name: string; end: Date }[]> {
  const result = await panel.db.execute(sql`
    select child.relname as name from pg_inherits join pg_class child on child.oid = inhrelid
    where inhparent = 'activity'::regclass order by child.relname`)
  return rowsOf<{ name: string }>(result).flatMap(({ name }) => {
    const [, year, month] = /^activity_(\d{4})_(\d\d)$/.exec(name) ?? []
    return month === undefined ? [] : [{ name, end: new Date(Date.UTC(Number(year), Number(month), 1)) }]
  })
}
