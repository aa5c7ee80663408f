import * as z from 'zod'
import type { Mailbox } from '../adapters/mail.ts'
import { presetFaults } from './s3-options.ts'

const url = () => z.url({ protocol: /^https?$/ })
const origin = () => url().transform((value) => new URL(value).origin)
const flag = () => z.enum(['true', 'false', '1', '0']).transform((value) => value === 'true' || value === '1')
/** `Name <address>`, or an address alone. */
const mailbox = () =>
  z
    .string()
    .regex(/^(?:[^\p{Cc}<>]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u, 'must be Name <address>')
    .transform((text): Mailbox => {
      const [name = '', address = ''] = text.includes('<') ? text.split(/[<>]/) : ['', text]
      return { name: name.trim().replace(/^"(.*)"$/, '$1'), address }
    })
const count = () => z.coerce.number().int().min(1)
/** With a key of blanks everybody could sign. */
const signingKey = () => z.string().regex(/^\S+$/, 'must not contain blanks')

/** What an operator can set. Empty strings count as unset. */
const EnvSchema = () =>
  z.object({
    /** Origin under which browsers and daemons reach the panel. */
    APP_URL: origin().optional(),
    APP_NAME: z.string().default('Roost'),
    APP_TIMEZONE: z.string().default('UTC'),
    /** Keys that seal stored secrets: `<id>:<32 bytes in base64>`, newest first, joined by commas. */
    APP_KEYS: z.string().optional(),
    /** Region → origin of its remote function, as JSON. */
    REGIONAL_URLS: z
      .string()
      .transform((text, context) => {
        try {
          return z.record(z.string(), origin()).parse(JSON.parse(text))
        } catch {
          context.issues.push({
            code: 'custom',
            input: text,
            message: 'must be a JSON object of region → URL',
          })
          return z.NEVER
        }
      })
      .default({}),
    DATABASE_URL: z.string().startsWith('postgres').optional(),
    /** `neon` speaks to Neon over HTTP and WebSocket, `postgres` over TCP. */
    DATABASE_DRIVER: z.enum(['postgres', 'neon']).default('postgres'),
    DATABASE_POOL_SIZE: count().default(10),
    /**
     * `host:port` of a stand-in that speaks Neon's HTTP and WebSocket protocols in front of a PostgreSQL
     * of your own. It is spoken to without encryption: for tests and local development only.
     */
    NEON_LOCAL_PROXY: z
      .string()
      .regex(/^[\w.-]+:\d{1,5}$/, 'must be host:port')
      .optional(),
    UPSTASH_REDIS_REST_URL: url().optional(),
    UPSTASH_REDIS_REST_TOKEN: z.string().optional(),
    QSTASH_URL: url().optional(),
    QSTASH_TOKEN: z.string().optional(),
    QSTASH_CURRENT_SIGNING_KEY: signingKey().optional(),
    QSTASH_NEXT_SIGNING_KEY: signingKey().optional(),
    /** Public origin of the jobs function; the panel's own when unset. */
    JOBS_URL: origin().optional(),
    /** Which service it is: endpoint, region and style of addresses follow from it where they are not set. */
    S3_PRESET: z.enum(['aws', 'r2', 'b2', 'minio']).optional(),
    S3_BUCKET: z.string().optional(),
    S3_REGION: z.string().optional(),
    S3_ENDPOINT: url().optional(),
    S3_ACCESS_KEY_ID: z.string().optional(),
    S3_SECRET_ACCESS_KEY: z.string().optional(),
    S3_PATH_STYLE: flag().optional(),
    /** `resend` and `postmark` are HTTP APIs, for which MAIL_HTTP_TOKEN is needed; `smtp` needs SMTP_URL. */
    MAIL_DRIVER: z.enum(['resend', 'postmark', 'smtp']).optional(),
    /** The provider's own when unset. */
    MAIL_HTTP_ENDPOINT: url().optional(),
    MAIL_HTTP_TOKEN: z.string().optional(),
    /** `smtp://` or `smtps://`, with name, password and port where the server asks for them. */
    SMTP_URL: z.url({ protocol: /^smtps?$/ }).optional(),
    MAIL_FROM: mailbox().prefault('Roost <panel@localhost>'),
    CLIENT_RATE_LIMIT: count().default(720),
    APPLICATION_RATE_LIMIT: count().default(240),
    HOST: z.string().default('127.0.0.1'),
    PORT: z.coerce.number().int().min(0).max(65535).default(8080),
    DATA_DIR: z.string().default('.data'),
    /** Whether the Node process seeds an empty database with a demo and runs a development daemon for it. */
    DEMO: flag().default(true),
    /** Proxies in front of the Node process whose X-Forwarded-For entry is believed. */
    TRUSTED_PROXIES: z.coerce.number().int().min(0).default(0),
    /** Set by the QStash development server; deployed stages refuse it. */
    QSTASH_DEV: z.string().optional(),
  })

export type Env = z.output<ReturnType<typeof EnvSchema>>

/** What must come together: one without the other is a mistake. */
const groups = [
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
  for (const group of groups) {
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
  constructor(faults: string[]) {
    super(
      `The environment has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.join('\n')}`,
    )
    this.name = 'EnvironmentError'
  }
}

/** The value of a variable a deployed stage cannot do without. Throws when it is unset. */
export function required<Name extends keyof Env>(env: Env, name: Name): NonNullable<Env[Name]> {
  const value = env[name]
  if (value === undefined || value === null) throw new EnvironmentError([`  ${name}: is required here`])
  return value as NonNullable<Env[Name]>
}
