import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import { Client, Pool, type PoolClient } from 'pg'
import type { Database } from '../db/database.ts'
import * as schema from '../db/schema.ts'
import { databaseOverPool, databaseTimeoutMs, toDatabaseError } from './connection-pool.ts'
import { migrationsConfig } from './migrations.ts'

export type DatabaseHandle = {
  db: Database
  transaction: <T>(work: (db: Database) => Promise<T>) => Promise<T>
  close: () => Promise<void>
}

/**
 * Opens a pool of TCP connections to PostgreSQL. Each connection prepares a statement once, by name. A statement without
 * an answer after `timeoutMs` fails as if the connection were lost.
 */
export function openPostgres(
  url: string,
  poolSize: number,
  onStatement?: (text: string) => void,
  timeoutMs = databaseTimeoutMs,
): DatabaseHandle {
  const pool = new Pool({
    connectionString: toLibpqUrl(url),
    max: poolSize,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    keepAlive: true,
  })
  assignStatementNames(pool)
  const logger = onStatement ? { logQuery: onStatement } : false
  return databaseOverPool<PoolClient, Pool>(pool, (connection) =>
    drizzle(connection, { schema, casing: 'snake_case', logger }),
  )
}

/** Milliseconds after which an idle connection is closed. */
const idleTimeoutMs = 300_000

/** Names of prepared statements, by their text. The prefix is different in each process: they may share a pooler. */
const statementNames = new Map<string, string>()
const namePrefix = crypto.randomUUID().slice(0, 8)
/** Connections keep what they prepared, and lists of any length make any number of texts. */
const maxStatementNames = 2000

/** Names the statements outside transactions, so that they are planned once per connection. */
function assignStatementNames(pool: Pool): void {
  const query = pool.query.bind(pool) as (...input: unknown[]) => unknown
  pool.query = ((statement: unknown, ...rest: unknown[]) => {
    if (typeof statement !== 'object' || statement === null || !('text' in statement))
      return query(statement, ...rest)
    const text = String(statement.text)
    if (statementNames.size >= maxStatementNames && !statementNames.has(text))
      return query(statement, ...rest)
    const name = statementNames.get(text) ?? `${namePrefix}-${statementNames.size}`
    statementNames.set(text, name)
    return query({ ...statement, name }, ...rest)
  }) as typeof pool.query
}

/** Makes `sslmode` mean what it means to libpq: `require` does not verify the certificate. */
function toLibpqUrl(url: string): string {
  const address = new URL(withoutChannelBinding(url))
  if (address.searchParams.has('sslmode')) address.searchParams.set('uselibpqcompat', 'true')
  return address.href
}

/** Key of the advisory lock that is held during a migration. */
const migrationLockKey = 7_264_811_905

/** Migrates the database to the newest schema. Processes that do so at the same time wait for each other. */
export async function migratePostgres(url: string): Promise<void> {
  const connectionString = toLibpqUrl(url)
  const options = { connectionString, connectionTimeoutMillis: databaseTimeoutMs }
  const [lockClient, client] = [new Client(options), new Client(options)]
  try {
    await lockClient.connect().catch((error: unknown) => {
      throw toDatabaseError(error)
    })
    // A transaction of its own holds the lock: behind a pooler a session's lock could be lost, or never released.
    await lockClient.query('begin')
    await lockClient.query('select pg_advisory_xact_lock($1)', [migrationLockKey])
    await client.connect()
    await migrate(drizzle(client), migrationsConfig)
  } finally {
    await Promise.all([lockClient.end(), client.end()])
  }
}

/** Removes a parameter for libpq that providers put into URLs; this driver would send it to the server as a setting. */
function withoutChannelBinding(url: string): string {
  const address = new URL(url)
  address.searchParams.delete('channel_binding')
  return address.href
}
