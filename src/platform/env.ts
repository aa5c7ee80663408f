import type * as z from 'zod'
import { EnvSchema } from './env-schema.ts'
import { presetFaults } from './s3-options.ts'
import { type Cloud, neededByClouds, stageFaults } from './stage.ts'

export type Env = z.output<ReturnType<typeof EnvSchema>>

/** What must come together: one without the other is a mistake. */
export const variableGroups = [
  ['UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN'],
  ['QSTASH_TOKEN', 'QSTASH_CURRENT_SIGNING_KEY', 'QSTASH_NEXT_SIGNING_KEY'],
  ['S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'],
] as const

/**
 * The environment, checked as a whole, for a cloud or the Node process (null). Throws one error that names every
 * variable at fault, and the value of none.
 */
export function readEnv(raw: Record<string, unknown>, cloud: Cloud | null = null): Env {
  const set = Object.fromEntries(
    Object.entries(raw).filter(([, value]) => typeof value === 'string' && value !== ''),
  )
  const result = EnvSchema().safeParse(set)
  const faults = result.success
    ? []
    : result.error.issues.map(({ path, message }) => `  ${path.join('.')}: ${message}`)
  faults.push(...missingFaults(set, cloud), ...queueFaults(set), ...mailFaults(set))
  if (result.success) {
    const further = [...presetFaults(result.data), ...stageFaults(result.data, cloud)]
    faults.push(...further.map((fault) => `  ${fault}`))
  }
  if (!result.success || faults.length > 0) throw new EnvironmentError(faults)
  return result.data
}

function missingFaults(set: Record<string, unknown>, cloud: Cloud | null): string[] {
  const faults = new Map<string, string>()
  for (const name of cloud === null ? [] : neededByClouds) {
    if (!(name in set)) faults.set(name, `  ${name}: is required here`)
  }
  for (const group of variableGroups) {
    const given = group.find((name) => name in set)
    if (given === undefined) continue
    for (const name of group) {
      if (!(name in set)) faults.set(name, `  ${name}: is missing, though ${given} is set`)
    }
  }
  return [...faults.values()]
}

/** Keys and token of the queue look alike where they are copied from, and each in the place of another opens a door or none. */
function queueFaults(set: Record<string, unknown>): string[] {
  const { QSTASH_TOKEN: token, QSTASH_CURRENT_SIGNING_KEY: current, QSTASH_NEXT_SIGNING_KEY: next } = set
  const faults: string[] = []
  if (current && current === next) {
    faults.push('  QSTASH_NEXT_SIGNING_KEY: must differ from QSTASH_CURRENT_SIGNING_KEY')
  }
  if (String(token).startsWith('sig_')) faults.push('  QSTASH_TOKEN: is a signing key')
  for (const [name, key] of Object.entries({
    QSTASH_CURRENT_SIGNING_KEY: current,
    QSTASH_NEXT_SIGNING_KEY: next,
  })) {
    // A token is JSON in base64.
    if (key && (key === token || String(key).startsWith('eyJ'))) faults.push(`  ${name}: is a token`)
  }
  if (token && set.QSTASH_DEV) faults.push('  QSTASH_DEV: must not be set beside QSTASH_TOKEN')
  return faults
}

/** What a driver needs must be there, and nothing that only another one reads. */
function mailFaults(set: Record<string, unknown>): string[] {
  const isSmtp = set.MAIL_DRIVER === 'smtp'
  if (isSmtp !== 'SMTP_URL' in set) {
    return [
      isSmtp
        ? '  SMTP_URL: is missing, though MAIL_DRIVER is smtp'
        : '  MAIL_DRIVER: must be smtp for SMTP_URL',
    ]
  }
  const wanting = ['MAIL_DRIVER', 'MAIL_HTTP_ENDPOINT'].find((name) => name in set)
  if (isSmtp || !wanting || 'MAIL_HTTP_TOKEN' in set) return []
  return [`  MAIL_HTTP_TOKEN: is missing, though ${wanting} is set`]
}

/** The environment is not fit to start with. */
export class EnvironmentError extends Error {
  readonly faults: string[]

  constructor(faults: string[]) {
    super(
      `The environment has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.join('\n')}`,
    )
    this.name = 'EnvironmentError'
    this.faults = faults.map((fault) => fault.trim())
  }
}

/** The value of a variable a deployed stage cannot do without. Throws when it is unset. */
export function required<Name extends keyof Env>(env: Env, name: Name): NonNullable<Env[Name]> {
  const value = env[name]
  if (value === undefined || value === null) throw new EnvironmentError([`  ${name}: is required here`])
  return value as NonNullable<Env[Name]>
}
