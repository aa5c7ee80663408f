import { Client } from 'pg'
import { migrateNew, takeMigrationLock } from '../../platform/postgres.ts'
import { databaseTimeoutMs } from '../../platform/connection-pool.ts'
import { postgresConfigOf } from '../../platform/postgres-address.ts'
import { OperationError, reasonOf } from '../faults.ts'
import { type Query, sameTexts } from './schema.ts'

/** The oldest version of PostgreSQL that the panel runs on. */
const oldestMajor = 15
/** Tables that a message names. */
const namedTables = 5

/**
 * Runs work in one transaction of an empty PostgreSQL, after every migration, and commits it unless `isTrial`. Refuses
 * a database that cannot be reached, is too old, or has tables; nothing stays of what fails.
 */
export async function withTarget<T>(
  url: string,
  isTrial: boolean,
  work: (query: Query) => Promise<T>,
): Promise<T> {
  const { host, pathname } = new URL(url)
  console.error(`To: ${host || 'localhost'}${pathname}`)
  const client = new Client({
    ...postgresConfigOf(url),
    connectionTimeoutMillis: databaseTimeoutMs,
    keepAlive: true,
  })
  // What then fails is the statement that waits, which says so.
  client.on('error', () => undefined)
  const query: Query = async (text, values) => (await client.query(text, values)).rows as never
  try {
    await client.connect().catch((error: unknown) => {
      throw new OperationError(
        `The target cannot be opened: ${reasonOf(error)}. Correct the URL, or start PostgreSQL and create the database and its role.`,
      )
    })
    await query('begin')
    await prepare(client, query)
    const result = await work(query)
    if (isTrial) await query('rollback')
    else await commit(query)
    return result
  } finally {
    await client.end()
  }
}

/** What the server says about itself and the database. */
export type ServerState = { version: string; number: number; encoding: string; is_read_only: boolean }

async function prepare(client: Client, query: Query): Promise<void> {
  // For the transaction alone: behind a pooler the connection is used by others afterwards.
  for (const setting of [...limitsOff, ...sameTexts]) await query(`set local ${setting}`)
  const [state] = await query<ServerState>(`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
      current_setting('server_encoding') as encoding, current_setting('transaction_read_only')::bool as is_read_only`)
  if (state) requireFitting(state)
  if (!(await takeMigrationLock(client)))
    throw new OperationError('A panel starts on the target, or another move is running. Stop it, and repeat.')
  await requireEmpty(query)
  await migrateNew(client).catch((error: unknown) => {
    throw new OperationError(
      `The tables cannot be created in the target: ${reasonOf(error)}. Its role has to own the database, which needs the extension pg_trgm.`,
    )
  })
}

/** One statement may take long here, and PostgreSQL waits while the other side is read. */
const limitsOff = ['statement_timeout = 0', 'idle_in_transaction_session_timeout = 0', 'lock_timeout = 0']

/** Throws where the panel could not work on such a server, or where rows could not be compared. */
export function requireFitting({ version, number, encoding, is_read_only: isReadOnly }: ServerState): void {
  if (number < oldestMajor * 10_000)
    throw new OperationError(`The target is PostgreSQL ${version}. The panel needs ${oldestMajor} or newer.`)
  if (encoding !== 'UTF8')
    throw new OperationError(`The target stores texts as ${encoding}. Create it with encoding 'UTF8'.`)
  if (isReadOnly) throw new OperationError('The target is read-only. Give the URL of the primary server.')
}

async function requireEmpty(query: Query): Promise<void> {
  const found = await query<{ name: string }>(`
    select relname as name from pg_class c
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')
      and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
    order by relname`)
  if (found.length === 0) return
  const names = found.map(({ name }) => name)
  const more = names.length > namedTables ? ` and ${names.length - namedTables} more` : ''
  const step = names.includes('migrations')
    ? 'A panel uses it, or was moved here already: then set DATABASE_URL to it and start.'
    : 'Create a database of its own for the panel.'
  throw new OperationError(
    `The target is not empty: it has ${names.slice(0, namedTables).join(', ')}${more}. ${step}`,
  )
}

async function commit(query: Query): Promise<void> {
  await query('commit').catch((error: unknown) => {
    throw new OperationError(
      `Everything was written and equal, and whether it stays is unknown: ${reasonOf(error)}. Repeat: a target that is refused as not empty has all of it.`,
    )
  })
}
