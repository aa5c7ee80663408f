import { join } from 'node:path'
import { cacheTimeoutMs } from '../../adapters/cache-cooldown.ts'
import type { Cache } from '../../adapters/cache.ts'
import { httpCaptcha } from '../../adapters/captcha.ts'
import { egressRule } from '../../adapters/egress.ts'
import { mysqlHosts } from '../../adapters/mysql-host.ts'
import type { ObjectStore } from '../../adapters/objects.ts'
import { httpPasteService } from '../../adapters/paste.ts'
import { publicFetch } from '../../adapters/public-fetch.ts'
import { findSigningKey } from '../../adapters/queue-signature.ts'
import { qstashQueue, type Queue } from '../../adapters/queue.ts'
import { importKeyRing } from '../../domain/secrets.ts'
import { causeOf, log } from '../../log.ts'
import { createMetrics } from '../../metrics.ts'
import { cacheDriver } from '../cache-driver.ts'
import { databaseCache } from '../database-cache.ts'
import type { PoolState } from '../client-pool.ts'
import type { Env } from '../env.ts'
import { lazyCache } from '../lazy-cache.ts'
import { lazyOauth } from '../lazy-oauth.ts'
import { lazyObjectStore } from '../lazy-object-store.ts'
import { localeFiles } from '../locale-files.ts'
import { openMailer } from '../mail.ts'
import { nodeEgress } from '../node-egress.ts'
import { nodeGameQuery } from '../node-game-query.ts'
import { nodeDaemonFetch } from '../node-daemon-fetch.ts'
import { nodeProbe } from '../node-probe.ts'
import { nodeSendGet } from '../node-send-get.ts'
import type { Services } from '../open-panel.ts'
import { panelConfigOf } from '../panel-config.ts'
import { type DatabaseHandle, openPostgres } from '../postgres.ts'
import { queueOptionsOf } from '../queue-options.ts'
import { s3OptionsOf } from '../s3-options.ts'
import { openSmtp } from '../smtp.ts'
import { countStatement } from '../statement-stats.ts'
import { localCache } from './cache.ts'
import type { DataDirectory } from './data-directory.ts'
import { mailOutbox } from './mail-outbox.ts'
import { type DiskObjectStore, openDiskObjectStore } from '../../dev/object-store/disk-object-store.ts'
import { localQueue } from './queue.ts'
import { snapshotOf } from './snapshot.ts'

/** The path of the embedded object store, below the origin of the panel. */
export const objectsPath = '/objects'
/** Connections of a process to its cache in the database. */
const cachePoolSize = 2
/** Milliseconds for which a request may wait for a daemon. */
const maxWaitMs = 300_000

export type LocalServiceOptions = {
  directory: DataDirectory
  /** Origin of the panel. */
  url: string
  /** Answers a request by the app of this process. */
  deliver: (request: Request) => Promise<Response>
  /** Is called when the panel has to start anew, since another disk is mounted in place of one that failed. */
  onRemounted?: (() => void) | undefined
}

export type OpenedServices = {
  services: Services
  handleObjects: DiskObjectStore['handleRequest'] | null
  /** Deletes what has expired, where the cache does not do it itself. */
  pruneCache: () => Promise<void>
  /** The state of the connections to the database; null where there is no pool. */
  poolState: () => PoolState | null
}

/**
 * Opens the services of the Node process: those that the environment names, and embedded ones for the rest. Migrates
 * the embedded database only.
 */
export async function openLocalServices(env: Env, options: LocalServiceOptions): Promise<OpenedServices> {
  const { directory, url } = options
  const keys = await importKeyRing(env.APP_KEYS ?? directory.secrets.appKeys)
  const { close: closeDatabase, ...database } = await openDatabase(env, options)
  const cache = await openCache(env)
  const { queue, close: closeQueue } = openQueue(env, options)
  const objects = await openObjects(env, directory, url)
  const mayCall = egressRule(env.EGRESS_PRIVATE_NETWORKS)
  const egress = nodeEgress(mayCall)
  const services: Services = {
    config: panelConfigOf(env, url, maxWaitMs),
    keys,
    ...database,
    cache: cache.cache,
    inFlight: new Map(),
    circuitBreakers: new Map(),
    daemonFetch: nodeDaemonFetch(mayCall),
    queue,
    objects: objects.store,
    mail: openMailer(env, egress, openSmtp) ?? mailOutbox(join(directory.path, 'outbox')),
    pastes: httpPasteService(egress.fetch),
    publicFetch: publicFetch(nodeSendGet, { allowedNetworks: env.FETCH_ALLOWED_NETWORKS }),
    oauth: lazyOauth(egress),
    captcha: httpCaptcha(egress.fetch),
    locales: localeFiles,
    mysqlHost: mysqlHosts(egress),
    probeNode: nodeProbe(egress),
    gameQuery: nodeGameQuery(egress),
    metrics: createMetrics(),
    now: () => new Date(),
    close: async () => {
      closeQueue()
      await Promise.all([closeDatabase(), cache.close()])
    },
  }
  const poolState = () => database.poolState?.() ?? null
  return { services, handleObjects: objects.handleRequest, pruneCache: cache.prune, poolState }
}

async function openDatabase(
  env: Env,
  { directory, onRemounted }: LocalServiceOptions,
): Promise<DatabaseHandle & Pick<Services, 'snapshot'>> {
  if (!env.DATABASE_URL) {
    const { openPglite } = await import('./pglite.ts')
    const place = join(directory.path, 'database')
    const { exclusively, ...database } = await openPglite(place, countStatement, { onRemounted })
    return { ...database, snapshot: snapshotOf(directory.path, exclusively) }
  }
  return openServer(env, env.DATABASE_URL, { poolSize: env.DATABASE_POOL_SIZE, onStatement: countStatement })
}

type PoolOptions = { poolSize: number; onStatement?: (text: string) => void; timeoutMs?: number }

async function openServer(
  env: Env,
  url: string,
  { poolSize, onStatement, timeoutMs }: PoolOptions,
): Promise<DatabaseHandle> {
  if (env.DATABASE_DRIVER !== 'neon') return openPostgres(url, poolSize, onStatement, timeoutMs)
  const { openNeon } = await import('../neon.ts')
  return openNeon(url, {
    usesHttp: false,
    poolSize,
    localProxy: env.NEON_LOCAL_PROXY ?? null,
    ...(onStatement ? { onStatement } : {}),
  })
}

type OpenedCache = { cache: Cache; prune: () => Promise<void>; close: () => Promise<unknown> }

const nothing = async () => undefined

async function openCache(env: Env): Promise<OpenedCache> {
  const { REDIS_URL, UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token } = env
  if (REDIS_URL) {
    const { redisCache } = await import('../../adapters/redis-cache.ts')
    return { ...redisCache(REDIS_URL), prune: nothing }
  }
  if (url && token) return { cache: lazyCache(url, token), prune: nothing, close: nothing }
  if (cacheDriver(env) === 'memory' || !env.DATABASE_URL)
    return { cache: localCache(), prune: nothing, close: nothing }
  // Connections of its own: a cache that hangs must not take those of requests.
  const database = await openServer(env, env.DATABASE_URL, {
    poolSize: cachePoolSize,
    timeoutMs: cacheTimeoutMs,
  })
  return { ...databaseCache(database.db), close: database.close }
}

function openQueue(
  env: Env,
  { directory, url, deliver }: LocalServiceOptions,
): { queue: Queue; close: () => void } {
  if (!env.QSTASH_TOKEN) {
    return localQueue({ origin: () => url, signingKeys: directory.secrets.signingKeys, deliver })
  }
  return { queue: qstashQueue(queueOptionsOf(env, url, findSigningKey)), close: () => undefined }
}

/** Opens the configured object store, or one on the disk, whose links are answered at the panel's own address. */
async function openObjects(
  env: Env,
  directory: DataDirectory,
  url: string,
): Promise<{ store: ObjectStore; handleRequest: DiskObjectStore['handleRequest'] | null }> {
  const s3Options = s3OptionsOf(env)
  if (s3Options) return { store: lazyObjectStore(s3Options), handleRequest: null }
  return openDiskObjectStore({
    directory: join(directory.path, 'objects'),
    url: `${url}${objectsPath}`,
    secret: directory.secrets.objects,
    onError: (error) => log('error', 'The object store failed.', { cause: causeOf(error) }),
  })
}
