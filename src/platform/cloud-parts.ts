import { upstashCache } from '../adapters/cache.ts'
import { httpCaptcha } from '../adapters/captcha.ts'
import type { Mailer } from '../adapters/mail.ts'
import type { ObjectStore, S3Options } from '../adapters/objects.ts'
import { httpPastes } from '../adapters/paste.ts'
import { type CheckSignature, qstashQueue } from '../adapters/queue.ts'
import { importKeyRing } from '../domain/secrets.ts'
import { ApiError, unavailable } from '../errors.ts'
import { log, setLogLevel } from '../log.ts'
import { openMetrics } from '../metrics.ts'
import type { PanelConfig } from '../panel.ts'
import { type Env, EnvironmentError, readEnv } from './env.ts'
import { type OpenSmtp, openMailer } from './mail.ts'
import { openNeon } from './neon.ts'
import type { Parts } from './parts.ts'
import { s3OptionsOf } from './s3-options.ts'
import type { Cloud, neededByClouds } from './stage.ts'
import { countStatement } from './statement-count.ts'

/** What only some functions carry, since it makes them larger; what is left out is out of their reach. */
export type Equipment = Partial<Pick<Parts, 'mysqlHost' | 'gameQuery' | 'oauth' | 'texts'>> & {
  /** For what stores objects or hands out links to them. */
  objects?: (options: S3Options) => ObjectStore
  /** For what takes messages of the queue. */
  signatures?: CheckSignature
  /** For what sends mail, where it goes through a server. */
  smtp?: OpenSmtp
}

type DeployedEnv = Env & { [Name in (typeof neededByClouds)[number]]: string }

/** Seconds after which connections of a process that rested are not trusted: Lambda freezes it meanwhile. */
const longestRest = 60

/**
 * The parts of this isolate or process, opened by its first request and kept.
 *
 * A fault in the environment is logged in full, and from then on each request refused with 503: a function
 * that dies at its start would tell nobody why.
 */
export function keepParts(
  cloud: Cloud,
  equipment: Equipment,
): (raw: Record<string, unknown>) => Promise<Parts> {
  let opened: Parts | ApiError | null = null
  let usedAt = 0
  return async (raw) => {
    const now = Date.now()
    const isTired = cloud === 'lambda' && now - usedAt > longestRest * 1000
    if (opened && isTired && !(opened instanceof ApiError)) {
      opened.close().catch(() => undefined)
      opened = null
    }
    // The value is kept, not its promise: on Workers the request that made a promise may be gone.
    opened ??= await openOrRefuse(raw, cloud, equipment)
    if (opened instanceof ApiError) throw opened
    usedAt = now
    return opened
  }
}

async function openOrRefuse(
  raw: Record<string, unknown>,
  cloud: Cloud,
  equipment: Equipment,
): Promise<Parts | ApiError> {
  try {
    return await openCloudParts(readEnv(raw, cloud), cloud, equipment)
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error
    log('error', 'The environment is not fit to start with.', { faults: error.faults })
    return unavailable('The panel is not configured completely.', error)
  }
}

/** Parts made of managed services, for an environment that was read for a cloud. Throws an `EnvironmentError`. */
export async function openCloudParts(env: Env, cloud: Cloud, equipment: Equipment = {}): Promise<Parts> {
  const deployed = env as DeployedEnv
  setLogLevel(env.LOG_LEVEL)
  return {
    config: configOf(deployed, cloud),
    keys: await importKeyRing(deployed.APP_KEYS),
    ...openNeon(deployed.DATABASE_URL, {
      http: cloud === 'workers',
      poolSize: env.DATABASE_POOL_SIZE,
      localProxy: env.NEON_LOCAL_PROXY ?? null,
      onStatement: countStatement,
    }),
    cache: upstashCache(deployed.UPSTASH_REDIS_REST_URL, deployed.UPSTASH_REDIS_REST_TOKEN),
    // A promise of one request cannot be awaited by another one on Workers, and Lambda has one at a time.
    flights: null,
    circuits: new Map(),
    queue: qstashQueue({
      token: deployed.QSTASH_TOKEN,
      baseUrl: env.QSTASH_URL ?? null,
      origin: env.JOBS_URL ?? deployed.APP_URL,
      signingKeys: { current: deployed.QSTASH_CURRENT_SIGNING_KEY, next: deployed.QSTASH_NEXT_SIGNING_KEY },
      checkSignature: equipment.signatures ?? notCarried,
    }),
    objects: objectsOf(env, equipment),
    mail: mailerOf(env, cloud, equipment),
    pastes: httpPastes(),
    oauth: equipment.oauth ?? { authorizationUrl: notCarried, identify: notCarried },
    captcha: httpCaptcha(),
    texts: equipment.texts ?? { read: notCarried },
    mysqlHost: equipment.mysqlHost ?? notCarried,
    gameQuery: equipment.gameQuery ?? notCarried,
    metrics: openMetrics(),
    now: () => new Date(),
  }
}

function notCarried(): never {
  throw new Error('This function does not carry what it would need for that.')
}

const configOf = (env: DeployedEnv, cloud: Cloud): PanelConfig => ({
  url: env.APP_URL,
  name: env.APP_NAME,
  clientRateLimit: env.CLIENT_RATE_LIMIT,
  applicationRateLimit: env.APPLICATION_RATE_LIMIT,
  timezone: env.APP_TIMEZONE,
  // A gateway gives a Lambda half a minute; waiting costs a Worker nothing.
  longestWait: cloud === 'lambda' ? 22_000 : 300_000,
  metricsToken: env.METRICS_TOKEN ?? null,
})

function objectsOf(env: Env, { objects }: Equipment): ObjectStore {
  const options = s3OptionsOf(env)
  return options && objects ? objects(options) : noObjects
}

async function refuseObjects(): Promise<never> {
  throw unavailable('This panel has no object store: its operator has to set S3_BUCKET.')
}

/** What was never configured is not down, so `ping` has nothing to complain about. */
const noObjects: ObjectStore = {
  put: refuseObjects,
  get: refuseObjects,
  signedUrl: refuseObjects,
  remove: refuseObjects,
  ping: async () => undefined,
}

function mailerOf(env: Env, cloud: Cloud, { smtp = null }: { smtp?: OpenSmtp | null }): Mailer {
  if (cloud === 'workers' && env.MAIL_DRIVER === 'smtp') {
    throw new EnvironmentError(['  MAIL_DRIVER: Workers do not carry smtp; use resend or postmark'])
  }
  return openMailer(env, smtp) ?? { send: refuseMail }
}

async function refuseMail(): Promise<never> {
  throw unavailable('This function cannot send mail: its operator has to set MAIL_DRIVER.')
}
