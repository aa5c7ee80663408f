import { lookup } from 'node:dns/promises'
import { sql } from 'drizzle-orm'
import ipaddr from 'ipaddr.js'
import { type Database, single, rowsOf } from '../../db/database.ts'
import { migrationsAfter, newestMigration, newestMigrationOfCode } from '../../db/migration-state.ts'
import type { Panel } from '../../panel.ts'
import { commandOf } from '../../platform/command-names.ts'
import { withTimeout } from '../../with-timeout.ts'
import { reasonOf } from '../faults.ts'

/** The result of one check. */
export type Check = { name: string; state: 'ok' | 'warn' | 'fail'; detail: string }

type Finding = Omit<Check, 'name'>

/** Milliseconds after which a check fails. */
export const checkTimeoutMs = 5000
/** Milliseconds by which two clocks may differ, before a warning and before a failure: signatures expire. */
const clockToleranceMs = { warn: 2000, fail: 30_000 }

/** Runs a check. An error is a failure with its reason, and so is a check of more than five seconds. */
export async function runCheck(name: string, work: () => Promise<Finding>): Promise<Check> {
  const found = work().catch((error: unknown): Finding => ({ state: 'fail', detail: shortReason(error) }))
  const timedOut: Finding = { state: 'fail', detail: 'does not answer' }
  return { name, ...(await withTimeout(found, checkTimeoutMs, timedOut)) }
}

/**
 * Warns when the object store is at an address that is not public: newer daemons restore backups from public
 * addresses only. No check when the store is public, the panel itself, or unknown by its name here.
 * Spec: docs/nodes.md#backups-from-a-private-address.
 */
export async function privateStoreChecks({
  objects,
  config,
}: Pick<Panel, 'objects' | 'config'>): Promise<Check[]> {
  // Without credentials there is no link; the checks of the store say why.
  const signed = await objects.signedUrl('check', 60).catch(() => null)
  if (signed === null) return []
  const link = new URL(signed)
  if (!objects.multipart || link.origin === new URL(config.url).origin) return []
  const host = link.hostname.replace(/^\[(.*)\]$/, '$1')
  const addresses = await lookup(host, { all: true }).catch(() => [])
  const found = addresses.find(({ address }) => ipaddr.process(address).range() !== 'unicast')
  if (!found) return []
  const where = found.address === host ? host : `${host} (${found.address})`
  const detail = `${where} is not a public address: newer daemons restore from it only when system.backups.restore_host_allowlist in their own configuration names ${host}`
  return [{ name: 'store address', state: 'warn', detail }]
}

/** Returns the first line of the reason, without the command that the client of the cache quotes. */
const shortReason = (error: unknown) =>
  (reasonOf(error).split('\n')[0] ?? '').replace(/, command was: .*/, '')

/** Checks that the database answers, has the newest schema, and that its clock agrees with this one. */
export async function databaseChecks(db: Database, now: () => Date): Promise<Check[]> {
  const database = await runCheck('database', async () => {
    const { version } = await queryOne<{ version: string }>(
      db,
      `select current_setting('server_version') as version`,
    )
    return { state: 'ok', detail: `PostgreSQL ${version}` }
  })
  if (database.state === 'fail') return [database]
  return [
    database,
    await runCheck('migrations', () => checkMigrations(db)),
    await runCheck('clock', () => checkClock(db, now)),
  ]
}

async function checkMigrations(db: Database): Promise<Finding> {
  const applied = await newestMigration(db)
  if (applied === null) return { state: 'fail', detail: 'the table migrations cannot be read' }
  const [missing, all] = [migrationsAfter(applied).length, migrationsAfter(0).length]
  if (missing > 0)
    return { state: 'fail', detail: `${missing} of ${all} are missing: run ${commandOf('migrate')}` }
  return applied > newestMigrationOfCode
    ? { state: 'warn', detail: 'the database is newer than this version of the panel' }
    : { state: 'ok', detail: `all ${all} applied` }
}

async function checkClock(db: Database, now: () => Date): Promise<Finding> {
  const startedAt = now().getTime()
  const { at } = await queryOne<{ at: string }>(
    db,
    `select extract(epoch from clock_timestamp())::float8::text as at`,
  )
  const midpoint = (startedAt + now().getTime()) / 2
  const differenceMs = Math.abs(Number(at) * 1000 - midpoint)
  const detail = `${(differenceMs / 1000).toFixed(1)} s off the clock of the database`
  if (differenceMs > clockToleranceMs.fail) return { state: 'fail', detail }
  return { state: differenceMs > clockToleranceMs.warn ? 'warn' : 'ok', detail }
}

async function queryOne<Row>(db: Database, statement: string): Promise<Row> {
  return single(rowsOf<Row>(await db.execute(sql.raw(statement))))
}
