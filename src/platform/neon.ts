import { Client, neon, neonConfig, Pool, type PoolClient } from '@neondatabase/serverless'
import { drizzle as drizzleHttp } from 'drizzle-orm/neon-http'
import { drizzle } from 'drizzle-orm/neon-serverless'
import type { Database } from '../db/database.ts'
import * as schema from '../db/schema.ts'
import type { OpenedDatabase } from './postgres.ts'

/** Milliseconds after which Neon counts as out of reach. */
const patience = 15_000

export type NeonOptions = {
  /**
   * True sends single statements over HTTP and opens a WebSocket for each transaction: nothing outlives
   * its request, as Workers demand. False keeps a pool of WebSockets.
   */
  http: boolean
  /** WebSockets in the pool, where there is one. */
  poolSize: number
  /** `host:port` of a stand-in that speaks Neon's protocols in front of a PostgreSQL; null is Neon itself. */
  localProxy: string | null
  onStatement?: (text: string) => void
}

type DrizzleOptions = ReturnType<typeof drizzleOptions>

/** PostgreSQL at Neon. What never reached it fails with SQLSTATE 08006. */
export function openNeon(url: string, options: NeonOptions): OpenedDatabase {
  configureDriver(options.localProxy)
  const forDrizzle = drizzleOptions(options.onStatement)
  return options.http ? openHttp(url, forDrizzle) : openPool(url, options.poolSize, forDrizzle)
}

function openHttp(url: string, options: DrizzleOptions): OpenedDatabase {
  const sender = neon(url)
  nameFailures(sender)
  const db: Database = drizzleHttp(sender, options)
  return {
    db,
    transaction: async (work) => {
      const client = new Client({ connectionString: url, connectionTimeoutMillis: patience })
      nameFailures(client)
      client.on('error', ignored)
      try {
        await client.connect().catch(throwNamed)
        return await transact(client, options, work)
      } finally {
        // The request does not wait for the farewell.
        client.end().catch(ignored)
      }
    },
    close: async () => undefined,
  }
}

function openPool(url: string, poolSize: number, options: DrizzleOptions): OpenedDatabase {
  const pool = new Pool({ connectionString: url, max: poolSize, connectionTimeoutMillis: patience })
  nameFailures(pool)
  pool.on('connect', nameFailures)
  // A socket that breaks while it rests is replaced; without a listener it would end the process.
  pool.on('error', ignored)
  const db: Database = drizzle(pool, options)
  return {
    db,
    transaction: async (work) => {
      const client = await pool.connect().catch(throwNamed)
      client.on('error', ignored)
      try {
        return await transact(client as PoolClient, options, work)
      } finally {
        client.off('error', ignored)
        client.release()
      }
    },
    close: () => pool.end(),
  }
}

const drizzleOptions = (onStatement?: (text: string) => void) => ({
  schema,
  casing: 'snake_case' as const,
  logger: onStatement ? { logQuery: onStatement } : (false as const),
})

function transact<T>(
  client: Client | PoolClient,
  options: DrizzleOptions,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const db: Database = drizzle(client, options)
  return db.transaction(work)
}

/** The driver can only be configured for the whole process. */
function configureDriver(localProxy: string | null): void {
  neonConfig.fetchFunction = (address: string, init: RequestInit) =>
    fetch(address, { ...init, signal: AbortSignal.timeout(patience) })
  if (localProxy === null) return
  neonConfig.fetchEndpoint = () => `http://${localProxy}/sql`
  neonConfig.wsProxy = () => `${localProxy}/v2`
  neonConfig.useSecureWebSocket = false
  // Only Neon takes a password that nobody has asked for yet.
  neonConfig.pipelineConnect = false
}

/** Lets every failure of `query` carry an SQLSTATE: what has none never reached the database. */
function nameFailures(connection: { query: unknown }): void {
  const query = (connection.query as (...input: unknown[]) => unknown).bind(connection)
  connection.query = (...input: unknown[]) => {
    const result = query(...input) as Promise<unknown> | undefined
    // The pool itself asks with a callback.
    return typeof result?.catch === 'function' ? result.catch(throwNamed) : result
  }
}

function throwNamed(error: unknown): never {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) throw error
  // A WebSocket fails with an event, which is no error and often says nothing.
  const reason = typeof message === 'string' && message !== '' ? message : 'the connection failed'
  throw Object.assign(new Error(`Neon is out of reach: ${reason}`), { code: '08006' })
}

const ignored = () => undefined
