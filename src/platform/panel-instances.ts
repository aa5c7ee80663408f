import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { and, eq, gt, ne, sql } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import { panelInstances } from '../db/schema.ts'
import { sign } from '../domain/secrets.ts'
import { log } from '../log.ts'
import { cacheDriver } from './cache-driver.ts'
import type { Env } from './env.ts'
import type { Services } from './open-panel.ts'

/** Minutes after which a panel that has not been seen is no longer there. */
const maxAgeMinutes = 3

type Instance = typeof panelInstances.$inferInsert

/** `beat` says every minute that the panel is there; `leave` that it has ended. */
export type InstanceMembership = { beat: () => Promise<unknown>; leave: () => Promise<unknown> }

/**
 * Enters this panel into the list of those that use its database, and compares what they have to share. Throws where the
 * keys differ; warns of another cache or object store. Spec: docs/processes.md#several-machines.
 */
export async function joinInstances(
  { db, keys }: Pick<Services, 'db' | 'keys'>,
  env: Env,
  directory: string,
): Promise<InstanceMembership> {
  const own = await describe(keys, env, directory)
  const beat = () =>
    db
      .insert(panelInstances)
      .values({ ...own, seenAt: sql`now()` as never })
      .onConflictDoUpdate({ target: panelInstances.id, set: { ...own, seenAt: sql`now()` } })
  const leave = () => db.delete(panelInstances).where(eq(panelInstances.id, own.id))
  // Entered first, so that of two that start at once one sees the other.
  await beat()
  const others = await findOthers(db, own.id)
  const different = others.find((other) => !haveSameKeys(own, other))
  if (different) {
    await leave()
    throw new Error(messageOfOtherKeys(env, different.machine))
  }
  for (const other of others) warnOfDifferences(own, other)
  return { beat, leave }
}

const digest = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 22)

async function describe(keys: Services['keys'], env: Env, directory: string) {
  const machine = hostname()
  return {
    id: digest(`${machine}\n${directory}`),
    machine,
    keys: await Promise.all(keys.map((key) => sign({ keys: [key] }, 'instance', 'fingerprint'))),
    cache: cachePlace(env, `${machine}\n${directory}`),
    objects: env.S3_BUCKET
      ? `bucket ${digest(`${env.S3_ENDPOINT ?? env.S3_PRESET}\n${env.S3_BUCKET}`)}`
      : `disk ${digest(`${machine}\n${directory}`)}`,
  } satisfies Omit<Instance, 'seenAt'>
}

function cachePlace(env: Env, process: string): string {
  const address = env.REDIS_URL ?? env.UPSTASH_REDIS_REST_URL
  if (address !== undefined) return `redis ${digest(JSON.stringify(address))}`
  return cacheDriver(env) === 'database' ? 'database' : `memory ${digest(process)}`
}

const findOthers = (db: Database, id: string): Promise<Instance[]> =>
  db
    .select()
    .from(panelInstances)
    .where(
      and(
        ne(panelInstances.id, id),
        gt(panelInstances.seenAt, sql`now() - ${maxAgeMinutes} * interval '1 minute'`),
      ),
    )

/** Whether each can read what the other writes. */
const haveSameKeys = (own: Omit<Instance, 'seenAt'>, other: Instance): boolean =>
  own.keys.includes(other.keys[0] ?? '') && other.keys.includes(own.keys[0] ?? '')

function messageOfOtherKeys({ APP_KEYS, DATA_DIR }: Env, machine: string): string {
  const file = `${DATA_DIR}/secrets.json`
  const [keys, step] =
    APP_KEYS === undefined
      ? [`The keys of ${file}`, `Bring back that file, or its volume, from where it ran before, or set`]
      : ['APP_KEYS', 'Set']
  return (
    `${keys} differ from those of the panel on ${machine}, which uses the same database: neither could read what the ` +
    `other encrypts. ${step} the same APP_KEYS on every machine; a new key comes last everywhere before it comes first ` +
    `anywhere. If that panel has ended, start again in ${maxAgeMinutes} minutes.`
  )
}

function warnOfDifferences(own: Omit<Instance, 'seenAt'>, other: Instance): void {
  if (own.cache !== other.cache)
    log('warn', 'A panel on another machine has another cache: limits are counted twice.', {
      name: other.machine,
      cause: 'Set the same REDIS_URL on every machine, or CACHE_DRIVER=database.',
    })
  if (own.objects !== other.objects)
    log('warn', 'A panel on another machine has another object store: each misses what the other stores.', {
      name: other.machine,
      cause: 'Set the same S3_BUCKET on every machine.',
    })
}
