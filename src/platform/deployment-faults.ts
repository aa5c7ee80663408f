import { isLoopbackHost } from '../ip-addresses.ts'
import { isLoopbackListener, isLoopbackUrl, placesElsewhere } from './demo-places.ts'
import type { Env } from './env.ts'
import { processCount } from './process-count.ts'

export type Cloud = 'workers' | 'lambda'

/** Variables that every function on Workers and Lambda requires. */
export const requiredByClouds = [
  'APP_URL',
  'APP_KEYS',
  'DATABASE_URL',
  'UPSTASH_REDIS_REST_URL',
  'UPSTASH_REDIS_REST_TOKEN',
  'QSTASH_TOKEN',
  'QSTASH_CURRENT_SIGNING_KEY',
  'QSTASH_NEXT_SIGNING_KEY',
] as const

/**
 * Beginnings of the signing keys of QStash's development server, which are public: those of its four users, and of the first one in older
 * versions. https://upstash.com/docs/qstash/howto/local-development
 */
const developmentSigningKeys = [
  'sig_7kYjw48mhY7k',
  'sig_5ZB6DVzB1wjE',
  'sig_7GVPjvuwsfqF',
  'sig_5NoELc3EFnZn',
  'sig_6jWGaWRxHsw4',
  'sig_7qHbvhmahe5G',
  'sig_5T8FcSsynBjn',
  'sig_7GFR4YaDshFc',
  'sig_7RvLjqfZBvP5',
  'sig_7W3ZNbfKWk5N',
]
/** The beginning of its tokens, which are the name and password of a user in base64. */
const developmentTokenPattern = /^\{"UserID":"(?:defaultUser|testUser\d)",/

const isLoopback = (address: string) => isLoopbackHost(new URL(address).hostname)
/** Whether requests to a URL leave this machine without encryption. */
const isUnencrypted = (address: string) => new URL(address).protocol === 'http:' && !isLoopback(address)

/**
 * Finds values that are not allowed in this deployment: those for development once `APP_URL` is not on loopback, and on
 * clouds those that cannot work or are not safe there. `cloud` null is the Node process.
 */
export function deploymentFaults(env: Env, cloud: Cloud | null): string[] {
  const hasLoopbackListener = cloud === null && isLoopbackListener(env.HOST)
  const isDeployed = env.APP_URL !== undefined && !isLoopbackUrl(env.APP_URL, hasLoopbackListener)
  return [
    ...(isDeployed ? developmentFaults(env) : []),
    ...(cloud === null ? [...demoFaults(env), ...processFaults(env)] : cloudFaults(env)),
  ]
}

function developmentFaults(env: Env): string[] {
  const faults: string[] = []
  for (const name of ['QSTASH_CURRENT_SIGNING_KEY', 'QSTASH_NEXT_SIGNING_KEY'] as const) {
    if (developmentSigningKeys.some((beginning) => env[name]?.startsWith(beginning))) {
      faults.push(`${name}: is a public key of QStash's development server`)
    }
  }
  if (isDevelopmentToken(env.QSTASH_TOKEN ?? '')) {
    faults.push("QSTASH_TOKEN: is a public token of QStash's development server")
  }
  if (env.QSTASH_DEV && !env.QSTASH_TOKEN)
    faults.push('QSTASH_DEV: is for development and must not be set in a deployed panel')
  if (env.QSTASH_URL && isUnencrypted(env.QSTASH_URL)) faults.push('QSTASH_URL: must be https')
  if (env.NEON_LOCAL_PROXY && !isLoopback(`http://${env.NEON_LOCAL_PROXY}`)) {
    faults.push('NEON_LOCAL_PROXY: is not encrypted, so it must be on loopback in a deployed panel')
  }
  return faults
}

function demoFaults(env: Env): string[] {
  const places = placesElsewhere(env)
  if (!env.DEMO || places.length === 0) return []
  return [
    `DEMO: must not be true while ${places.join(', ')} ${places.length === 1 ? 'is' : 'are'} not on loopback, since the demo runs game servers on this machine without isolation`,
  ]
}

function processFaults(env: Env): string[] {
  if (processCount(env) === 1) return []
  if (env.DATABASE_URL === undefined)
    return ['PROCESSES: more than one need PostgreSQL; set DATABASE_URL, or leave PROCESSES at 1']
  return [
    ...(env.DEMO ? ['DEMO: is for one process; set PROCESSES to 1, or leave DEMO out'] : []),
    ...(env.CACHE_DRIVER === 'memory'
      ? ['CACHE_DRIVER: memory is for one process; leave it out, or set PROCESSES to 1']
      : []),
  ]
}

function isDevelopmentToken(token: string): boolean {
  try {
    return developmentTokenPattern.test(atob(token))
  } catch {
    return false
  }
}

function cloudFaults(env: Env): string[] {
  const faults = (['APP_URL', 'JOBS_URL'] as const)
    .filter((name) => env[name] !== undefined && isUnencrypted(env[name]))
    .map((name) => `${name}: must be https`)
  const jobs = env.JOBS_URL ? 'JOBS_URL' : 'APP_URL'
  const isLocalQueue = env.QSTASH_URL !== undefined && isLoopback(env.QSTASH_URL)
  if (env[jobs] !== undefined && isLoopback(env[jobs]) && !isLocalQueue) {
    faults.push(`${jobs}: must not be on loopback, where QStash cannot send messages`)
  }
  if (env.DEMO) faults.push('DEMO: only the Node process can create the demo')
  return faults
}
