import { isLoopbackHost } from '../addresses.ts'
import type { Env } from './env.ts'

export type Cloud = 'workers' | 'lambda'

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

/**
 * Signing keys of QStash's development server: with them anybody signs. Those of its four users, and of the first one
 * in its older versions. https://upstash.com/docs/qstash/howto/local-development
 */
const publicSigningKeys = [
  'sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r',
  'sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs',
  'sig_7GVPjvuwsfqF65iC8fSrs1dfYruM',
  'sig_5NoELc3EFnZn4DVS5bDs2Nk4b7Ua',
  'sig_6jWGaWRxHsw4vMSPJprXadyvrybF',
  'sig_7qHbvhmahe5GwfePDiS5Lg3pi6Qx',
  'sig_5T8FcSsynBjn9mMLBsXhpacRovJf',
  'sig_7GFR4YaDshFcqsxWRZpRB161jguD',
  'sig_7RvLjqfZBvP5KEUimQCE1pvpLuou',
  'sig_7W3ZNbfKWk5NWwEs3U4ixuQ7fxwE',
]
/** Its tokens are names and passwords of users called so, in base64. */
const publicUsers = /^\{"UserID":"(?:defaultUser|testUser\d)",/

/** Whether an address leads to the machine that asks. */
const isLoopback = (address: string) => isLoopbackHost(new URL(address).hostname)
/** Whether others could read, on its way, what is sent to an address. */
const isOpen = (address: string) => new URL(address).protocol === 'http:' && !isLoopback(address)

/**
 * What an environment must not have for the stage it is: what is made for development alone once others reach the
 * panel, and on clouds what cannot work or is not safe there. `cloud` null is the Node process.
 */
export function stageFaults(env: Env, cloud: Cloud | null): string[] {
  const isDeployed = env.APP_URL !== undefined && !isLoopback(env.APP_URL)
  return [...(isDeployed ? developmentFaults(env) : []), ...(cloud === null ? [] : cloudFaults(env))]
}

function developmentFaults(env: Env): string[] {
  const faults: string[] = []
  for (const name of ['QSTASH_CURRENT_SIGNING_KEY', 'QSTASH_NEXT_SIGNING_KEY'] as const) {
    if (publicSigningKeys.includes(env[name] ?? '')) {
      faults.push(`${name}: everybody knows this key of QStash's development server`)
    }
  }
  if (isPublicToken(env.QSTASH_TOKEN ?? '')) {
    faults.push("QSTASH_TOKEN: everybody knows this token of QStash's development server")
  }
  if (env.QSTASH_DEV && !env.QSTASH_TOKEN)
    faults.push('QSTASH_DEV: is for development, and must not be set in a deployed panel')
  if (env.QSTASH_URL && isOpen(env.QSTASH_URL)) faults.push('QSTASH_URL: must be https')
  if (env.NEON_LOCAL_PROXY && !isLoopback(`http://${env.NEON_LOCAL_PROXY}`)) {
    faults.push(
      'NEON_LOCAL_PROXY: is spoken to without encryption, so a deployed panel takes it on loopback alone',
    )
  }
  return faults
}

function isPublicToken(token: string): boolean {
  try {
    return publicUsers.test(atob(token))
  } catch {
    return false
  }
}

function cloudFaults(env: Env): string[] {
  const faults = (['APP_URL', 'JOBS_URL'] as const)
    .filter((name) => env[name] !== undefined && isOpen(env[name]))
    .map((name) => `${name}: must be https`)
  const jobs = env.JOBS_URL ? 'JOBS_URL' : 'APP_URL'
  const isLocalQueue = env.QSTASH_URL !== undefined && isLoopback(env.QSTASH_URL)
  if (env[jobs] !== undefined && isLoopback(env[jobs]) && !isLocalQueue) {
    faults.push(`${jobs}: QStash cannot send messages to an address of its own machine`)
  }
  if (env.DEMO) faults.push('DEMO: only the Node process makes a demo')
  return faults
}
