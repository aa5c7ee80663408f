import type { Socket } from 'node:net'
import type { Egress } from '../adapters/egress.ts'
import type { Mailer } from '../adapters/mail.ts'
import type { BucketOptions, ObjectStore } from '../adapters/objects.ts'
import type { PublicFetch } from '../adapters/public-fetch.ts'
import type { VerifySignature } from '../adapters/queue.ts'
import { importKeyRing } from '../domain/secrets.ts'
import { ApiError, unavailable } from '../errors.ts'
import { log, setLogLevel } from '../log.ts'
import { createMetrics } from '../metrics.ts'
import type { Cloud } from './deployment-faults.ts'
import { type Env, EnvironmentError, readEnv, required } from './env.ts'
import { lazyCaptcha, lazyPasteService } from './lazy-http-services.ts'
import { lazyCache } from './lazy-cache.ts'
import { lazyQueue } from './lazy-queue.ts'
import { type OpenSmtp, openMailer } from './mail.ts'
import type { Services } from './open-panel.ts'
import { panelConfigOf } from './panel-config.ts'
import type { DatabaseHandle } from './postgres.ts'
import { queueOptionsOf } from './queue-options.ts'
import { s3OptionsOf } from './s3-options.ts'
import { countStatement } from './statement-stats.ts'

/** Services that only some functions bundle, because of their size. A function without one fails where it uses it. */
export type OptionalServices = Partial<Pick<Services, 'locales'>> & {
  mysqlHost?: (egress: Egress) => Services['mysqlHost']
  gameQuery?: (egress: Egress<Socket>) => Services['gameQuery']
  oauth?: (egress: Egress) => Services['oauth']
  probeNode?: (egress: Egress<Socket>) => NonNullable<Services['probeNode']>
  /** For functions that store objects or sign links to them. */
  objects?: (options: BucketOptions) => ObjectStore
  /** For functions that fetch what administrators enter: opens the fetch with the networks that are allowed beside the public internet. */
  publicFetch?: (allowedNetworks: readonly string[]) => PublicFetch
  /** For functions that receive messages of the queue. */
  verifySignature?: VerifySignature
  /** For functions that send mail, where it goes through an SMTP server. */
  smtp?: OpenSmtp
}

/** Opens what calls other machines on this cloud. */
type OpenEgress = (privateNetworks: readonly string[]) => Egress<Socket>

/** A Worker has six connections at a time; a seventh call would wait, and its timeout would run meanwhile. */
const maxDaemonCalls = { workers: { maxDaemonCalls: 6 }, lambda: {} }

/** Seconds after which the connections of an idle process are opened anew: Lambda freezes it between requests. */
const maxIdleSeconds = 60

/** Milliseconds for which a request may wait for a daemon. A gateway ends a Lambda's after 30 s; Workers may wait. */
const maxWaitMs = { workers: 300_000, lambda: 22_000 }

/** Lambda sends an answer as a whole, of at most 6 MB as base64. Workers stream. */
const maxResponseBytes = { workers: {}, lambda: { maxResponseBytes: 2 * 1024 * 1024 } }

/**
 * Returns a function that opens the services of this isolate or process with the first request and keeps them.
 *
 * Logs the faults of an invalid environment and refuses each request with 503 from then on: a function that failed
 * at its start could not say why.
 */
export function cachedServices(
  cloud: Cloud,
  openEgress: OpenEgress,
  optionalServices: OptionalServices,
): (raw: Record<string, unknown>) => Promise<Services> {
  let cached: Services | ApiError | null = null
  let lastUsedAt = 0
  return async (raw) => {
    const now = Date.now()
    const isStale = cloud === 'lambda' && now - lastUsedAt > maxIdleSeconds * 1000
    if (cached && isStale && !(cached instanceof ApiError)) {
      cached.close().catch(() => undefined)
      cached = null
    }
    // Keeps the value, not its promise: on Workers the request that created a promise may have ended.
    cached ??= await openOrError(raw, cloud, openEgress, optionalServices)
    if (cached instanceof ApiError) throw cached
    lastUsedAt = now
    return cached
  }
}

async function openOrError(
  raw: Record<string, unknown>,
  cloud: Cloud,
  openEgress: OpenEgress,
  optionalServices: OptionalServices,
): Promise<Services | ApiError> {
  try {
    return await openCloudServices(readEnv(withHyperdrive(raw), cloud), cloud, openEgress, optionalServices)
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error
    log('error', 'The environment is invalid.', { faults: error.faults })
    return unavailable('panel_not_configured', 'The panel is not configured completely.', { cause: error })
  }
}

/** Returns the environment with the database of the binding `HYPERDRIVE`, if a Worker has one. */
function withHyperdrive(raw: Record<string, unknown>): Record<string, unknown> {
  const { connectionString } = (raw.HYPERDRIVE ?? {}) as { connectionString?: string }
  return connectionString ? { ...raw, DATABASE_URL: connectionString, DATABASE_DRIVER: 'postgres' } : raw
}

/** Opens the database by the driver that is wanted; only that one is loaded. */
async function openCloudDatabase(env: Env, cloud: Cloud): Promise<DatabaseHandle> {
  const url = required(env, 'DATABASE_URL')
  if (env.DATABASE_DRIVER === 'postgres') {
    if (cloud === 'workers') return (await import('./hyperdrive.ts')).openHyperdrive(url, countStatement)
    return (await import('./postgres.ts')).openPostgres(url, env.DATABASE_POOL_SIZE, countStatement)
  }
  return (await import('./neon.ts')).openNeon(url, {
    usesHttp: cloud === 'workers',
    poolSize: env.DATABASE_POOL_SIZE,
    localProxy: env.NEON_LOCAL_PROXY ?? null,
    onStatement: countStatement,
  })
}

/** Opens the managed services that the environment of a cloud names. Throws an `EnvironmentError`. */
export async function openCloudServices(
  env: Env,
  cloud: Cloud,
  openEgress: OpenEgress,
  optionalServices: OptionalServices = {},
): Promise<Services> {
  const url = required(env, 'APP_URL')
  const egress = openEgress(env.EGRESS_PRIVATE_NETWORKS)
  setLogLevel(env.LOG_LEVEL, env.LOG_ADDRESSES)
  return {
    config: {
      ...panelConfigOf(env, url, maxWaitMs[cloud]),
      ...maxResponseBytes[cloud],
      ...maxDaemonCalls[cloud],
    },
    keys: await importKeyRing(required(env, 'APP_KEYS')),
    ...(await openCloudDatabase(env, cloud)),
    cache: lazyCache(required(env, 'UPSTASH_REDIS_REST_URL'), required(env, 'UPSTASH_REDIS_REST_TOKEN')),
    // On Workers a request cannot await a promise of another one, and Lambda serves one at a time.
    inFlight: null,
    circuitBreakers: new Map(),
    queue: lazyQueue(
      queueOptionsOf(env, url, optionalServices.verifySignature ?? notBundled('signatures of the queue')),
    ),
    objects: openObjectStore(env, optionalServices),
    mail: openCloudMailer(env, cloud, egress, optionalServices),
    publicFetch:
      optionalServices.publicFetch?.(env.FETCH_ALLOWED_NETWORKS) ?? notBundled('fetching from addresses'),
    locales: optionalServices.locales ?? { read: notBundled('locales') },
    ...calledServices(egress, optionalServices),
    metrics: createMetrics(),
    now: () => new Date(),
  }
}

/** Opens the services that call what administrators configure. */
const calledServices = (
  egress: Egress<Socket>,
  { oauth, mysqlHost, probeNode, gameQuery }: OptionalServices,
) => ({
  daemonFetch: egress.fetch,
  pastes: lazyPasteService(egress),
  oauth: oauth?.(egress) ?? {
    authorizationUrl: notBundled('sign-in providers'),
    identify: notBundled('sign-in providers'),
  },
  captcha: lazyCaptcha(egress),
  mysqlHost: mysqlHost?.(egress) ?? notBundled('database hosts'),
  probeNode: probeNode?.(egress) ?? null,
  gameQuery: gameQuery?.(egress) ?? notBundled('game queries'),
})

/** Returns a stand-in for a service that this function does not bundle; calling it throws. */
const notBundled = (service: string) => () => {
  throw new Error(`This function is bundled without ${service}.`)
}

function openObjectStore(env: Env, { objects }: OptionalServices): ObjectStore {
  const options = s3OptionsOf(env)
  return options && objects ? objects(options) : missingObjectStore
}

const refuseObjects = () =>
  Promise.reject(
    unavailable(
      'object_store_not_configured',
      'This panel has no object store: its operator has to set S3_BUCKET.',
    ),
  )

/** Refuses objects with 503. A store that was never configured is not down, so `ping` succeeds. */
const missingObjectStore: ObjectStore = {
  put: refuseObjects,
  get: refuseObjects,
  signedUrl: refuseObjects,
  remove: refuseObjects,
  ping: async () => undefined,
}

function openCloudMailer(
  env: Env,
  cloud: Cloud,
  egress: Egress,
  { smtp = null }: { smtp?: OpenSmtp | null },
): Mailer {
  if (cloud === 'workers' && env.MAIL_DRIVER === 'smtp') {
    throw new EnvironmentError(['MAIL_DRIVER: smtp is not available on Workers; use resend or postmark'])
  }
  return openMailer(env, egress, smtp) ?? { send: refuseMail }
}

const refuseMail = () =>
  Promise.reject(
    unavailable(
      'mail_not_configured',
      'This function cannot send mail: its operator has to set MAIL_DRIVER.',
    ),
  )
