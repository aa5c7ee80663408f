import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { Cache } from '../../adapters/cache.ts'
import { upstashCache } from '../../adapters/upstash-cache.ts'
import { egressRule } from '../../adapters/egress.ts'
import { redisCache } from '../../adapters/redis-cache.ts'
import { single, rowsOf } from '../../db/database.ts'
import { countPendingMigrations } from '../../db/migration-state.ts'
import type { Env } from '../../platform/env.ts'
import { lazyObjectStore } from '../../platform/lazy-object-store.ts'
import { nodeEgress } from '../../platform/node-egress.ts'
import { openNeon } from '../../platform/neon.ts'
import { commandOf } from '../../platform/command-names.ts'
import { type DatabaseHandle, openPostgres } from '../../platform/postgres.ts'
import { s3OptionsOf } from '../../platform/s3-options.ts'
import { checkUploads } from '../operations/backup-test.ts'
import { type Check, runCheck, checkTimeoutMs } from '../operations/checks.ts'
import type { Target } from './next-steps.ts'

type Finding = Omit<Check, 'name'>

const ok = (detail: string): Finding => ({ state: 'ok', detail })
const warn = (detail: string): Finding => ({ state: 'warn', detail })
const fail = (detail: string): Finding => ({ state: 'fail', detail })

/** Checks that each external service which the environment names does what the panel needs. Leaves nothing there. */
export async function serviceChecks(env: Env, target: Target): Promise<Check[]> {
  const found = await Promise.all([
    checkDatabase(env, target),
    checkCache(env),
    checkQueue(env),
    checkObjectStore(env),
    checkMail(env, target),
    checkUrl(env),
  ])
  return found.flat()
}

const minPostgresVersion = 15

async function checkDatabase(env: Env, target: Target): Promise<Check[]> {
  if (!env.DATABASE_URL) return []
  const opened = openPostgres(env.DATABASE_URL, 1)
  try {
    const database = await runCheck('database', () => checkVersion(opened))
    if (database.state === 'fail') return [database]
    const table = `create table roost_setup_${randomUUID().replaceAll('-', '')} (id int)`
    return [
      database,
      await runCheck('tables', () => runRolledBack(opened, table, 'tables can be created')),
      await runCheck('pg_trgm', () =>
        runRolledBack(opened, 'create extension if not exists pg_trgm', 'the extension is available'),
      ),
      await runCheck('migrations', () => checkMigrations(opened, target)),
      ...(await checkNeon(env, env.DATABASE_URL, target)),
    ]
  } finally {
    await opened.close()
  }
}

async function checkVersion({ db }: DatabaseHandle): Promise<Finding> {
  const result = await db.execute(sql`select current_setting('server_version') as version`)
  const found = single(rowsOf<{ version: string }>(result)).version
  return Number.parseInt(found, 10) < minPostgresVersion
    ? fail(`PostgreSQL ${found}: the panel needs ${minPostgresVersion} or newer`)
    : ok(`PostgreSQL ${found}`)
}

async function runRolledBack(opened: DatabaseHandle, statement: string, detail: string): Promise<Finding> {
  let isDone = false
  const attempt = opened.transaction(async (db) => {
    await db.execute(sql.raw(statement))
    isDone = true
    throw new Error('Rolled back.')
  })
  await attempt.catch((error: unknown) => {
    if (!isDone) throw error
  })
  return ok(detail)
}

async function checkMigrations({ db }: DatabaseHandle, target: Target): Promise<Finding> {
  const pending = await countPendingMigrations(db)
  if (pending === null) return fail('this role may not read the table migrations')
  return pending > 0
    ? warn(
        `${pending} pending: ${commandOf('migrate')} applies them, and ${target === 'node' ? commandOf('start') : 'a deploy'}`,
      )
    : ok('all applied')
}

/** Checks the protocols of Neon, HTTP or WebSockets, which other PostgreSQL servers do not speak. */
async function checkNeon(env: Env, url: string, target: Target): Promise<Check[]> {
  if ((env.DATABASE_DRIVER ?? (target === 'node' ? 'postgres' : 'neon')) === 'postgres') return []
  const localProxy = env.NEON_LOCAL_PROXY ?? null
  const { db, close } = openNeon(url, { usesHttp: target === 'workers', poolSize: 1, localProxy })
  try {
    return [
      await runCheck('neon', async () => {
        await db.execute(sql`select 1`)
        return ok(target === 'workers' ? 'answers over HTTP' : 'answers over WebSockets')
      }),
    ]
  } finally {
    await close()
  }
}

async function checkCache(env: Env): Promise<Check[]> {
  const { REDIS_URL, UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token } = env
  if (REDIS_URL) {
    const { cache, close } = redisCache(REDIS_URL, checkTimeoutMs)
    return tryCache(cache).finally(close)
  }
  return url && token ? tryCache(upstashCache(url, token, checkTimeoutMs)) : []
}

async function tryCache(cache: Cache): Promise<Check[]> {
  const [key, value] = [`setup:${randomUUID()}`, randomUUID()]
  const found = await runCheck('cache', async () => {
    await cache.set(key, value, 60)
    if ((await cache.get(key)) !== value) return fail('a stored value could not be read')
    await cache.remove(key)
    return (await cache.get(key)) === null
      ? ok('a value was stored, read and removed')
      : fail('a value could not be removed')
  })
  return [found]
}

async function checkQueue(env: Env): Promise<Check[]> {
  if (!env.QSTASH_TOKEN) return []
  const base = (env.QSTASH_URL ?? 'https://qstash.upstash.io').replace(/\/$/, '')
  let keys: { current?: unknown; next?: unknown } = {}
  // QStash: GET /v2/keys
  const queue = await runCheck('queue', async () => {
    const response = await fetch(`${base}/v2/keys`, {
      headers: { authorization: `Bearer ${env.QSTASH_TOKEN}` },
      signal: AbortSignal.timeout(checkTimeoutMs),
    })
    if (response.status === 401) return fail('QSTASH_TOKEN was rejected: copy it from the console of QStash')
    if (!response.ok)
      return fail(`QStash answered ${response.status}: QSTASH_URL must be the one in its console`)
    keys = (await response.json()) as typeof keys
    return ok('accepts the token')
  })
  if (queue.state === 'fail') return [queue]
  return [queue, { name: 'signing keys', ...checkSigningKeys(env, keys) }]
}

function checkSigningKeys(env: Env, { current, next }: { current?: unknown; next?: unknown }): Finding {
  const wrong = [
    ...(env.QSTASH_CURRENT_SIGNING_KEY === current ? [] : ['QSTASH_CURRENT_SIGNING_KEY']),
    ...(env.QSTASH_NEXT_SIGNING_KEY === next ? [] : ['QSTASH_NEXT_SIGNING_KEY']),
  ]
  return wrong.length === 0
    ? ok('are those of QStash')
    : fail(`copy both keys from the console of QStash; different: ${wrong.join(', ')}`)
}

async function checkObjectStore(env: Env): Promise<Check[]> {
  const options = s3OptionsOf(env)
  if (!options) return []
  const objects = lazyObjectStore(options)
  const key = `setup/${randomUUID()}`
  const object = await runCheck('store object', async () => {
    const body = new TextEncoder().encode(key)
    await objects.put(key, body, 'text/plain')
    const found = await objects.get(key)
    await objects.remove(key)
    if (!found || !Buffer.from(found.body).equals(body)) return fail('the object that was read differs')
    return (await objects.get(key)) === null ? ok('was stored, read and removed') : fail('was not removed')
  })
  if (object.state === 'fail') return [object]
  const checks = await checkUploads({ objects })
  return [object, ...checks.map((found) => ({ ...found, name: `store ${found.name}` }))]
}

async function checkMail(env: Env, target: Target): Promise<Check[]> {
  if (env.MAIL_DRIVER !== 'smtp') {
    const driver = env.MAIL_DRIVER ?? 'resend'
    return env.MAIL_HTTP_TOKEN
      ? [{ name: 'mail', ...ok(`by ${driver}, from ${env.MAIL_FROM.address}; no mail was sent`) }]
      : [{ name: 'mail', ...warn('is not configured: set MAIL_DRIVER, MAIL_FROM and what the driver needs') }]
  }
  if (target === 'workers')
    return [
      { name: 'mail', ...fail('smtp is not available on Workers: set MAIL_DRIVER to resend or postmark') },
    ]
  const url = env.SMTP_URL ?? ''
  const found = await runCheck('mail', async () => {
    const { connect } = nodeEgress(egressRule(env.EGRESS_PRIVATE_NETWORKS))
    const { smtpMailer } = await import('../../adapters/smtp-mail.ts')
    await smtpMailer({ url, from: env.MAIL_FROM, connect }).verify()
    return ok(`the server accepts the connection and the login; from ${env.MAIL_FROM.address}`)
  })
  return [found]
}

/** Checks what answers at the origin of the panel; before the first deployment nothing does, so it never fails. */
async function checkUrl({ APP_URL: url }: Env): Promise<Check[]> {
  if (!url) return []
  const found = await runCheck('address', async () => {
    const response = await fetch(`${url}/health`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(checkTimeoutMs),
    })
    const { status } = (await response.json().catch(() => ({}))) as { status?: unknown }
    return typeof status === 'string'
      ? ok(`a panel answers at ${url}`)
      : warn(`another service answers at ${url}`)
  })
  return [
    found.state === 'fail' ? { ...found, state: 'warn', detail: `nothing answers at ${url} yet` } : found,
  ]
}
