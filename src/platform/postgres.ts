import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate } from 'drizzle-orm/postgres-js/migrator'
import postgres from 'postgres'
import type { Database } from '../db/database.ts'
import * as schema from '../db/schema.ts'
import { migrationsConfig } from './migrations.ts'

export type OpenedDatabase = {
  db: Database
  transaction: <T>(work: (db: Database) => Promise<T>) => Promise<T>
  close: () => Promise<void>
}

/** A pool of TCP connections to PostgreSQL. Statements are prepared by name once per connection. */
export function openPostgres(
  url: string,
  poolSize: number,
  onStatement?: (text: string) => void,
): OpenedDatabase {
  const client = postgres(withoutOthersWords(url), {
    max: poolSize,
    connect_timeout: 5,
    onnotice: () => undefined,
  })
  preparing(client)
  const logger = onStatement ? { logQuery: onStatement } : false
  const db: Database = drizzle(client, { schema, casing: 'snake_case', logger })
  return { db, transaction: (work) => db.transaction(work), close: () => client.end({ timeout: 5 }) }
}

/** Brings the database to the newest schema. */
export async function migratePostgres(url: string): Promise<void> {
  const client = postgres(withoutOthersWords(url), { max: 1, onnotice: () => undefined })
  try {
    await migrate(drizzle(client), migrationsConfig)
  } finally {
    await client.end()
  }
}

/** Consoles hand out addresses with words for libpq, which this driver would send to the server as settings. */
function withoutOthersWords(url: string): string {
  const address = new URL(url)
  address.searchParams.delete('channel_binding')
  return address.href
}

/** Drizzle sends text through `unsafe`, which plans each call anew unless told otherwise. */
function preparing(client: postgres.Sql): void {
  const unsafe = client.unsafe.bind(client)
  client.unsafe = ((text: string, parameters?: never[], options?: object) =>
    unsafe(text, parameters, { prepare: true, ...options })) as typeof client.unsafe
}
