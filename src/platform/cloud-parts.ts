import { upstashCache } from '../adapters/cache.ts'
import { httpCaptcha } from '../adapters/captcha.ts'
import type { Mailer } from '../adapters/mail.ts'
import type { OauthGateway } from '../adapters/oauth.ts'
import type { ObjectStore } from '../adapters/objects.ts'
import { httpPastes } from '../adapters/paste.ts'
import { qstashQueue } from '../adapters/queue.ts'
import { importKeyRing } from '../domain/secrets.ts'
import { unavailable } from '../errors.ts'
import { log, setLogLevel } from '../log.ts'
import { openMetrics } from '../metrics.ts'
import type { KeyRing, PanelConfig } from '../panel.ts'
import { type Env, EnvironmentError, readEnv } from './env.ts'
import { lazyObjects } from './lazy-objects.ts'
import { type OpenSmtp, openMailer } from './mail.ts'
import { openNeon } from './neon.ts'
import type { Parts } from './parts.ts'
import { s3OptionsOf } from './s3-options.ts'
import { countStatement } from './statement-count.ts'

export type Cloud = 'workers' | 'lambda'

/** How to reach a database host; its driver is a third of a function's size, so only some carry it. */
export type OpenMysqlHost = Parts['mysqlHost']

/** How to ask games; only the function that runs jobs carries it. */
export type AskGames = Parts['gameQuery']

/** What no function on Workers or Lambda can do without. */
export const neededByClouds = [
  'APP_URL',
  'APP_KEYS',
  'DATABASE_URL',
  'UPSTASH_REDIS_REST_URL',
  'UPSTASH_REDIS_REST_TOKEN',
  'QSTASH_TOKEN',
  'QSTASH_CURRENT_SIGNING_KEY',
  'QSTASH_NEXT_SIGNING_KEY',
] as const

type DeployedEnv = Env & { [Name in (typeof neededByClouds)[number]]: string }

/** Seconds after which connections of a process that rested are not trusted: Lambda freezes it meanwhile. */
const longestRest = 60

/**
 * The parts of this isolate or process, opened by its first request and kept.
 *
 * A fault in the environment is logged in full and refused with 503, at each request: a function
 * that dies at its start would tell nobody why. Without `mysqlHost` database hosts are out of reach,
 * without `gameQuery` games, without `smtp` mail servers.
 */
export function keepParts(
  cloud: Cloud,
  mysqlHost: OpenMysqlHost | null = null,
  gameQuery: AskGames | null = null,
  smtp: OpenSmtp | null = null,
): (raw: Record<string, unknown>) => Promise<Parts> {
  let kept: { parts: Parts; usedAt: number } | null = null
  return async (raw) => {
    const now = Date.now()
    if (kept && cloud === 'lambda' && now - kept.usedAt > longestRest * 1000) {
      kept.parts.close().catch(() => undefined)
      kept = null
    }
    // The value is kept, not its promise: on Workers the request that made a promise may be gone.
    kept ??= { parts: await openOrRefuse(raw, cloud, mysqlHost, gameQuery, smtp), usedAt: now }
    kept.usedAt = now
    return kept.parts
  }
}

async function openOrRefuse(
  raw: Record<string, unknown>,
  cloud: Cloud,
  mysqlHost: OpenMysqlHost | null,
  gameQuery: AskGames | null,
  smtp: OpenSmtp | null,
): Promise<Parts> {
  try {
    return await openCloudParts(readEnv(raw), cloud, mysqlHost, gameQuery, smtp)
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error
    log('error', 'The environment is not fit to start with.', { faults: error.faults })
    throw unavailable('The panel is not configured completely.', error)
  }
}

/** Parts made of managed services. Throws an `EnvironmentError` that names all that is missing. */
export async function openCloudParts(
  env: Env,
  cloud: Cloud,
  mysqlHost: OpenMysqlHost | null = null,
  gameQuery: AskGames | null = null,
  smtp: OpenSmtp | null = null,
): Promise<Parts> {
  const deployed = requireServices(env)
  setLogLevel(env.LOG_LEVEL)
  return {
    config: configOf(deployed, cloud),
    keys: await readKeys(deployed.APP_KEYS),
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
    }),
    objects: objectsOf(env),
    mail: mailerOf(env, cloud, smtp),
    pastes: httpPastes(),
    oauth: lazyOauth(),
    captcha: httpCaptcha(),
    mysqlHost: mysqlHost ?? noMysqlHosts,
    gameQuery: gameQuery ?? noGames,
    metrics: openMetrics(),
    now: () => new Date(),
  }
}

function noGames(): never {
  throw new Error('This function does not ask games.')
}

function noMysqlHosts(): never {
  throw new Error('This function carries no driver for database hosts.')
}

function requireServices(env: Env): DeployedEnv {
  const missing = neededByClouds.filter((name) => env[name] === undefined)
  if (missing.length > 0) throw new EnvironmentError(missing.map((name) => `  ${name}: is required here`))
  return env as DeployedEnv
}

const configOf = (env: DeployedEnv, cloud: Cloud): PanelConfig => ({
  url: env.APP_URL,
  name: env.APP_NAME,
  regionalUrls: env.REGIONAL_URLS,
  clientRateLimit: env.CLIENT_RATE_LIMIT,
  applicationRateLimit: env.APPLICATION_RATE_LIMIT,
  timezone: env.APP_TIMEZONE,
  // A gateway gives a Lambda half a minute; waiting costs a Worker nothing.
  longestWait: cloud === 'lambda' ? 22_000 : 300_000,
  metricsToken: env.METRICS_TOKEN ?? null,
})

async function readKeys(configured: string): Promise<KeyRing> {
  try {
    return await importKeyRing(configured)
  } catch {
    throw new EnvironmentError(['  APP_KEYS: must be <id>:<32 bytes in base64>, several joined by commas'])
  }
}

function objectsOf(env: Env): ObjectStore {
  const options = s3OptionsOf(env)
  return options ? lazyObjects(options) : noObjects
}

/** Loaded by the first person who comes from a provider. */
function lazyOauth(): OauthGateway {
  let opened: OauthGateway | null = null
  const gateway = async () => {
    const { httpOauth } = await import('../adapters/oauth.ts')
    return (opened ??= httpOauth())
  }
  return {
    authorizationUrl: async (...input) => (await gateway()).authorizationUrl(...input),
    identify: async (...input) => (await gateway()).identify(...input),
  }
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

function mailerOf(env: Env, cloud: Cloud, smtp: OpenSmtp | null): Mailer {
  if (cloud === 'workers' && env.MAIL_DRIVER === 'smtp') {
    throw new EnvironmentError(['  MAIL_DRIVER: Workers do not carry smtp; use resend or postmark'])
  }
  return openMailer(env, smtp) ?? { send: refuseMail }
}

async function refuseMail(): Promise<never> {
  throw unavailable('This function cannot send mail: its operator has to set MAIL_DRIVER.')
}
