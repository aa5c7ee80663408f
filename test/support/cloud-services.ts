import postgres from 'postgres'
import { vi } from 'vitest'
import { importKeyRing } from '../../src/domain/secrets.ts'
import { type Qstash, startQstash } from '../../src/dev/qstash/server.ts'
import { type DatabaseHandle, openPostgres } from '../../src/platform/postgres.ts'
import { createDatabase, testDatabaseUrl } from './database.ts'
import { type NeonProxy, startNeonProxy } from './neon-proxy.ts'
import { startUpstash } from './upstash.ts'
import { signingKeys, type World } from './world.ts'

/** The managed services of a deployed panel, each a local stand-in. */
export type CloudServices = {
  /** The environment of a function, without APP_URL. */
  environment: Record<string, string>
  database: DatabaseHandle
  neon: NeonProxy
  /** Its messages list what was published, delivered or not. */
  queue: Qstash
  /** Enough of a world for the factories. */
  world: World
  close: () => Promise<void>
}

/** Checks that the real PostgreSQL responds; prints when suites are skipped. */
export async function findPostgres(suite: string): Promise<boolean> {
  const client = postgres(testDatabaseUrl, { max: 1, connect_timeout: 3, onnotice: () => undefined })
  try {
    await client`select 1`
    return true
  } catch {
    console.log(`SKIPPED ${suite}: no PostgreSQL at ${new URL(testDatabaseUrl).host}.`)
    return false
  } finally {
    await client.end()
  }
}

/** Puts variables into the environment of this process until `vi.unstubAllEnvs`. */
export function stubEnvironment(variables: Record<string, string>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
}

/** Opens a migrated database behind Neon's protocols, a cache, and a queue that delivers messages only with `delivers`. */
export async function openCloudServices({ delivers = false } = {}): Promise<CloudServices> {
  const keys = `test:${Buffer.alloc(32, 7).toString('base64')}`
  const { url, drop } = await createDatabase()
  const database = openPostgres(url, 2)
  const [neon, cache, queue] = await Promise.all([
    startNeonProxy(url),
    startUpstash(),
    startQstash({ signingKeys, faults: () => ({ drop: !delivers }) }),
  ])
  const panel = { keys: await importKeyRing(keys) }
  return {
    environment: {
      APP_KEYS: keys,
      DATABASE_URL: url,
      NEON_LOCAL_PROXY: neon.address,
      UPSTASH_REDIS_REST_URL: cache.url,
      UPSTASH_REDIS_REST_TOKEN: cache.token,
      QSTASH_URL: queue.url,
      QSTASH_TOKEN: queue.token,
      QSTASH_CURRENT_SIGNING_KEY: signingKeys.current,
      QSTASH_NEXT_SIGNING_KEY: signingKeys.next,
      APPLICATION_RATE_LIMIT: '5000',
      CLIENT_RATE_LIMIT: '5000',
    },
    database,
    neon,
    queue,
    world: { database, panel, clock: { now: new Date() } } as unknown as World,
    close: async () => {
      await Promise.all([database.close(), neon.close(), cache.close(), queue.close()])
      await drop()
    },
  }
}
