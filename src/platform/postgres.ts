import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import { Client } from 'pg'
import type { Database } from '../db/database.ts'
import * as schema from '../db/schema.ts'
import { databaseOverPool, databaseTimeoutMs, toDatabaseError } from './connection-pool.ts'
import { migrationsConfig } from './migrations.ts'
import type { PooledConnection } from './client-pool.ts'
import { openStatementPool, type StatementPool } from './statement-pool.ts'

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
  const pool = openStatementPool(
    { connectionString: toLibpqUrl(url), keepAlive: true },
    { size: poolSize, timeoutMs, idleTimeoutMs },
  )
  const logger = onStatement ? { logQuery: onStatement } : false
  return databaseOverPool<PooledConnection, StatementPool>(pool, (connection) =>
    drizzle({ client: connection as never, schema, casing: 'snake_case', logger }),
  )
}

/** Milliseconds after which an idle connection is closed. */
const idleTimeoutMs = 300_000

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
