import type * as z from 'zod'
import { type Cloud, deploymentFaults, requiredByClouds } from './deployment-faults.ts'
import { EnvSchema } from './env-schema.ts'
import { presetFaults, usesAwsRole } from './s3-options.ts'

export type Env = z.output<ReturnType<typeof EnvSchema>>

const bucketGroup = ['S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const
/** Variables that must be set together. */
export const variableGroups = [
  ['UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN'],
  ['QSTASH_TOKEN', 'QSTASH_CURRENT_SIGNING_KEY', 'QSTASH_NEXT_SIGNING_KEY'],
  bucketGroup,
] as const

/**
 * Reads the environment of a cloud or of the Node process (null). Throws one `EnvironmentError` that names every invalid
 * variable, and no value.
 */
export function readEnv(raw: Record<string, unknown>, cloud: Cloud | null = null): Env {
  const values = Object.fromEntries(
    Object.entries(raw).filter(([, value]) => typeof value === 'string' && value !== ''),
  )
  const result = EnvSchema().safeParse(values)
  const faults = result.success
    ? []
    : result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  faults.push(...missingFaults(values, cloud), ...queueFaults(values), ...mailFaults(values))
  if (cloud === null) faults.push(...cacheFaults(values))
  if (result.success) faults.push(...presetFaults(result.data), ...deploymentFaults(result.data, cloud))
  if (!result.success || faults.length > 0) throw new EnvironmentError(faults)
  return result.data
}

function missingFaults(values: Record<string, unknown>, cloud: Cloud | null): string[] {
  const faults = new Map<string, string>()
  for (const name of cloud === null ? [] : requiredByClouds) {
    if (!(name in values)) faults.set(name, `${name}: is required here`)
  }
  for (const group of variableGroups) {
    const presentName = group.find((name) => name in values)
    if (presentName === undefined || (group === bucketGroup && cloud === null && usesAwsRole(values)))
      continue
    for (const name of group) {
      if (!(name in values)) faults.set(name, `${name}: is missing, though ${presentName} is set`)
    }
  }
  return [...faults.values()]
}

/** Finds a token and keys of the queue in each other's place; its console shows them side by side. */
function queueFaults(values: Record<string, unknown>): string[] {
  const { QSTASH_TOKEN: token, QSTASH_CURRENT_SIGNING_KEY: current, QSTASH_NEXT_SIGNING_KEY: next } = values
  const faults: string[] = []
  if (current && current === next) {
    faults.push('QSTASH_NEXT_SIGNING_KEY: must differ from QSTASH_CURRENT_SIGNING_KEY')
  }
  if (String(token).startsWith('sig_')) faults.push('QSTASH_TOKEN: is a signing key')
  for (const [name, key] of Object.entries({
    QSTASH_CURRENT_SIGNING_KEY: current,
    QSTASH_NEXT_SIGNING_KEY: next,
  })) {
    // Tokens are JSON in base64.
    if (key && (key === token || String(key).startsWith('eyJ'))) faults.push(`${name}: is a token`)
  }
  if (token && values.QSTASH_DEV) faults.push('QSTASH_DEV: must not be set together with QSTASH_TOKEN')
  return faults
}

/** Finds two caches of the Node process, and one that has no database to be in. */
function cacheFaults(values: Record<string, unknown>): string[] {
  const [chosen, other] = ['REDIS_URL', 'UPSTASH_REDIS_REST_URL', 'CACHE_DRIVER'].filter(
    (name) => name in values,
  )
  if (other !== undefined) return [`${other}: must not be set together with ${chosen}`]
  return values.CACHE_DRIVER === 'database' && !('DATABASE_URL' in values)
    ? ['CACHE_DRIVER: database is for PostgreSQL; set DATABASE_URL, or leave it out']
    : []
}

/** Finds variables that the mail driver lacks, or does not read. */
function mailFaults(values: Record<string, unknown>): string[] {
  const isSmtp = values.MAIL_DRIVER === 'smtp'
  if (isSmtp !== 'SMTP_URL' in values) {
    return [
      isSmtp
        ? 'SMTP_URL: is missing, though MAIL_DRIVER is smtp'
        : 'MAIL_DRIVER: must be smtp when SMTP_URL is set',
    ]
  }
  const dependent = ['MAIL_DRIVER', 'MAIL_HTTP_ENDPOINT'].find((name) => name in values)
  if (isSmtp || !dependent || 'MAIL_HTTP_TOKEN' in values) return []
  return [`MAIL_HTTP_TOKEN: is missing, though ${dependent} is set`]
}

/** The environment is invalid; `faults` has one `NAME: problem` for each. */
export class EnvironmentError extends Error {
  readonly faults: string[]

  constructor(faults: string[]) {
    super(['The environment is invalid:', ...faults.map((fault) => `  ${fault}`)].join('\n'))
    this.name = 'EnvironmentError'
    this.faults = faults
  }
}

/** Returns the value of a variable. Throws an `EnvironmentError` when it is unset. */
export function required<Name extends keyof Env>(env: Env, name: Name): NonNullable<Env[Name]> {
  const value = env[name]
  if (value === undefined || value === null) throw new EnvironmentError([`${name}: is required here`])
  return value as NonNullable<Env[Name]>
}
