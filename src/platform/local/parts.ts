import { join } from 'node:path'
import type { Hono } from 'hono'
import { upstashCache } from '../../adapters/cache.ts'
import { httpMailer } from '../../adapters/mail.ts'
import { mysqlHost } from '../../adapters/mysql-host.ts'
import type { ObjectStore } from '../../adapters/objects.ts'
import { qstashQueue, type Queue } from '../../adapters/queue.ts'
import { importKeyRing } from '../../domain/secrets.ts'
import { type Env, required } from '../env.ts'
import { openNeon } from '../neon.ts'
import type { Parts } from '../parts.ts'
import { migratePostgres, type OpenedDatabase, openPostgres } from '../postgres.ts'
import { localCache } from './cache.ts'
import type { DataDirectory } from './data-directory.ts'
import { mailOutbox } from './mail.ts'
import { diskObjects } from './objects.ts'
import { openPglite } from './pglite.ts'
import { localQueue } from './queue.ts'

export type LocalSurroundings = {
  directory: DataDirectory
  /** Origin under which this process is reached. */
  url: string
  /** Hands a request to the app of this process. */
  deliver: (request: Request) => Promise<Response>
}

/** The parts of the Node process: the real thing for whatever the environment names, an embedded one for the rest. */
export async function openLocalParts(
  env: Env,
  surroundings: LocalSurroundings,
): Promise<{ parts: Parts; objectsApp: Hono | null }> {
  const { directory, url } = surroundings
  const keys = await importKeyRing(env.APP_KEYS ?? directory.secrets.appKeys)
  const database = await openDatabase(env, directory)
  const { queue, close: closeQueue } = openQueue(env, surroundings)
  const objects = await openObjects(env, directory, url)
  const parts: Parts = {
    config: {
      url,
      name: env.APP_NAME,
      regionalUrls: env.REGIONAL_URLS,
      clientRateLimit: env.CLIENT_RATE_LIMIT,
      applicationRateLimit: env.APPLICATION_RATE_LIMIT,
      timezone: env.APP_TIMEZONE,
    },
    keys,
    db: database.db,
    transaction: database.transaction,
    cache:
      env.UPSTASH_REDIS_REST_URL && env.UPSTASH_REDIS_REST_TOKEN
        ? upstashCache(env.UPSTASH_REDIS_REST_URL, env.UPSTASH_REDIS_REST_TOKEN)
        : localCache(),
    flights: new Map(),
    queue,
    objects: objects.store,
    mail: env.MAIL_HTTP_ENDPOINT
      ? httpMailer({
          endpoint: env.MAIL_HTTP_ENDPOINT,
          token: required(env, 'MAIL_HTTP_TOKEN'),
          from: env.MAIL_FROM,
        })
      : mailOutbox(join(directory.path, 'outbox')),
    mysqlHost,
    now: () => new Date(),
    close: async () => {
      closeQueue()
      await database.close()
    },
  }
  return { parts, objectsApp: objects.app }
}

async function openDatabase(env: Env, directory: DataDirectory): Promise<OpenedDatabase> {
  if (!env.DATABASE_URL) return openPglite(join(directory.path, 'database'))
  if (env.DATABASE_DRIVER === 'neon') {
    return openNeon(env.DATABASE_URL, {
      http: false,
      poolSize: env.DATABASE_POOL_SIZE,
      localProxy: env.NEON_LOCAL_PROXY ?? null,
    })
  }
  await migratePostgres(env.DATABASE_URL)
  return openPostgres(env.DATABASE_URL, env.DATABASE_POOL_SIZE)
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
  })
  return { queue, close: () => undefined }
}

async function openObjects(
  env: Env,
  directory: DataDirectory,
  url: string,
): Promise<{ store: ObjectStore; app: Hono | null }> {
  if (!env.S3_BUCKET) {
    return diskObjects({
      directory: join(directory.path, 'objects'),
      url: () => url,
      secret: directory.secrets.objects,
    })
  }
  const { s3ObjectStore } = await import('../../adapters/objects.ts')
  const store = s3ObjectStore({
    bucket: env.S3_BUCKET,
    region: env.S3_REGION,
    accessKeyId: required(env, 'S3_ACCESS_KEY_ID'),
    secretAccessKey: required(env, 'S3_SECRET_ACCESS_KEY'),
    endpoint: env.S3_ENDPOINT ?? null,
    pathStyle: env.S3_PATH_STYLE,
  })
  return { store, app: null }
}
