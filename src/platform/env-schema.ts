import * as z from 'zod'
import { logLevels } from '../log.ts'
import {
  credential,
  flag,
  keyRing,
  mailbox,
  networks,
  origin,
  positiveInteger,
  timeZone,
  url,
} from './env-values.ts'

/** The functions on Workers and Lambda that read a variable; `Node` when none does. The Node process reads all variables. */
type Reader = 'every function' | 'client' | 'application' | 'remote' | 'browser' | 'jobs' | 'Lambda' | 'Node'

/** The row of a variable in `docs/configuration.md`, which `npm run config-reference` writes. */
export type VariableNote = {
  description: string
  readBy: Reader[]
  /** The format of a value, where it does not follow from the schema. */
  valueFormat?: string
  /** The behaviour without a value, where the schema has no default. */
  unset?: string
}

const describeVariable = (
  description: string,
  readBy: Reader | Reader[],
  options: Pick<VariableNote, 'valueFormat' | 'unset'> = {},
): VariableNote => ({ description, readBy: [readBy].flat(), ...options })

const everyFunction = 'every function'
const objectStoreReaders: Reader[] = ['client', 'remote', 'jobs']
const credentialFormat = 'text without spaces and quotes'

/** The environment variables. Empty strings count as unset. */
export const EnvSchema = () =>
  z.object({
    APP_URL: origin()
      .optional()
      .meta(
        describeVariable('Origin at which browsers and daemons reach the panel.', everyFunction, {
          unset: '`http://localhost:PORT`; `http://HOST:PORT` where `HOST` is one address',
        }),
      ),
    APP_NAME: z
      .string()
      .default('Roost')
      .meta(
        describeVariable('Name of the panel in pages and mails.', everyFunction, { valueFormat: 'text' }),
      ),
    APP_TIMEZONE: timeZone()
      .default('UTC')
      .meta(
        describeVariable('Time zone of schedules that name none.', 'client', {
          valueFormat: 'IANA name such as `Europe/Berlin`',
        }),
      ),
    APP_KEYS: keyRing()
      .optional()
      .meta(
        describeVariable(
          'Keys of stored secrets. The first one encrypts, all of them decrypt.',
          everyFunction,
          {
            valueFormat:
              '`<id>:<32 bytes in base64>`, newest first, separated by commas; an id has letters, digits and `_`',
            unset: 'generated once, in `DATA_DIR/secrets.json`',
          },
        ),
      ),
    DATABASE_URL: z
      .url({ protocol: /^postgres(?:ql)?$/, error: 'must be a postgres:// URL' })
      .optional()
      .meta(
        describeVariable('PostgreSQL 15 or newer with `pg_trgm`.', everyFunction, {
          valueFormat: '`postgres://…` or `postgresql://…`',
          unset: 'PGlite in `DATA_DIR/database`',
        }),
      ),
    DATABASE_DRIVER: z
      .enum(['postgres', 'neon'])
      .default('postgres')
      .meta(
        describeVariable(
          '`neon` connects to Neon over WebSockets, `postgres` to any PostgreSQL over TCP. Workers and Lambda always use Neon.',
          'Node',
        ),
      ),
    DATABASE_POOL_SIZE: positiveInteger()
      .default(10)
      .meta(
        describeVariable(
          'Maximum number of connections of one process to the database. `serverless.yml` sets 2; Workers have no pool.',
          ['Lambda', 'Node'],
        ),
      ),
    NEON_LOCAL_PROXY: z
      .string()
      .regex(/^[\w.-]+:\d{1,5}$/, 'must be host:port')
      .optional()
      .meta(
        describeVariable(
          "Proxy with Neon's HTTP and WebSocket protocols in front of a PostgreSQL, without encryption: for tests and local development only. Refused when neither it nor `APP_URL` is on loopback.",
          everyFunction,
          { valueFormat: '`host:port`', unset: 'Neon itself' },
        ),
      ),
    UPSTASH_REDIS_REST_URL: url()
      .optional()
      .meta(describeVariable('URL of the cache.', everyFunction, { unset: 'a map of the process' })),
    UPSTASH_REDIS_REST_TOKEN: credential()
      .optional()
      .meta(
        describeVariable('Token of the cache.', everyFunction, {
          valueFormat: credentialFormat,
          unset: 'a map of the process',
        }),
      ),
    QSTASH_URL: url()
      .optional()
      .meta(describeVariable('URL of the queue.', everyFunction, { unset: "QStash's own" })),
    QSTASH_TOKEN: credential()
      .optional()
      .meta(
        describeVariable('Token of the queue.', everyFunction, {
          valueFormat: credentialFormat,
          unset: 'a queue of the process',
        }),
      ),
    QSTASH_CURRENT_SIGNING_KEY: credential()
      .optional()
      .meta(
        describeVariable('Key with which the queue signs its messages.', everyFunction, {
          valueFormat: credentialFormat,
          unset: 'a queue of the process',
        }),
      ),
    QSTASH_NEXT_SIGNING_KEY: credential()
      .optional()
      .meta(
        describeVariable(
          'Key with which the queue signs after the next rotation of its keys; must differ from the current one.',
          everyFunction,
          {
            valueFormat: credentialFormat,
            unset: 'a queue of the process',
          },
        ),
      ),
    JOBS_URL: origin()
      .optional()
      .meta(
        describeVariable('Public origin of the jobs function, which the queue calls.', everyFunction, {
          unset: '`APP_URL`',
        }),
      ),
    S3_PRESET: z
      .enum(['aws', 'r2', 'b2', 'minio'])
      .optional()
      .meta(
        describeVariable(
          'Service of the object store: gives endpoint, region and URL style where they are not set.',
          objectStoreReaders,
          { unset: 'another service' },
        ),
      ),
    S3_BUCKET: z
      .string()
      .optional()
      .meta(
        describeVariable('Bucket of the object store.', objectStoreReaders, {
          valueFormat: 'text',
          unset: 'folder `DATA_DIR/objects` of the process; none on Workers and Lambda',
        }),
      ),
    S3_REGION: z
      .string()
      .optional()
      .meta(
        describeVariable('Region of the bucket.', objectStoreReaders, {
          valueFormat: 'text',
          unset: 'from `S3_PRESET`',
        }),
      ),
    S3_ENDPOINT: url()
      .optional()
      .meta(
        describeVariable('URL of the object store.', objectStoreReaders, {
          unset: 'from `S3_PRESET`',
        }),
      ),
    S3_ACCESS_KEY_ID: z
      .string()
      .optional()
      .meta(
        describeVariable('Access key of the object store.', objectStoreReaders, {
          valueFormat: 'text',
          unset: 'as `S3_BUCKET`',
        }),
      ),
    S3_SECRET_ACCESS_KEY: z
      .string()
      .optional()
      .meta(
        describeVariable('Secret of the access key.', objectStoreReaders, {
          valueFormat: 'text',
          unset: 'as `S3_BUCKET`',
        }),
      ),
    S3_PATH_STYLE: flag()
      .optional()
      .meta(
        describeVariable(
          'Whether URLs have the bucket in their path rather than in their host.',
          objectStoreReaders,
          {
            unset: 'from `S3_PRESET`',
          },
        ),
      ),
    MAIL_DRIVER: z
      .enum(['resend', 'postmark', 'smtp'])
      .optional()
      .meta(
        describeVariable(
          'How mail is sent. `resend` and `postmark` are HTTP APIs and require `MAIL_HTTP_TOKEN`; `smtp` requires `SMTP_URL` and is not available on Workers.',
          'jobs',
          {
            unset:
              '`resend` when `MAIL_HTTP_TOKEN` is set; otherwise files in `DATA_DIR/outbox`, which administrators see at `/outbox`; no mail on Workers and Lambda',
          },
        ),
      ),
    MAIL_HTTP_ENDPOINT: url()
      .optional()
      .meta(
        describeVariable("URL of another service with the provider's API.", 'jobs', {
          unset: "the provider's own",
        }),
      ),
    MAIL_HTTP_TOKEN: credential()
      .optional()
      .meta(
        describeVariable('Token of the provider.', 'jobs', {
          valueFormat: credentialFormat,
          unset: 'as `MAIL_DRIVER`',
        }),
      ),
    SMTP_URL: z
      .url({ protocol: /^smtps?$/ })
      .optional()
      .meta(
        describeVariable('URL of the mail server.', 'jobs', {
          valueFormat:
            '`smtp://` or `smtps://`, with user name, password and port where the server needs them',
          unset: 'none',
        }),
      ),
    MAIL_FROM: mailbox()
      .prefault('Roost <panel@localhost>')
      .meta(
        describeVariable(
          'Sender of mails, unless the settings `mail.from_name` and `mail.from_address` override it.',
          'jobs',
          {
            valueFormat: '`Name <address>`, or an address',
          },
        ),
      ),
    CLIENT_RATE_LIMIT: positiveInteger()
      .default(720)
      .meta(describeVariable('Requests per minute of one user to the Client API.', 'client')),
    APPLICATION_RATE_LIMIT: positiveInteger()
      .default(240)
      .meta(
        describeVariable('Requests per minute of one administrator to the Application API.', 'application'),
      ),
    HOST: z
      .string()
      .optional()
      .meta(
        describeVariable(
          'Address on which the process listens. With `0.0.0.0` or `::` also set `APP_URL` to the address that browsers use.',
          'Node',
          {
            valueFormat: 'address or host name',
            unset: '`127.0.0.1` and, where it exists, `::1`',
          },
        ),
      ),
    PORT: z.coerce
      .number()
      .int()
      .min(0)
      .max(65535)
      .default(8080)
      .meta(describeVariable('Port on which the process listens; 0 is any free port.', 'Node')),
    DATA_DIR: z
      .string()
      .default('.data')
      .meta(describeVariable('Folder in which the process keeps its data.', 'Node', { valueFormat: 'path' })),
    DEMO: flag()
      .optional()
      .meta(
        describeVariable(
          'Whether the process creates a demo in an empty database and runs a development daemon for it, which runs game servers on this machine without isolation: for trying only. `false` leaves it to the set-up page, which offers it where it is safe. `true` is refused on Workers and Lambda, and where it is not the default.',
          'Node',
          {
            unset:
              '`true` where `APP_URL`, `HOST`, `DATABASE_URL` and `NEON_LOCAL_PROXY` are on loopback or unset; `false` elsewhere',
          },
        ),
      ),
    TRUSTED_PROXIES: z.coerce
      .number()
      .int()
      .min(0)
      .default(0)
      .meta(
        describeVariable(
          'Number of proxies in front of the process whose `X-Forwarded-For` entries are trusted.',
          'Node',
        ),
      ),
    FETCH_ALLOWED_NETWORKS: networks()
      .default([])
      .meta(
        describeVariable(
          'Networks outside the public internet from which administrators can import by URL.',
          'application',
          { valueFormat: 'addresses or CIDR ranges, separated by commas', unset: 'none' },
        ),
      ),
    LOG_LEVEL: z
      .enum(logLevels)
      .default('info')
      .meta(describeVariable('Lowest level that is logged; `off` logs nothing.', everyFunction)),
    METRICS_TOKEN: z
      .string()
      .regex(/^\S{16,}$/, 'must have at least 16 characters and no spaces')
      .optional()
      .meta(
        describeVariable('Bearer token of `/metrics`.', 'client', {
          valueFormat: 'at least 16 characters without spaces',
          unset: '`/metrics` answers 404',
        }),
      ),
    SETUP_CODE: z
      .string()
      .regex(/^\S{12,255}$/, 'must have at least 12 characters and no spaces')
      .optional()
      .meta(
        describeVariable('Code with which the first administrator is created in the browser.', 'browser', {
          valueFormat: 'at least 12 characters without spaces',
          unset:
            'the Node process prints one at its start while there are no users; `npm run panel -- setup:code` does, too',
        }),
      ),
    QSTASH_DEV: z
      .string()
      .optional()
      .meta(
        describeVariable(
          "Set by QStash's development server, whose keys are public. Refused together with `QSTASH_TOKEN`, and when `APP_URL` is not on loopback.",
          everyFunction,
          { valueFormat: 'must be unset', unset: 'as required' },
        ),
      ),
  })
