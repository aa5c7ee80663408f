import { access, constants } from 'node:fs/promises'
import { join } from 'node:path'
import { upstashCache } from '../../adapters/cache.ts'
import { httpCaptcha } from '../../adapters/captcha.ts'
import { mysqlHost } from '../../adapters/mysql-host.ts'
import { httpOauth } from '../../adapters/oauth.ts'
import type { ObjectStore } from '../../adapters/objects.ts'
import { httpPastes } from '../../adapters/paste.ts'
import { signingKeyOf } from '../../adapters/queue-signature.ts'
import { qstashQueue, type Queue } from '../../adapters/queue.ts'
import { importKeyRing } from '../../domain/secrets.ts'
import { openMetrics } from '../../metrics.ts'
import type { PanelConfig } from '../../panel.ts'
import { type Env, required } from '../env.ts'
import { openMailer } from '../mail.ts'
import { openNeon } from '../neon.ts'
import { lazyObjects } from '../lazy-objects.ts'
import { nodeGameQuery } from '../node-game-query.ts'
import type { Parts } from '../parts.ts'
import { s3OptionsOf } from '../s3-options.ts'
import { type OpenedDatabase, openPostgres } from '../postgres.ts'
import { openSmtp } from '../smtp.ts'
import { textFiles } from '../text-files.ts'
import { countStatement } from '../statement-count.ts'
import { localCache } from './cache.ts'
import type { DataDirectory } from './data-directory.ts'
import { mailOutbox } from './mail.ts'
import { openObjectEndpoint, type ObjectEndpoint } from './objects/endpoint.ts'
import { inProcessHandler } from './objects/in-process.ts'
import { openPglite } from './pglite.ts'
import { localQueue } from './queue.ts'

/** Where the embedded object store is, below the panel's address. */
export const objectsPath = '/objects'

export type LocalSurroundings = {
  directory: DataDirectory
  /** Origin under which this process is reached. */
  url: string
  /** Hands a request to the app of this process. */
  deliver: (request: Request) => Promise<Response>
}

/**
 * The parts of the Node process: the real thing for whatever the environment names, an embedded one for the rest. Of
 * the databases only the embedded one is migrated.
 */
export async function openLocalParts(
  env: Env,
  surroundings: LocalSurroundings,
): Promise<{ parts: Parts; objectEndpoint: ObjectEndpoint | null }> {
  const { directory, url } = surroundings
  const keys = await importKeyRing(env.APP_KEYS ?? directory.secrets.appKeys)
  const database = await openDatabase(env, directory)
  const { queue, close: closeQueue } = openQueue(env, surroundings)
  const objects = await openObjects(env, directory, url)
  const parts: Parts = {
    config: configOf(env, url),
    keys,
    db: database.db,
    transaction: database.transaction,
    cache:
      env.UPSTASH_REDIS_REST_URL && env.UPSTASH_REDIS_REST_TOKEN
        ? upstashCache(env.UPSTASH_REDIS_REST_URL, env.UPSTASH_REDIS_REST_TOKEN)
        : localCache(),
    flights: new Map(),
    circuits: new Map(),
    queue,
    objects: objects.store,
    mail: openMailer(env, openSmtp) ?? mailOutbox(join(directory.path, 'outbox')),
    pastes: httpPastes(),
    oauth: httpOauth(),
    captcha: httpCaptcha(),
    texts: textFiles,
    mysqlHost,
    gameQuery: nodeGameQuery,
    metrics: openMetrics(),
    now: () => new Date(),
    close: async () => {
      closeQueue()
      await database.close()
    },
  }
  return { parts, objectEndpoint: objects.endpoint }
}

const configOf = (env: Env, url: string): PanelConfig => ({
  url,
  name: env.APP_NAME,
  clientRateLimit: env.CLIENT_RATE_LIMIT,
  applicationRateLimit: env.APPLICATION_RATE_LIMIT,
  timezone: env.APP_TIMEZONE,
  longestWait: 300_000,
  metricsToken: env.METRICS_TOKEN ?? null,
})

async function openDatabase(env: Env, directory: DataDirectory): Promise<OpenedDatabase> {
  if (!env.DATABASE_URL) return openPglite(join(directory.path, 'database'), countStatement)
  if (env.DATABASE_DRIVER === 'neon') {
    return openNeon(env.DATABASE_URL, {
      http: false,
      poolSize: env.DATABASE_POOL_SIZE,
      localProxy: env.NEON_LOCAL_PROXY ?? null,
      onStatement: countStatement,
    })
  }
  return openPostgres(env.DATABASE_URL, env.DATABASE_POOL_SIZE, countStatement)
}

function openQueue(
  env: Env,
  { directory, url, deliver }: LocalSurroundings,
): { queue: Queue; close: () => void } {
  if (!env.QSTASH_TOKEN) {
    return localQueue({ origin: () => url, signingKeys: directory.secrets.signingKeys, deliver })
  }
  const queue = qstashQueue({
    token: env.QSTASH_TOKEN,
    baseUrl: env.QSTASH_URL ?? null,
    origin: env.JOBS_URL ?? url,
    signingKeys: {
      current: required(env, 'QSTASH_CURRENT_SIGNING_KEY'),
      next: required(env, 'QSTASH_NEXT_SIGNING_KEY'),
    },
    checkSignature: signingKeyOf,
  })
  return { queue, close: () => undefined }
}

/** The embedded store is a service of this process: at the panel's own address, so that links work where the panel does. */
async function openObjects(
  env: Env,
  directory: DataDirectory,
  url: string,
): Promise<{ store: ObjectStore; endpoint: ObjectEndpoint | null }> {
  const options = s3OptionsOf(env)
  if (options) return { store: lazyObjects(options), endpoint: null }
  const service = { bucket: 'panel', region: 'local', accessKeyId: 'panel' }
  const credentials = { ...service, secretAccessKey: directory.secrets.objects }
  const [folder, address] = [join(directory.path, 'objects'), `${url}${objectsPath}`]
  const endpoint = await openObjectEndpoint({ ...credentials, directory: folder, url: address })
  const requestHandler = inProcessHandler(endpoint)
  const store = lazyObjects({ ...credentials, endpoint: address, pathStyle: true, requestHandler })
  // Only the folder can be out of reach, and asking for it needs no SDK.
  return { store: { ...store, ping: () => access(folder, constants.R_OK | constants.W_OK) }, endpoint }
}
