import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import { Client } from 'pg'
import type { Database } from '../db/database.ts'
import * as schema from '../db/schema.ts'
import { databaseOverPool, databaseTimeoutMs, toDatabaseError } from './connection-pool.ts'
import { migrationsConfig } from './migrations.ts'
import type { PooledConnection, PoolState } from './client-pool.ts'
import { postgresConfigOf } from './postgres-address.ts'
import { openStatementPool, type StatementPool } from './statement-pool.ts'

export type DatabaseHandle = {
  db: Database
  transaction: <T>(work: (db: Database) => Promise<T>) => Promise<T>
  close: () => Promise<void>
  /** The state of its connections; left out where there is no pool of ours. */
  poolState?: () => PoolState
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
  const pool = openStatementPool(
    { ...postgresConfigOf(url), keepAlive: true },
    { size: poolSize, timeoutMs, idleTimeoutMs },
  )
  const logger = onStatement ? { logQuery: onStatement } : false
  const handle = databaseOverPool<PooledConnection, StatementPool>(pool, (connection) =>
    drizzle({ client: connection as never, schema, casing: 'snake_case', logger }),
  )
  return { ...handle, poolState: pool.state }
}

/** Milliseconds after which an idle connection is closed. */
const idleTimeoutMs = 300_000

/** Key of the advisory lock that is held during a migration. */
const migrationLockKey = 7_264_811_905

/** Migrates the database to the newest schema. Processes that do so at the same time wait for each other. */
export async function migratePostgres(url: string): Promise<void> {
  const options = { ...postgresConfigOf(url), connectionTimeoutMillis: databaseTimeoutMs }
  const [lockClient, client] = [new Client(options), new Client(options)]
  try {
    await lockClient.connect().catch((error: unknown) => {
      throw toDatabaseError(error)
    })
    // A transaction of its own holds the lock: behind a pooler a session's lock could be lost, or never released.
    await lockClient.query('begin')
    await lockClient.query('select pg_advisory_xact_lock($1)', [migrationLockKey])
    await client.connect().catch((error: unknown) => {
      throw toDatabaseError(error)
    })
    await migrate(drizzle(client), migrationsConfig)
  } finally {
    await Promise.all([lockClient.end(), client.end()])
  }
}
