import type * as z from 'zod'
import { EnvSchema } from './env-schema.ts'
import { presetFaults } from './s3-options.ts'

export type Env = z.output<ReturnType<typeof EnvSchema>>

/** What must come together: one without the other is a mistake. */
export const variableGroups = [
  ['UPSTASH_REDIS_REST_URL', 'UPSTASH_REDIS_REST_TOKEN'],
  ['QSTASH_TOKEN', 'QSTASH_CURRENT_SIGNING_KEY', 'QSTASH_NEXT_SIGNING_KEY'],
  ['S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'],
] as const

/** The environment, checked as a whole. Throws one error that names every variable at fault. */
export function readEnv(raw: Record<string, unknown>): Env {
  const set = Object.fromEntries(
    Object.entries(raw).filter(([, value]) => typeof value === 'string' && value !== ''),
  )
  const result = EnvSchema().safeParse(set)
  const faults = result.success
    ? []
    : result.error.issues.map(({ path, message }) => `  ${path.join('.')}: ${message}`)
  for (const group of variableGroups) {
    const missing = group.filter((name) => !(name in set))
    if (missing.length > 0 && missing.length < group.length) {
      faults.push(
        ...missing.map(
          (name) => `  ${name}: is missing, though ${group.find((other) => other in set)} is set`,
        ),
      )
    }
  }
  if (set.QSTASH_CURRENT_SIGNING_KEY && set.QSTASH_CURRENT_SIGNING_KEY === set.QSTASH_NEXT_SIGNING_KEY) {
    faults.push('  QSTASH_NEXT_SIGNING_KEY: must differ from QSTASH_CURRENT_SIGNING_KEY')
  }
  if (result.success) faults.push(...presetFaults(result.data).map((fault) => `  ${fault}`))
  faults.push(...mailFaults(set))
  if (set.QSTASH_TOKEN && set.QSTASH_DEV) faults.push('  QSTASH_DEV: must not be set beside QSTASH_TOKEN')
  if (!result.success || faults.length > 0) throw new EnvironmentError(faults)
  return result.data
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
