import { drizzle } from 'drizzle-orm/node-postgres'
import { Client } from 'pg'
import type { Database } from '../db/database.ts'
import * as schema from '../db/schema.ts'
import { addSqlState, databaseTimeoutMs, ignoreError, toDatabaseError } from './connection-pool.ts'
import { postgresConfigOf } from './postgres-address.ts'
import type { DatabaseHandle } from './postgres.ts'

/**
 * Opens PostgreSQL from Workers: through Hyperdrive, which keeps the connections to the server, or straight. Each statement
 * and each transaction has a connection of its own, since none may outlive its request. Source: docs/workers.md.
 */
export function openHyperdrive(url: string, onStatement: (text: string) => void): DatabaseHandle {
  const options = { schema, casing: 'snake_case' as const, logger: { logQuery: onStatement } }
  const over = <Result>(work: (client: Client) => Promise<Result>) => withClient(url, work)
  const query = (...input: unknown[]) => over((client) => client.query(...(input as [string])))
  const db: Database = drizzle({ client: { query } as never, ...options })
  return {
    db,
    transaction: (work) =>
      over((client) => (drizzle({ client: client as never, ...options }) as Database).transaction(work)),
    close: async () => undefined,
  }
}

async function withClient<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({
    ...postgresConfigOf(url),
    connectionTimeoutMillis: databaseTimeoutMs,
    query_timeout: databaseTimeoutMs,
  })
  addSqlState(client)
  client.on('error', ignoreError)
  try {
    await client.connect().catch((error: unknown) => {
      throw toDatabaseError(error)
    })
    return await work(client)
  } finally {
    // The request does not wait until the connection is closed.
    client.end().catch(ignoreError)
  }
}
