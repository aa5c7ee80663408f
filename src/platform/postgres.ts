import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate } from 'drizzle-orm/node-postgres/migrator'
import { Client, Pool, type PoolClient } from 'pg'
import type { Database } from '../db/database.ts'
import * as schema from '../db/schema.ts'
import { migrationsConfig } from './migrations.ts'
import { longestSilence, overPool, throwNamed } from './connection-pool.ts'

export type OpenedDatabase = {
  db: Database
  transaction: <T>(work: (db: Database) => Promise<T>) => Promise<T>
  close: () => Promise<void>
}

/**
 * A pool of TCP connections to PostgreSQL. Statements are prepared by name once per connection. What is not
 * answered for `patience` milliseconds fails as if the connection were lost.
 */
export function openPostgres(
  url: string,
  poolSize: number,
  onStatement?: (text: string) => void,
  patience = longestSilence,
): OpenedDatabase {
  const pool = new Pool({
    connectionString: forLibpq(url),
    max: poolSize,
    connectionTimeoutMillis: patience,
    query_timeout: patience,
    idleTimeoutMillis: longestRest,
    keepAlive: true,
  })
  nameStatements(pool)
  const logger = onStatement ? { logQuery: onStatement } : false
  return overPool<PoolClient, Pool>(pool, (connection) =>
    drizzle(connection, { schema, casing: 'snake_case', logger }),
  )
}

/** Milliseconds after which a connection that nobody needs is closed. */
const longestRest = 300_000

/** By its text, the name under which each connection prepares a statement; another process behind the same pooler has others. */
const names = new Map<string, string>()
const namePrefix = crypto.randomUUID().slice(0, 8)
/** Lists of any length make texts of any number; connections keep what they prepared. */
const mostNames = 2000

/** The driver plans each statement anew unless it has a name. Those of transactions have none: they come but seldom. */
function nameStatements(pool: Pool): void {
  const query = pool.query.bind(pool) as (...input: unknown[]) => unknown
  pool.query = ((statement: unknown, ...rest: unknown[]) => {
    if (typeof statement !== 'object' || statement === null || !('text' in statement))
      return query(statement, ...rest)
    const text = String(statement.text)
    if (names.size >= mostNames && !names.has(text)) return query(statement, ...rest)
    const name = names.get(text) ?? `${namePrefix}-${names.size}`
    names.set(text, name)
    return query({ ...statement, name }, ...rest)
  }) as typeof pool.query
}

/** Words about TLS mean what they mean to libpq: `require` asks for no certificate that somebody vouches for. */
function forLibpq(url: string): string {
  const address = new URL(withoutOthersWords(url))
  if (address.searchParams.has('sslmode')) address.searchParams.set('uselibpqcompat', 'true')
  return address.href
}

/** Key of the advisory lock that whoever migrates holds. */
const migrationLock = 7_264_811_905

/** Brings the database to the newest schema. Processes that do so at once wait for each other. */
export async function migratePostgres(url: string): Promise<void> {
  const connectionString = forLibpq(url)
  const [holder, client] = [new Client({ connectionString }), new Client({ connectionString })]
  try {
    await holder.connect().catch(throwNamed)
    // Held by a transaction of its own: a lock of a session would be lost, or kept, behind a pooler.
    await holder.query('begin')
    await holder.query('select pg_advisory_xact_lock($1)', [migrationLock])
    await client.connect()
    await migrate(drizzle(client), migrationsConfig)
  } finally {
    await Promise.all([holder.end(), client.end()])
  }
}

/** Consoles hand out addresses with words for libpq, which this driver would send to the server as settings. */
function withoutOthersWords(url: string): string {
  const address = new URL(url)
  address.searchParams.delete('channel_binding')
  return address.href
}
