import { Client, neon, neonConfig, Pool, type PoolClient } from '@neondatabase/serverless'
import { drizzle as drizzleHttp } from 'drizzle-orm/neon-http'
import { drizzle } from 'drizzle-orm/neon-serverless'
import type { Database } from '../db/database.ts'
import * as schema from '../db/schema.ts'
import { ignored, longestSilence, nameFailures, overPool, throwNamed } from './connection-pool.ts'
import type { OpenedDatabase } from './postgres.ts'

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
  /** Milliseconds instead of `longestSilence`. */
  patience?: number
}

type DrizzleOptions = ReturnType<typeof drizzleOptions>

/** PostgreSQL at Neon. What never reached it fails with SQLSTATE 08006. */
export function openNeon(url: string, options: NeonOptions): OpenedDatabase {
  const { patience = longestSilence } = options
  configureDriver(options.localProxy, patience)
  const forDrizzle = drizzleOptions(options.onStatement)
  const address = { connectionString: url, connectionTimeoutMillis: patience, query_timeout: patience }
  return options.http ? openHttp(address, forDrizzle) : openPool(address, options.poolSize, forDrizzle)
}

type Address = { connectionString: string; connectionTimeoutMillis: number; query_timeout: number }

function openHttp(address: Address, options: DrizzleOptions): OpenedDatabase {
  const sender = neon(address.connectionString)
  nameFailures(sender)
  const db: Database = drizzleHttp(sender, options)
  return {
    db,
    transaction: async (work) => {
      const client = new Client(address)
      nameFailures(client)
      client.on('error', ignored)
      try {
        await client.connect().catch(throwNamed)
        const inside: Database = drizzle(client, options)
        return await inside.transaction(work)
      } finally {
        // The request does not wait for the farewell.
        client.end().catch(ignored)
      }
    },
    close: async () => undefined,
  }
}

function openPool(address: Address, poolSize: number, options: DrizzleOptions): OpenedDatabase {
  const pool = new Pool({ ...address, max: poolSize })
  return overPool<PoolClient, Pool>(pool, (connection) => drizzle(connection, options))
}

const drizzleOptions = (onStatement?: (text: string) => void) => ({
  schema,
  casing: 'snake_case' as const,
  logger: onStatement ? { logQuery: onStatement } : (false as const),
})

/** The driver can only be configured for the whole process. */
function configureDriver(localProxy: string | null, patience: number): void {
  neonConfig.fetchFunction = (address: string, init: RequestInit) =>
    fetch(address, { ...init, signal: AbortSignal.timeout(patience) })
  if (localProxy === null) return
  neonConfig.fetchEndpoint = () => `http://${localProxy}/sql`
  neonConfig.wsProxy = () => `${localProxy}/v2`
  neonConfig.useSecureWebSocket = false
  // Only Neon takes a password that nobody has asked for yet.
  neonConfig.pipelineConnect = false
}
