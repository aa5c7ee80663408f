import { Client } from 'pg'
import { databaseTimeoutMs } from '../../platform/connection-pool.ts'
import { commandOf } from '../../platform/command-names.ts'
import { migratePostgres } from '../../platform/postgres.ts'
import { postgresConfigOf } from '../../platform/postgres-address.ts'
import { requireFitting, type ServerState } from '../database-move/target.ts'
import { OperationError, reasonOf } from '../faults.ts'

/** Tables that a message names. */
const namedTables = 5

/**
 * Makes sure that PostgreSQL has the panel's tables. With `creates` a database that is not there is created, and one
 * without tables is migrated. Refuses a database with tables of something else, which stays as it is, and without
 * `creates` one that lacks ours.
 */
export async function prepareTarget(url: string, creates: boolean): Promise<void> {
  const name = decodeURIComponent(new URL(url).pathname.slice(1))
  const isEmpty = await withClient(url, isEmptyDatabase).catch(async (error: unknown) => {
    if ((error as { code?: string }).code !== '3D000') throw unreachable(error)
    if (!creates)
      throw new OperationError(
        `The database ${name} does not exist. Repeat with --create to create it with the tables of the panel.`,
      )
    await createDatabase(url, name)
    return true
  })
  if (!isEmpty) return
  if (!creates)
    throw new OperationError(
      `The database ${name} has no tables of the panel. Repeat with --create, or run ${commandOf('migrate')} first.`,
    )
  await withClient(url, requireFittingServer)
  await migratePostgres(url).catch((error: unknown) => {
    throw new OperationError(
      `The tables cannot be created in ${name}: ${reasonOf(error)}. Its role has to own the database, which needs the extension pg_trgm.`,
    )
  })
}

/** Whether there are no tables at all; false for a panel's. Refuses tables of something else. */
async function isEmptyDatabase(client: Client): Promise<boolean> {
  const found = await client.query<{ name: string }>(`
    select relname as name from pg_class c
    where relnamespace = to_regnamespace('public') and relkind in ('r', 'p', 'v', 'm', 'f') and not relispartition
      and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
    order by relname`)
  const names = found.rows.map(({ name }) => name)
  if (names.length === 0) return true
  const hasMigrated = await countMigrations(client)
  if (hasMigrated) return false
  // What a migration that was interrupted leaves: the list alone.
  if (hasMigrated === 0 && names.length === 1) return true
  const more = names.length > namedTables ? ` and ${names.length - namedTables} more` : ''
  throw new OperationError(
    `The database has tables of something else: ${names.slice(0, namedTables).join(', ')}${more}. Give the panel a database of its own.`,
  )
}

/** Counts the migrations of this panel; null without its list, as Laravel has another one of that name. */
async function countMigrations(client: Client): Promise<number | null> {
  const list = await client.query(
    "select from pg_attribute where attrelid = to_regclass('public.migrations') and attname = 'hash'",
  )
  if (list.rowCount === 0) return null
  const { rows } = await client.query<{ n: number }>('select count(*)::int as n from public.migrations')
  return rows[0]?.n ?? 0
}

async function createDatabase(url: string, name: string): Promise<void> {
  const maintenance = new URL(url)
  maintenance.pathname = '/postgres'
  await withClient(maintenance.href, async (client) => {
    await client.query(`create database ${client.escapeIdentifier(name)} encoding 'UTF8' template template0`)
  }).catch((error: unknown) => {
    throw new OperationError(`The database ${name} cannot be created: ${reasonOf(error)}.`)
  })
}

async function requireFittingServer(client: Client): Promise<void> {
  const { rows } = await client.query<ServerState>(`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
      current_setting('server_encoding') as encoding, current_setting('transaction_read_only')::bool as is_read_only`)
  if (rows[0]) requireFitting(rows[0])
}

async function withClient<Value>(url: string, work: (client: Client) => Promise<Value>): Promise<Value> {
  const client = new Client({ ...postgresConfigOf(url), connectionTimeoutMillis: databaseTimeoutMs })
  // What then fails is the statement that waits, which says so.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end()
  }
}

const unreachable = (error: unknown) =>
  error instanceof OperationError
    ? error
    : new OperationError(`The database of the panel cannot be opened: ${reasonOf(error)}.`)
