import type { Env } from './env.ts'

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

/** What each variable is for: apart from the schema, since functions need only that. */
export const variableNotes: Record<keyof Env, VariableNote> = {
  APP_URL: describeVariable('Origin at which browsers and daemons reach the panel.', everyFunction, {
    unset: '`http://localhost:PORT`; `http://HOST:PORT` where `HOST` is one address',
  }),
  APP_NAME: describeVariable('Name of the panel in pages and mails.', everyFunction, { valueFormat: 'text' }),
  APP_TIMEZONE: describeVariable('Time zone of schedules that name none.', 'client', {
    valueFormat: 'IANA name such as `Europe/Berlin`',
  }),
  APP_KEYS: describeVariable(
    'Keys of stored secrets. The first one encrypts, all of them decrypt.',
    everyFunction,
    {
      valueFormat:
        '`<id>:<32 bytes in base64>`, newest first, separated by commas; an id has letters, digits and `_`',
      unset: 'generated once, in `DATA_DIR/secrets.json`',
    },
  ),
  DATABASE_URL: describeVariable(
    'PostgreSQL 15 or newer with `pg_trgm`. With `auth=iam` among its parameters a role of RDS signs in by IAM.',
    everyFunction,
    {
      valueFormat: '`postgres://…` or `postgresql://…`',
      unset: 'PGlite in `DATA_DIR/database`',
    },
  ),
  DATABASE_DRIVER: describeVariable(
    '`neon` connects to Neon by its own protocols, `postgres` to any PostgreSQL over TCP: RDS and Aurora from Lambda, and what the binding `HYPERDRIVE` or `DATABASE_URL` names from Workers.',
    everyFunction,
    { unset: '`postgres` on Node and with the binding `HYPERDRIVE`, `neon` on Workers and Lambda' },
  ),
  DATABASE_POOL_SIZE: describeVariable(
    'Maximum number of connections of one process to the database. `serverless.yml` sets 2; Workers have no pool.',
    ['Lambda', 'Node'],
  ),
  DATABASE_WAIT_SECONDS: describeVariable(
    'Seconds for which a start waits for a PostgreSQL that does not answer yet, before it ends with 1.',
    'Node',
  ),
  NEON_LOCAL_PROXY: describeVariable(
    "Proxy with Neon's HTTP and WebSocket protocols in front of a PostgreSQL, without encryption: for tests and local development only. Refused when neither it nor `APP_URL` is on loopback.",
    everyFunction,
    { valueFormat: '`host:port`', unset: 'Neon itself' },
  ),
  UPSTASH_REDIS_REST_URL: describeVariable('URL of the cache.', everyFunction, {
    unset: 'a map of the process',
  }),
  UPSTASH_REDIS_REST_TOKEN: describeVariable('Token of the cache.', everyFunction, {
    valueFormat: credentialFormat,
    unset: 'a map of the process',
  }),
  REDIS_URL: describeVariable(
    'Redis or Valkey over TCP as the cache, in place of Upstash: a server, the sentinels that know its master, or nodes of a cluster. Credentials stand before the hosts (`user:password@`), the number of the database at the end (`/0`); `rediss` in place of `redis` is TLS, whose certificate has to be trusted (`NODE_EXTRA_CA_CERTS`). Sentinels with a password of their own: `?sentinel_password=…`.',
    'Node',
    {
      valueFormat:
        '`redis://host:port`, `redis+sentinel://host:port,…/master`, `redis+cluster://host:port,…`; `valkey` stands for `redis`',
      unset: 'as `CACHE_DRIVER`',
    },
  ),
  CACHE_DRIVER: describeVariable(
    'Where the cache is without Redis: in the memory of the process, or in an unlogged table of PostgreSQL, which several processes share.',
    'Node',
    { unset: '`memory`; `database` with several `PROCESSES`' },
  ),
  QSTASH_URL: describeVariable('URL of the queue.', everyFunction, { unset: "QStash's own" }),
  QSTASH_TOKEN: describeVariable('Token of the queue.', everyFunction, {
    valueFormat: credentialFormat,
    unset: 'a queue of the process',
  }),
  QSTASH_CURRENT_SIGNING_KEY: describeVariable(
    'Key with which the queue signs its messages.',
    everyFunction,
    {
      valueFormat: credentialFormat,
      unset: 'a queue of the process',
    },
  ),
  QSTASH_NEXT_SIGNING_KEY: describeVariable(
    'Key with which the queue signs after the next rotation of its keys; must differ from the current one.',
    everyFunction,
    {
      valueFormat: credentialFormat,
      unset: 'a queue of the process',
    },
  ),
  JOBS_URL: describeVariable('Public origin of the jobs function, which the queue calls.', everyFunction, {
    unset: '`APP_URL`',
  }),
  S3_PRESET: describeVariable(
    'Service of the object store: gives endpoint, region and URL style where they are not set.',
    objectStoreReaders,
    { unset: 'another service' },
  ),
  S3_BUCKET: describeVariable('Bucket of the object store.', objectStoreReaders, {
    valueFormat: 'text',
    unset: 'folder `DATA_DIR/objects` of the process; none on Workers and Lambda',
  }),
  S3_REGION: describeVariable('Region of the bucket.', objectStoreReaders, {
    valueFormat: 'text',
    unset: 'from `S3_PRESET`',
  }),
  S3_ENDPOINT: describeVariable('URL of the object store.', objectStoreReaders, {
    unset: 'from `S3_PRESET`',
  }),
  S3_ACCESS_KEY_ID: describeVariable('Access key of the object store.', objectStoreReaders, {
    valueFormat: 'text',
    unset: 'as `S3_BUCKET`; with `S3_PRESET=aws` those of the role',
  }),
  S3_SECRET_ACCESS_KEY: describeVariable('Secret of the access key.', objectStoreReaders, {
    valueFormat: 'text',
    unset: 'as `S3_BUCKET`; with `S3_PRESET=aws` those of the role',
  }),
  S3_PATH_STYLE: describeVariable(
    'Whether URLs have the bucket in their path rather than in their host.',
    objectStoreReaders,
    {
      unset: 'from `S3_PRESET`',
    },
  ),
  MAIL_DRIVER: describeVariable(
    'How mail is sent. `resend` and `postmark` are HTTP APIs and require `MAIL_HTTP_TOKEN`; `smtp` requires `SMTP_URL` and is not available on Workers.',
    'jobs',
    {
      unset:
        '`resend` when `MAIL_HTTP_TOKEN` is set; otherwise files in `DATA_DIR/outbox`, which administrators see at `/outbox`; no mail on Workers and Lambda',
    },
  ),
  MAIL_HTTP_ENDPOINT: describeVariable("URL of another service with the provider's API.", 'jobs', {
    unset: "the provider's own",
  }),
  MAIL_HTTP_TOKEN: describeVariable('Token of the provider.', 'jobs', {
    valueFormat: credentialFormat,
    unset: 'as `MAIL_DRIVER`',
  }),
  SMTP_URL: describeVariable('URL of the mail server.', 'jobs', {
    valueFormat: '`smtp://` or `smtps://`, with user name, password and port where the server needs them',
    unset: 'none',
  }),
  MAIL_FROM: describeVariable(
    'Sender of mails, unless the settings `mail.from_name` and `mail.from_address` override it.',
    'jobs',
    {
      valueFormat: '`Name <address>`, or an address',
    },
  ),
  CLIENT_RATE_LIMIT: describeVariable('Requests per minute of one user to the Client API.', 'client'),
  APPLICATION_RATE_LIMIT: describeVariable(
    'Requests per minute of one administrator to the Application API.',
    'application',
  ),
  HOST: describeVariable(
    'Address on which the process listens. With `0.0.0.0` or `::` also set `APP_URL` to the address that browsers use.',
    'Node',
    {
      valueFormat: 'address or host name',
      unset: '`127.0.0.1` and, where it exists, `::1`',
    },
  ),
  PORT: describeVariable('Port on which the process listens; 0 is any free port.', 'Node'),
  PROCESSES: describeVariable(
    'Number of processes that answer requests at the port; `auto` is one for each processor, and one with the embedded database. More than one need PostgreSQL. Each has its own `DATABASE_POOL_SIZE` connections. See [several processes](processes.md).',
    'Node',
    { valueFormat: '`auto`, or a whole number from 1 to 64' },
  ),
  DATA_DIR: describeVariable('Folder in which the process keeps its data.', 'Node', { valueFormat: 'path' }),
  DEMO: describeVariable(
    'Whether the process creates a demo in an empty database and runs a development daemon for it, which runs game servers on this machine without isolation: for trying only. `false` leaves it to the set-up page, which offers it where it is safe. `true` is refused on Workers and Lambda, and where it is not the default.',
    'Node',
    {
      unset:
        '`true` where `APP_URL`, `HOST`, `DATABASE_URL` and `NEON_LOCAL_PROXY` are on loopback or unset; `false` elsewhere',
    },
  ),
  TRUSTED_PROXIES: describeVariable(
    'Number of proxies in front of the process whose `X-Forwarded-For` entries are trusted.',
    'Node',
  ),
  EGRESS_PRIVATE_NETWORKS: describeVariable(
    'Networks outside the public internet in which the panel may call what administrators configure: nodes, database hosts, mail servers, sign-in providers and games. Link-local networks and metadata of clouds are [never called](security.md#what-the-panel-calls).',
    everyFunction,
    { valueFormat: 'addresses or CIDR ranges, separated by commas; `none`' },
  ),
  FETCH_ALLOWED_NETWORKS: describeVariable(
    'Networks outside the public internet from which administrators can import by URL.',
    'application',
    { valueFormat: 'addresses or CIDR ranges, separated by commas', unset: 'none' },
  ),
  LOG_LEVEL: describeVariable('Lowest level that is logged; `off` logs nothing.', everyFunction),
  LOG_ADDRESSES: describeVariable(
    'Whether the line of a request has the address of its caller, which is personal data: for [fail2ban](security.md#fail2ban).',
    everyFunction,
  ),
  METRICS_TOKEN: describeVariable('Bearer token of `/metrics`.', 'client', {
    valueFormat: 'at least 16 characters without spaces',
    unset: '`/metrics` answers 404',
  }),
  OTEL_SDK_DISABLED: describeVariable('Whether there are no traces, whatever else is set.', 'Node'),
  OTEL_TRACES_EXPORTER: describeVariable('How traces leave the panel; `none` is without them.', 'Node'),
  OTEL_EXPORTER_OTLP_ENDPOINT: describeVariable(
    'Where [traces](monitoring.md#traces) are sent, by OTLP over HTTP (protobuf) to `/v1/traces` below it. The other `OTEL_EXPORTER_OTLP_*` variables of OpenTelemetry hold, too.',
    'Node',
    { unset: 'no traces' },
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: describeVariable(
    'The whole URL to which traces are sent, in place of `OTEL_EXPORTER_OTLP_ENDPOINT` and `/v1/traces`.',
    'Node',
    { unset: 'below `OTEL_EXPORTER_OTLP_ENDPOINT`' },
  ),
  OTEL_EXPORTER_OTLP_HEADERS: describeVariable('Headers that are sent with traces, as a token.', 'Node', {
    valueFormat: '`name=value`, separated by commas',
    unset: 'none',
  }),
  OTEL_SERVICE_NAME: describeVariable('Name of the panel in traces.', 'Node', { valueFormat: 'text' }),
  OTEL_RESOURCE_ATTRIBUTES: describeVariable('What else traces say of this panel.', 'Node', {
    valueFormat: '`name=value`, separated by commas',
    unset: 'none',
  }),
  OTEL_TRACES_SAMPLER: describeVariable(
    'Which requests are traced; with `parentbased` a caller that has a trace decides.',
    'Node',
  ),
  OTEL_TRACES_SAMPLER_ARG: describeVariable('Share of the requests for `traceidratio`.', 'Node', {
    valueFormat: 'number from 0 to 1',
  }),
  OTEL_BSP_SCHEDULE_DELAY: describeVariable('Milliseconds between two sendings of spans.', 'Node'),
  SETUP_CODE: describeVariable(
    'Code with which the first administrator is created in the browser.',
    'browser',
    {
      valueFormat: 'at least 12 characters without spaces',
      unset:
        'the Node process prints one at its start while there are no users; `npm run panel -- setup:code` does, too',
    },
  ),
  QSTASH_DEV: describeVariable(
    "Set by QStash's development server, whose keys are public. Refused together with `QSTASH_TOKEN`, and when `APP_URL` is not on loopback.",
    everyFunction,
    { valueFormat: 'must be unset', unset: 'as required' },
  ),
}
