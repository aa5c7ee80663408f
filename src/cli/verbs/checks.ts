import { sql } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { type Database, only, rowsOf } from '../../db/database.ts'
import { migrationsConfig } from '../../platform/migrations.ts'
import { reasonOf } from '../faults.ts'

/** One thing the doctor looked at. */
export type Check = { name: string; state: 'ok' | 'warn' | 'fail'; detail: string }

type Finding = Omit<Check, 'name'>

/** Milliseconds after which whatever is asked counts as out of reach. */
export const patience = 5000
/** Milliseconds of difference between two clocks which people would not notice, and which signatures allow. */
const tolerated = { unnoticed: 2000, allowed: 30_000 }
const undefinedTable = '42P01'

/** The finding of `work`, or a failure with its reason; also when it takes more than five seconds. */
export async function check(name: string, work: () => Promise<Finding>): Promise<Check> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Finding>((resolve) => {
    timer = setTimeout(() => resolve({ state: 'fail', detail: 'gives no answer' }), patience)
  })
  const found = work().catch((error: unknown): Finding => ({ state: 'fail', detail: shortReason(error) }))
  const finding = await Promise.race([found, late])
  clearTimeout(timer)
  return { name, ...finding }
}

/** The first line of the reason, without the command that the cache's client quotes. */
const shortReason = (error: unknown) =>
  (reasonOf(error).split('\n')[0] ?? '').replace(/, command was: .*/, '')

/** Whether the database answers, its clock agrees with this one, and it has the newest schema. */
export async function databaseChecks(db: Database, now: () => Date): Promise<Check[]> {
  const database = await check('database', async () => {
    const { version } = await one<{ version: string }>(
      db,
      `select current_setting('server_version') as version`,
    )
    return { state: 'ok', detail: `PostgreSQL ${version}` }
  })
  if (database.state === 'fail') return [database]
  return [
    database,
    await check('migrations', () => migrations(db)),
    await check('clock', () => clock(db, now)),
  ]
}

async function migrations(db: Database): Promise<Finding> {
  const known = readMigrationFiles(migrationsConfig).map(({ folderMillis }) => folderMillis)
  const applied = await newestMigration(db)
  const missing = known.filter((made) => made > applied).length
  if (missing > 0)
    return { state: 'fail', detail: `${missing} of ${known.length} are missing: run npm run migrate` }
  return applied > Math.max(...known)
    ? { state: 'warn', detail: 'the database is newer than this version of the panel' }
    : { state: 'ok', detail: `all ${known.length} applied` }
}

/** When the newest of the applied migrations was made, in milliseconds; 0 for an empty database. */
async function newestMigration(db: Database): Promise<number> {
  try {
    const { newest } = await one<{ newest: string | null }>(
      db,
      `select max(created_at)::text as newest from ${migrationsConfig.migrationsTable}`,
    )
    return Number(newest ?? 0)
  } catch (error) {
    if (error instanceof Error && (error.cause as { code?: unknown })?.code === undefinedTable) return 0
    throw error
  }
}

async function clock(db: Database, now: () => Date): Promise<Finding> {
  const before = now().getTime()
  const { at } = await one<{ at: string }>(
    db,
    `select extract(epoch from clock_timestamp())::float8::text as at`,
  )
  const between = (before + now().getTime()) / 2
  const difference = Math.abs(Number(at) * 1000 - between)
  const detail = `${(difference / 1000).toFixed(1)} s from the database's`
  if (difference > tolerated.allowed) return { state: 'fail', detail }
  return { state: difference > tolerated.unnoticed ? 'warn' : 'ok', detail }
}

async function one<Row>(db: Database, statement: string): Promise<Row> {
  return only(rowsOf<Row>(await db.execute(sql.raw(statement))))
}
