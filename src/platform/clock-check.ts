import { sql } from 'drizzle-orm'
import { type Database, rowsOf } from '../db/database.ts'
import { log } from '../log.ts'

/** Seconds from which a difference is named: more than a step of codes from authenticators. */
const maxDifferenceSeconds = 30

/** Compares the clock with that of the database, and logs a warning when one of them is off. One statement. */
export async function compareClocks(db: Database): Promise<void> {
  const before = Date.now()
  const result = await db.execute(
    sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as milliseconds`,
  )
  const [row] = rowsOf<{ milliseconds: number }>(result)
  if (!row) return
  const here = (before + Date.now()) / 2
  const seconds = Math.round((here - Number(row.milliseconds)) / 1000)
  if (Math.abs(seconds) < maxDifferenceSeconds) return
  const direction = seconds > 0 ? 'ahead of' : 'behind'
  log('warn', 'The clocks of this machine and of the database differ.', {
    cause: `This machine is ${Math.abs(seconds)} seconds ${direction} the database. Set the wrong one by NTP (timedatectl set-ntp true): codes of two-factor authentication, signed links and tokens for nodes depend on it.`,
  })
}
