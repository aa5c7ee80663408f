import * as z from 'zod'
import { logLevels } from '../log.ts'
import { count, credential, flag, keyRing, mailbox, origin, timeZone, url } from './env-values.ts'

/** Who reads a variable beside the Node process, which reads all of them: functions on Workers and Lambda, or nobody. */
type Reader = 'every function' | 'client' | 'application' | 'remote' | 'browser' | 'jobs' | 'Lambda' | 'Node'

/** What `docs/configuration.md` says of a variable, as `npm run config-reference` writes it. */
export type VariableNote = {
  /** One sentence, or a few. */
  description: string
  readBy: Reader[]
  /** How a value is written, where the schema cannot say it. */
  form?: string
  /** What holds without a value, where the schema has no default. */
  unset?: string
}

const note = (
  description: string,
  readBy: Reader | Reader[],
  more: Pick<VariableNote, 'form' | 'unset'> = {},
): VariableNote => ({ description, readBy: [readBy].flat(), ...more })

const everyFunction = 'every function'
const withObjects: Reader[] = ['client', 'remote', 'jobs']

/** What an operator can set. Empty strings count as unset. */
export const EnvSchema = () =>
  z.object({
    APP_URL: origin()
      .optional()
      .meta(
        note('Origin under which browsers and daemons reach the panel.', everyFunction, {
          unset: '`http://HOST:PORT`',
        }),
      ),
    APP_NAME: z
      .string()
      .default('Roost')
      .meta(note('Name of the panel, in pages and mails.', everyFunction, { form: 'text' })),
    APP_TIMEZONE: timeZone()
      .default('UTC')
      .meta(
        note('Time zone of schedules that name none.', 'client', {
          form: 'IANA name, as in `Europe/Berlin`',
        }),
      ),
    APP_KEYS: keyRing()
      .optional()
      .meta(
        note('Keys that seal stored secrets. The first one seals, all of them open.', everyFunction, {
          form: '`<id>:<32 bytes in base64>`, newest first, joined by commas; an id is of letters, digits and `_`',
          unset: 'made once, in `DATA_DIR/secrets.json`',
        }),
      ),
    DATABASE_URL: z
      .url({ protocol: /^postgres(?:ql)?$/, error: 'must be a postgres:// address' })
      .optional()
      .meta(
        note('PostgreSQL 15 or newer with `pg_trgm`.', everyFunction, {
          form: '`postgres://…` or `postgresql://…`',
          unset: 'PGlite in `DATA_DIR/database`',
        }),
      ),
    DATABASE_DRIVER: z
      .enum(['postgres', 'neon'])
      .default('postgres')
      .meta(
        note(
          '`neon` speaks to Neon over WebSockets, `postgres` to any PostgreSQL over TCP. Workers and Lambda always speak to Neon.',
          'Node',
        ),
      ),
    DATABASE_POOL_SIZE: count()
      .default(10)
      .meta(
        note('Connections of one process to the database. `serverless.yml` sets 2; Workers keep none.', [
          'Lambda',
          'Node',
        ]),
      ),
    NEON_LOCAL_PROXY: z
      .string()
      .regex(/^[\w.-]+:\d{1,5}$/, 'must be host:port')
      .optional()
      .meta(
        note(
          "Stand-in that speaks Neon's HTTP and WebSocket protocols in front of a PostgreSQL. It is spoken to without encryption: for tests and local development only, and refused off loopback wherever `APP_URL` is.",
          everyFunction,
          { form: '`host:port`', unset: 'Neon itself' },
        ),
      ),
    UPSTASH_REDIS_REST_URL: url()
      .optional()
      .meta(note('The cache.', everyFunction, { unset: 'a map of the process' })),
    UPSTASH_REDIS_REST_TOKEN: credential()
      .optional()
      .meta(
        note('Token of the cache.', everyFunction, {
          form: 'text without blanks and quotes',
          unset: 'a map of the process',
        }),
      ),
    QSTASH_URL: url()
      .optional()
      .meta(note('Address of the queue.', everyFunction, { unset: "QStash's own" })),
    QSTASH_TOKEN: credential()
      .optional()
      .meta(
        note('Token of the queue.', everyFunction, {
          form: 'text without blanks and quotes',
          unset: 'a queue of the process',
        }),
      ),
    QSTASH_CURRENT_SIGNING_KEY: credential()
      .optional()
      .meta(
        note('Key by which the queue signs its messages.', everyFunction, {
          form: 'text without blanks and quotes',
          unset: 'a queue of the process',
        }),
      ),
    QSTASH_NEXT_SIGNING_KEY: credential()
      .optional()
      .meta(
        note(
          'Key by which it will sign once the keys are rolled; must differ from the current one.',
          everyFunction,
          {
            form: 'text without blanks and quotes',
            unset: 'a queue of the process',
          },
        ),
      ),
    JOBS_URL: origin()
      .optional()
      .meta(
        note('Public origin of the jobs function, which the queue calls.', everyFunction, {
          unset: '`APP_URL`',
        }),
      ),
    S3_PRESET: z
      .enum(['aws', 'r2', 'b2', 'minio'])
      .optional()
      .meta(
        note(
          'Which service the object store is: endpoint, region and style of addresses follow from it where they are not set.',
          withObjects,
          { unset: 'one that is none of them' },
        ),
      ),
    S3_BUCKET: z
      .string()
      .optional()
      .meta(
        note('Bucket of the object store.', withObjects, {
          form: 'text',
          unset: 'S3 service of the process over `DATA_DIR/objects`; none on Workers and Lambda',
        }),
      ),
    S3_REGION: z
      .string()
      .optional()
      .meta(note('Region of the bucket.', withObjects, { form: 'text', unset: 'as `S3_PRESET` says' })),
    S3_ENDPOINT: url()
      .optional()
      .meta(note('Address of the object store.', withObjects, { unset: 'as `S3_PRESET` says' })),
    S3_ACCESS_KEY_ID: z
      .string()
      .optional()
      .meta(note('Access key of the object store.', withObjects, { form: 'text', unset: 'as `S3_BUCKET`' })),
    S3_SECRET_ACCESS_KEY: z
      .string()
      .optional()
      .meta(note('Secret of that access key.', withObjects, { form: 'text', unset: 'as `S3_BUCKET`' })),
    S3_PATH_STYLE: flag()
      .optional()
      .meta(
        note('Whether the bucket stands in the path of addresses rather than in the host.', withObjects, {
          unset: 'as `S3_PRESET` says',
        }),
      ),
    MAIL_DRIVER: z
      .enum(['resend', 'postmark', 'smtp'])
      .optional()
      .meta(
        note(
          'How mail leaves. `resend` and `postmark` are HTTP APIs, for which `MAIL_HTTP_TOKEN` is needed; `smtp` needs `SMTP_URL` and is refused on Workers.',
          'jobs',
          {
            unset:
              '`resend` where `MAIL_HTTP_TOKEN` is set; else files in `DATA_DIR/outbox`, shown to administrators at `/outbox`, and none on Workers and Lambda',
          },
        ),
      ),
    MAIL_HTTP_ENDPOINT: url()
      .optional()
      .meta(note("Address of a service with the provider's API.", 'jobs', { unset: "the provider's own" })),
    MAIL_HTTP_TOKEN: credential()
      .optional()
      .meta(
        note('Token at the provider.', 'jobs', {
          form: 'text without blanks and quotes',
          unset: 'as `MAIL_DRIVER`',
        }),
      ),
    SMTP_URL: z
      .url({ protocol: /^smtps?$/ })
      .optional()
      .meta(
        note('The mail server.', 'jobs', {
          form: '`smtp://` or `smtps://`, with name, password and port where the server asks for them',
          unset: 'none',
        }),
      ),
    MAIL_FROM: mailbox()
      .prefault('Roost <panel@localhost>')
      .meta(
        note(
          'Sender of mails, unless the settings `mail.from_name` and `mail.from_address` name another.',
          'jobs',
          {
            form: '`Name <address>`, or an address',
          },
        ),
      ),
    CLIENT_RATE_LIMIT: count()
      .default(720)
      .meta(note('Requests a minute of one person to the Client API.', 'client')),
    APPLICATION_RATE_LIMIT: count()
      .default(240)
      .meta(note('Requests a minute of one administrator to the Application API.', 'application')),
    HOST: z
      .string()
      .default('127.0.0.1')
      .meta(note('Address on which the process listens.', 'Node', { form: 'address or host name' })),
    PORT: z.coerce
      .number()
      .int()
      .min(0)
      .max(65535)
      .default(8080)
      .meta(note('Port on which the process listens; 0 takes a free one.', 'Node')),
    DATA_DIR: z
      .string()
      .default('.data')
      .meta(note('Folder in which the process keeps its data.', 'Node', { form: 'path' })),
    DEMO: flag()
      .optional()
      .meta(
        note(
          'Whether an empty database is seeded with a demo, and a development daemon run for it; refused where it is on and there is no Node process.',
          'Node',
          {
            unset: '`true`',
          },
        ),
      ),
    TRUSTED_PROXIES: z.coerce
      .number()
      .int()
      .min(0)
      .default(0)
      .meta(note('Proxies in front of the process whose `X-Forwarded-For` entry is believed.', 'Node')),
    LOG_LEVEL: z
      .enum(logLevels)
      .default('info')
      .meta(note('The slightest lines that are logged; `off` for none.', everyFunction)),
    METRICS_TOKEN: z
      .string()
      .regex(/^\S{16,}$/, 'must have at least 16 characters and no blanks')
      .optional()
      .meta(
        note('Opens `/metrics` to whoever sends it as a bearer token.', 'client', {
          form: 'at least 16 characters without blanks',
          unset: '`/metrics` answers 404',
        }),
      ),
    QSTASH_DEV: z
      .string()
      .optional()
      .meta(
        note(
          "Set by QStash's development server, whose keys are public; refused beside `QSTASH_TOKEN` and wherever `APP_URL` is not on loopback.",
          everyFunction,
          { form: 'unset', unset: 'as it should be' },
        ),
      ),
  })
