import { upstashCache } from '../adapters/cache.ts'
import { httpMailer, type Mailer } from '../adapters/mail.ts'
import type { ObjectStore, S3Options } from '../adapters/objects.ts'
import { qstashQueue } from '../adapters/queue.ts'
import { importKeyRing } from '../domain/secrets.ts'
import { unavailable } from '../errors.ts'
import type { KeyRing, PanelConfig } from '../panel.ts'
import { type Env, EnvironmentError, readEnv } from './env.ts'
import { openNeon } from './neon.ts'
import type { Parts } from './parts.ts'

export type Cloud = 'workers' | 'lambda'

/** How to reach a database host; its driver is a third of a function's size, so only some carry it. */
export type OpenMysqlHost = Parts['mysqlHost']

const needed = [
  'APP_URL',
  'APP_KEYS',
  'DATABASE_URL',
  'UPSTASH_REDIS_REST_URL',
  'UPSTASH_REDIS_REST_TOKEN',
  'QSTASH_TOKEN',
  'QSTASH_CURRENT_SIGNING_KEY',
  'QSTASH_NEXT_SIGNING_KEY',
] as const

type DeployedEnv = Env & { [Name in (typeof needed)[number]]: string }

/** Seconds after which connections of a process that rested are not trusted: Lambda freezes it meanwhile. */
const longestRest = 60

/**
 * The parts of this isolate or process, opened by its first request and kept.
 *
 * A fault in the environment is logged in full and refused with 503, at each request: a function
 * that dies at its start would tell nobody why. Without `mysqlHost` database hosts are out of reach.
 */
export function keepParts(
  cloud: Cloud,
  mysqlHost: OpenMysqlHost | null = null,
): (raw: Record<string, unknown>) => Promise<Parts> {
  let kept: { parts: Parts; usedAt: number } | null = null
  return async (raw) => {
    const now = Date.now()
    if (kept && cloud === 'lambda' && now - kept.usedAt > longestRest * 1000) {
      kept.parts.close().catch(() => undefined)
      kept = null
    }
    // The value is kept, not its promise: on Workers the request that made a promise may be gone.
    kept ??= { parts: await openOrRefuse(raw, cloud, mysqlHost), usedAt: now }
    kept.usedAt = now
    return kept.parts
  }
}

async function openOrRefuse(
  raw: Record<string, unknown>,
  cloud: Cloud,
  mysqlHost: OpenMysqlHost | null,
): Promise<Parts> {
  try {
    return await openCloudParts(readEnv(raw), cloud, mysqlHost)
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error
    console.error(error.message)
    throw unavailable('The panel is not configured completely.', error)
  }
}

/** Parts made of managed services. Throws an `EnvironmentError` that names all that is missing. */
export async function openCloudParts(
  env: Env,
  cloud: Cloud,
  mysqlHost: OpenMysqlHost | null = null,
): Promise<Parts> {
  const deployed = requireServices(env)
  return {
    config: configOf(deployed),
    keys: await readKeys(deployed.APP_KEYS),
    ...openNeon(deployed.DATABASE_URL, {
      http: cloud === 'workers',
      poolSize: env.DATABASE_POOL_SIZE,
      localProxy: env.NEON_LOCAL_PROXY ?? null,
    }),
    cache: upstashCache(deployed.UPSTASH_REDIS_REST_URL, deployed.UPSTASH_REDIS_REST_TOKEN),
    // A promise of one request cannot be awaited by another one on Workers, and Lambda has one at a time.
    flights: null,
    queue: qstashQueue({
      token: deployed.QSTASH_TOKEN,
      baseUrl: env.QSTASH_URL ?? null,
      origin: env.JOBS_URL ?? deployed.APP_URL,
      signingKeys: { current: deployed.QSTASH_CURRENT_SIGNING_KEY, next: deployed.QSTASH_NEXT_SIGNING_KEY },
    }),
    objects: objectsOf(env),
    mail: mailerOf(env),
    mysqlHost: mysqlHost ?? noMysqlHosts,
    now: () => new Date(),
  }
}

function noMysqlHosts(): never {
  throw new Error('This function carries no driver for database hosts.')
}

function requireServices(env: Env): DeployedEnv {
  const missing = needed.filter((name) => env[name] === undefined)
  if (missing.length > 0) throw new EnvironmentError(missing.map((name) => `  ${name}: is required here`))
  return env as DeployedEnv
}

const configOf = (env: DeployedEnv): PanelConfig => ({
  url: env.APP_URL,
  name: env.APP_NAME,
  regionalUrls: env.REGIONAL_URLS,
  clientRateLimit: env.CLIENT_RATE_LIMIT,
  applicationRateLimit: env.APPLICATION_RATE_LIMIT,
  timezone: env.APP_TIMEZONE,
})

async function readKeys(configured: string): Promise<KeyRing> {
  try {
    return await importKeyRing(configured)
  } catch {
    throw new EnvironmentError(['  APP_KEYS: must be <id>:<32 bytes in base64>, several joined by commas'])
  }
}

function objectsOf(env: Env): ObjectStore {
  const { S3_BUCKET: bucket, S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = env
  if (!bucket || !accessKeyId || !secretAccessKey) return noObjects
  return lazyObjects({
    bucket,
    accessKeyId,
    secretAccessKey,
    region: env.S3_REGION,
    endpoint: env.S3_ENDPOINT ?? null,
    pathStyle: env.S3_PATH_STYLE,
  })
}

/** The SDK costs more to load than a whole request, and few requests need it. */
function lazyObjects(options: S3Options): ObjectStore {
  let opened: Required<ObjectStore> | null = null
  const store = async () => {
    const { s3ObjectStore } = await import('../adapters/objects.ts')
    return (opened ??= s3ObjectStore(options))
  }
  const uploads = async () => (await store()).multipart
  return {
    put: async (...input) => (await store()).put(...input),
    signedUrl: async (...input) => (await store()).signedUrl(...input),
    remove: async (...input) => (await store()).remove(...input),
    ping: async () => (await store()).ping(),
    multipart: {
      create: async (...input) => (await uploads()).create(...input),
      signPart: async (...input) => (await uploads()).signPart(...input),
      complete: async (...input) => (await uploads()).complete(...input),
      abort: async (...input) => (await uploads()).abort(...input),
      head: async (...input) => (await uploads()).head(...input),
    },
  }
}

async function refuseObjects(): Promise<never> {
  throw unavailable('This panel has no object store: its operator has to set S3_BUCKET.')
}

/** What was never configured is not down, so `ping` has nothing to complain about. */
const noObjects: ObjectStore = {
  put: refuseObjects,
  signedUrl: refuseObjects,
  remove: refuseObjects,
  ping: async () => undefined,
}

function mailerOf(env: Env): Mailer {
  const { MAIL_HTTP_ENDPOINT: endpoint, MAIL_HTTP_TOKEN: token, MAIL_FROM: from } = env
  if (endpoint && token) return httpMailer({ endpoint, token, from })
  return {
    send: async () => {
      throw unavailable('This panel cannot send mail: its operator has to set MAIL_HTTP_ENDPOINT.')
    },
  }
}
