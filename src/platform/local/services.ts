import { join } from 'node:path'
import { upstashCache } from '../../adapters/cache.ts'
import { httpCaptcha } from '../../adapters/captcha.ts'
import { mysqlHost } from '../../adapters/mysql-host.ts'
import type { ObjectStore } from '../../adapters/objects.ts'
import { httpPasteService } from '../../adapters/paste.ts'
import { publicFetch } from '../../adapters/public-fetch.ts'
import { findSigningKey } from '../../adapters/queue-signature.ts'
import { qstashQueue, type Queue } from '../../adapters/queue.ts'
import { importKeyRing } from '../../domain/secrets.ts'
import { causeOf, log } from '../../log.ts'
import { createMetrics } from '../../metrics.ts'
import type { Env } from '../env.ts'
import { lazyOauth } from '../lazy-oauth.ts'
import { lazyObjectStore } from '../lazy-object-store.ts'
import { localeFiles } from '../locale-files.ts'
import { openMailer } from '../mail.ts'
import { openNeon } from '../neon.ts'
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
import { openPglite } from './pglite.ts'
import { localQueue } from './queue.ts'

/** The path of the embedded object store, below the origin of the panel. */
export const objectsPath = '/objects'
/** Milliseconds for which a request may wait for a daemon. */
const maxWaitMs = 300_000

export type LocalServiceOptions = {
  directory: DataDirectory
  /** Origin of the panel. */
  url: string
  /** Answers a request by the app of this process. */
  deliver: (request: Request) => Promise<Response>
}

/**
 * Opens the services of the Node process: those that the environment names, and embedded ones for the rest. Migrates
 * the embedded database only.
 */
export async function openLocalServices(
  env: Env,
  options: LocalServiceOptions,
): Promise<{ services: Services; handleObjects: DiskObjectStore['handleRequest'] | null }> {
  const { directory, url } = options
  const keys = await importKeyRing(env.APP_KEYS ?? directory.secrets.appKeys)
  const database = await openDatabase(env, directory)
  const { queue, close: closeQueue } = openQueue(env, options)
  const objects = await openObjects(env, directory, url)
  const services: Services = {
    config: panelConfigOf(env, url, maxWaitMs),
    keys,
    db: database.db,
    transaction: database.transaction,
    cache:
      env.UPSTASH_REDIS_REST_URL && env.UPSTASH_REDIS_REST_TOKEN
        ? upstashCache(env.UPSTASH_REDIS_REST_URL, env.UPSTASH_REDIS_REST_TOKEN)
        : localCache(),
    inFlight: new Map(),
    circuitBreakers: new Map(),
    daemonFetch: nodeDaemonFetch,
    queue,
    objects: objects.store,
    mail: openMailer(env, openSmtp) ?? mailOutbox(join(directory.path, 'outbox')),
    pastes: httpPasteService(),
    publicFetch: publicFetch(nodeSendGet, { allowedNetworks: env.FETCH_ALLOWED_NETWORKS }),
    oauth: lazyOauth(),
    captcha: httpCaptcha(),
    locales: localeFiles,
    mysqlHost,
    probeNode: nodeProbe,
    gameQuery: nodeGameQuery,
    metrics: createMetrics(),
    now: () => new Date(),
    close: async () => {
      closeQueue()
      await database.close()
    },
  }
  return { services, handleObjects: objects.handleRequest }
}

async function openDatabase(env: Env, directory: DataDirectory): Promise<DatabaseHandle> {
  if (!env.DATABASE_URL) return openPglite(join(directory.path, 'database'), countStatement)
  if (env.DATABASE_DRIVER === 'neon') {
    return openNeon(env.DATABASE_URL, {
      usesHttp: false,
      poolSize: env.DATABASE_POOL_SIZE,
      localProxy: env.NEON_LOCAL_PROXY ?? null,
      onStatement: countStatement,
    })
  }
  return openPostgres(env.DATABASE_URL, env.DATABASE_POOL_SIZE, countStatement)
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
