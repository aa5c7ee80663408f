import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { upstashCache } from '../../adapters/cache.ts'
import { only, rowsOf } from '../../db/database.ts'
import { countPendingMigrations } from '../../db/migration-state.ts'
import type { Env } from '../../platform/env.ts'
import { lazyObjects } from '../../platform/lazy-objects.ts'
import { openNeon } from '../../platform/neon.ts'
import { type OpenedDatabase, openPostgres } from '../../platform/postgres.ts'
import { s3OptionsOf } from '../../platform/s3-options.ts'
import { tryObjectStore } from '../verbs/backup-test.ts'
import { type Check, check, patience } from '../verbs/checks.ts'
import type { Target } from './next-steps.ts'

type Finding = Omit<Check, 'name'>

const ok = (detail: string): Finding => ({ state: 'ok', detail })
const warn = (detail: string): Finding => ({ state: 'warn', detail })
const fail = (detail: string): Finding => ({ state: 'fail', detail })

/** Whether each outside service that the environment names does what the panel needs of it. Leaves nothing there. */
export async function serviceChecks(env: Env, target: Target): Promise<Check[]> {
  const found = await Promise.all([
    databaseChecks(env, target),
    cacheChecks(env),
    queueChecks(env),
    storeChecks(env),
    mailChecks(env, target),
    addressChecks(env),
  ])
  return found.flat()
}

const oldestPostgres = 15

async function databaseChecks(env: Env, target: Target): Promise<Check[]> {
  if (!env.DATABASE_URL) return []
  const opened = openPostgres(env.DATABASE_URL, 1)
  try {
    const database = await check('database', () => version(opened))
    if (database.state === 'fail') return [database]
    const table = `create table roost_setup_${randomUUID().replaceAll('-', '')} (id int)`
    return [
      database,
      await check('tables', () => tryAndUndo(opened, table, 'tables can be made')),
      await check('pg_trgm', () =>
        tryAndUndo(opened, 'create extension if not exists pg_trgm', 'the extension is there'),
      ),
      await check('migrations', () => migrations(opened, target)),
      ...(await neonChecks(env, env.DATABASE_URL, target)),
    ]
  } finally {
    await opened.close()
  }
}

async function version({ db }: OpenedDatabase): Promise<Finding> {
  const result = await db.execute(sql`select current_setting('server_version') as version`)
  const found = only(rowsOf<{ version: string }>(result)).version
  return Number.parseInt(found, 10) < oldestPostgres
    ? fail(`PostgreSQL ${found}: the panel needs ${oldestPostgres} or newer`)
    : ok(`PostgreSQL ${found}`)
}

async function tryAndUndo(opened: OpenedDatabase, statement: string, detail: string): Promise<Finding> {
  let isDone = false
  const attempt = opened.transaction(async (db) => {
    await db.execute(sql.raw(statement))
    isDone = true
    throw new Error('undone')
  })
  await attempt.catch((error: unknown) => {
    if (!isDone) throw error
  })
  return ok(detail)
}

async function migrations({ db }: OpenedDatabase, target: Target): Promise<Finding> {
  const pending = await countPendingMigrations(db)
  if (pending === null) return fail('the table migrations cannot be read by this role')
  return pending > 0
    ? warn(
        `${pending} pending: npm run migrate applies them, and ${target === 'node' ? 'npm start' : 'a deploy'}`,
      )
    : ok('all applied')
}

/** Functions speak to Neon over HTTP or WebSockets, which no other PostgreSQL understands. */
async function neonChecks(env: Env, url: string, target: Target): Promise<Check[]> {
  if (target === 'node' && env.DATABASE_DRIVER !== 'neon') return []
  const localProxy = env.NEON_LOCAL_PROXY ?? null
  const { db, close } = openNeon(url, { http: target === 'workers', poolSize: 1, localProxy })
  try {
    return [
      await check('neon', async () => {
        await db.execute(sql`select 1`)
        return ok(target === 'workers' ? 'answers over HTTP' : 'answers over WebSockets')
      }),
    ]
  } finally {
    await close()
  }
}

async function cacheChecks({ UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token }: Env) {
  if (!url || !token) return []
  const cache = upstashCache(url, token, patience)
  const [key, value] = [`setup:${randomUUID()}`, randomUUID()]
  const found = await check('cache', async () => {
    await cache.set(key, value, 60)
    if ((await cache.get(key)) !== value) return fail('a value that was stored did not come back')
    await cache.remove(key)
    return (await cache.get(key)) === null
      ? ok('stores, reads and removes')
      : fail('a value could not be removed')
  })
  return [found]
}

async function queueChecks(env: Env): Promise<Check[]> {
  if (!env.QSTASH_TOKEN) return []
  const base = (env.QSTASH_URL ?? 'https://qstash.upstash.io').replace(/\/$/, '')
  let keys: { current?: unknown; next?: unknown } = {}
  // QStash: GET /v2/keys
  const queue = await check('queue', async () => {
    const answer = await fetch(`${base}/v2/keys`, {
      headers: { authorization: `Bearer ${env.QSTASH_TOKEN}` },
      signal: AbortSignal.timeout(patience),
    })
    if (answer.status === 401) return fail('QSTASH_TOKEN is refused: copy it anew from the console of QStash')
    if (!answer.ok)
      return fail(`QStash answered with ${answer.status}: is QSTASH_URL the one of the console?`)
    keys = (await answer.json()) as typeof keys
    return ok('takes the token')
  })
  if (queue.state === 'fail') return [queue]
  return [queue, { name: 'signing keys', ...signingKeys(env, keys) }]
}

function signingKeys(env: Env, { current, next }: { current?: unknown; next?: unknown }): Finding {
  const wrong = [
    ...(env.QSTASH_CURRENT_SIGNING_KEY === current ? [] : ['QSTASH_CURRENT_SIGNING_KEY']),
    ...(env.QSTASH_NEXT_SIGNING_KEY === next ? [] : ['QSTASH_NEXT_SIGNING_KEY']),
  ]
  return wrong.length === 0
    ? ok('are those of QStash')
    : fail(`${wrong.join(' and ')} are not what QStash has: copy both anew from its console`)
}

async function storeChecks(env: Env): Promise<Check[]> {
  const options = s3OptionsOf(env)
  if (!options) return []
  const objects = lazyObjects(options)
  const key = `setup/${randomUUID()}`
  const object = await check('store object', async () => {
    const body = new TextEncoder().encode(key)
    await objects.put(key, body, 'text/plain')
    const found = await objects.get(key)
    await objects.remove(key)
    if (!found || !Buffer.from(found.body).equals(body)) return fail('what came back is not what was sent')
    return (await objects.get(key)) === null ? ok('is put, got and removed') : fail('could not be removed')
  })
  if (object.state === 'fail') return [object]
  const { checks } = await tryObjectStore({ objects })
  return [object, ...checks.map((found) => ({ ...found, name: `store ${found.name}` }))]
}

async function mailChecks(env: Env, target: Target): Promise<Check[]> {
  if (env.MAIL_DRIVER !== 'smtp') {
    const driver = env.MAIL_DRIVER ?? 'resend'
    return env.MAIL_HTTP_TOKEN
      ? [{ name: 'mail', ...ok(`by ${driver}, from ${env.MAIL_FROM.address}; none was sent`) }]
      : [{ name: 'mail', ...warn('nothing sends it: set MAIL_DRIVER, MAIL_FROM and what the driver needs') }]
  }
  if (target === 'workers')
    return [{ name: 'mail', ...fail('Workers do not carry smtp: set MAIL_DRIVER to resend or postmark') }]
  const url = env.SMTP_URL ?? ''
  const found = await check('mail', async () => {
    const { smtpMailer } = await import('../../adapters/smtp-mail.ts')
    await smtpMailer({ url, from: env.MAIL_FROM }).verify()
    return ok(`the server greets, and takes name and password if any; from ${env.MAIL_FROM.address}`)
  })
  return [found]
}

/** Before the first deploy nobody is there, so nothing here is a failure. */
async function addressChecks({ APP_URL: url }: Env): Promise<Check[]> {
  if (!url) return []
  const found = await check('address', async () => {
    const answer = await fetch(`${url}/health`, { redirect: 'manual', signal: AbortSignal.timeout(patience) })
    const { status } = (await answer.json().catch(() => ({}))) as { status?: unknown }
    return typeof status === 'string'
      ? ok(`a panel answers at ${url}`)
      : warn(`at ${url} something else answers`)
  })
  return [
    found.state === 'fail' ? { ...found, state: 'warn', detail: `nobody answers at ${url} yet` } : found,
  ]
}
