import { drizzle } from 'drizzle-orm/node-postgres'
import { readMigrationFiles } from 'drizzle-orm/migrator'
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
  /** The state of its connections; left out where none outlives a statement. */
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

/** Takes the lock of a migration until the transaction of this client ends; false while another has it. */
export async function takeMigrationLock(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_xact_lock($1) as taken', [
    migrationLockKey,
  ])
  return rows[0]?.taken === true
}

/** Migrates an empty database in the transaction of this client; Drizzle's migrator would begin and commit its own. */
export async function migrateNew(client: Client): Promise<void> {
  const { migrationsSchema, migrationsTable } = migrationsConfig
  const table = `${migrationsSchema}.${migrationsTable}`
  await client.query(`create table ${table} (id serial primary key, hash text not null, created_at bigint)`)
  for (const { sql, hash, folderMillis } of readMigrationFiles(migrationsConfig)) {
    for (const statement of sql) await client.query(statement)
    await client.query(`insert into ${table} (hash, created_at) values ($1, $2)`, [hash, folderMillis])
  }
}
