import postgres from 'postgres'
import type { CloudServices } from '../../support/cloud-services.ts'
import { startRedisServer } from '../../support/redis-servers.ts'
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts'

/** The caches that a panel can have: Redis by the REST protocol of Upstash or by TCP, or a table of its database. */
export type CacheKind = 'rest' | 'tcp' | 'database'

type FailingCache = { proxy: TcpProxy; environment: Record<string, string>; close: () => Promise<void> }

/** Starts a cache that fails alone; `environment` has the panel use it. */
export async function startFailingCache(kind: CacheKind, services: CloudServices): Promise<FailingCache> {
  const noRest = { UPSTASH_REDIS_REST_URL: '', UPSTASH_REDIS_REST_TOKEN: '' }
  if (kind === 'rest') {
    const proxy = await startTcpProxy(Number(new URL(services.environment.UPSTASH_REDIS_REST_URL ?? '').port))
    return {
      proxy,
      environment: { UPSTASH_REDIS_REST_URL: `http://${proxy.address}` },
      close: async () => undefined,
    }
  }
  if (kind === 'database') {
    const proxy = tableAsService(services.environment.DATABASE_URL ?? '')
    return { proxy, environment: { ...noRest, CACHE_DRIVER: 'database' }, close: async () => undefined }
  }
  const redis = await startRedisServer()
  const proxy = await startTcpProxy(redis.port)
  return { proxy, environment: { ...noRest, REDIS_URL: `redis://${proxy.address}` }, close: redis.close }
}

/** The table of the cache as a service: stopped while it has another name, hanging while it is locked. */
function tableAsService(url: string): TcpProxy {
  const client = postgres(url, { max: 2, onnotice: () => undefined })
  let isStopped = false
  let endLock: (() => Promise<unknown>) | null = null
  const restore = async () => {
    await endLock?.()
    endLock = null
    if (isStopped) await client`alter table cache_entries_away rename to cache_entries`
    isStopped = false
  }
  return {
    port: 0,
    address: '',
    connections: () => 0,
    disconnect: async () => {
      await client`alter table cache_entries rename to cache_entries_away`
      isStopped = true
    },
    stall: async () => {
      const locked = Promise.withResolvers<void>()
      const unlocked = Promise.withResolvers<void>()
      const held = client.begin(async (tx) => {
        await tx`lock table cache_entries in access exclusive mode`
        locked.resolve()
        await unlocked.promise
      })
      endLock = () => {
        unlocked.resolve()
        return held
      }
      await locked.promise
    },
    restore,
    close: async () => {
      await restore()
      await client.end()
    },
  }
}
