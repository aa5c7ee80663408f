import { Client, neon, neonConfig, Pool, type PoolClient } from '@neondatabase/serverless'
import { drizzle as drizzleHttp } from 'drizzle-orm/neon-http'
import { drizzle } from 'drizzle-orm/neon-serverless'
import type { Database } from '../db/database.ts'
import * as schema from '../db/schema.ts'
import {
  addSqlState,
  databaseOverPool,
  databaseTimeoutMs,
  ignoreError,
  toDatabaseError,
} from './connection-pool.ts'
import type { DatabaseHandle } from './postgres.ts'

export type NeonOptions = {
  /**
   * True sends single statements over HTTP and opens a WebSocket for each transaction: on Workers no connection may
   * outlive its request. False keeps a pool of WebSockets.
   */
  usesHttp: boolean
  /** Number of WebSockets in the pool. */
  poolSize: number
  /** `host:port` of a proxy that speaks Neon's protocols in front of a PostgreSQL; null is Neon itself. */
  localProxy: string | null
  onStatement?: (text: string) => void
  /** `databaseTimeoutMs` when left out. */
  timeoutMs?: number
}

type DrizzleOptions = ReturnType<typeof drizzleOptions>

/** Opens a PostgreSQL database at Neon. Statements that do not reach it fail with SQLSTATE 08006. */
export function openNeon(url: string, options: NeonOptions): DatabaseHandle {
  const { timeoutMs = databaseTimeoutMs } = options
  configureDriver(options.localProxy, timeoutMs)
  const drizzleConfig = drizzleOptions(options.onStatement)
  const address = { connectionString: url, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs }
  return options.usesHttp
    ? openHttp(address, drizzleConfig)
    : openPool(address, options.poolSize, drizzleConfig)
}

type Address = { connectionString: string; connectionTimeoutMillis: number; query_timeout: number }

function openHttp(address: Address, options: DrizzleOptions): DatabaseHandle {
  const queryClient = neon(address.connectionString)
  addSqlState(queryClient)
  const db: Database = drizzleHttp(queryClient, options)
  return {
    db,
    transaction: async (work) => {
      const client = new Client(address)
      addSqlState(client)
      client.on('error', ignoreError)
      try {
        await client.connect().catch((error: unknown) => {
          throw toDatabaseError(error)
        })
        const transactionDb: Database = drizzle(client, options)
        return await transactionDb.transaction(work)
      } finally {
        // The request does not wait until the connection is closed.
        client.end().catch(ignoreError)
      }
    },
    close: async () => undefined,
  }
}

function openPool(address: Address, poolSize: number, options: DrizzleOptions): DatabaseHandle {
  const pool = new Pool({ ...address, max: poolSize })
  const handle = databaseOverPool<PoolClient, Pool>(pool, (connection) => drizzle(connection, options))
  const poolState = () => ({
    open: pool.totalCount,
    idle: pool.idleCount,
    limit: poolSize,
    waiting: pool.waitingCount,
  })
  return { ...handle, poolState }
}

const drizzleOptions = (onStatement?: (text: string) => void) => ({
  schema,
  casing: 'snake_case' as const,
  logger: onStatement ? { logQuery: onStatement } : (false as const),
})

/** Configures the driver, which is possible for the whole process only. */
function configureDriver(localProxy: string | null, timeoutMs: number): void {
  neonConfig.fetchFunction = (address: string, init: RequestInit) =>
    fetch(address, { ...init, signal: AbortSignal.timeout(timeoutMs) })
  if (localProxy === null) return
  neonConfig.fetchEndpoint = () => `http://${localProxy}/sql`
  neonConfig.wsProxy = () => `${localProxy}/v2`
  neonConfig.useSecureWebSocket = false
  // Only Neon accepts a password before it requests one.
  neonConfig.pipelineConnect = false
}
