import { countPendingMigrations } from '../../db/migration-state.ts'
import { verifyWrites } from '../../db/write-failures.ts'
import type { Panel } from '../../panel.ts'
import { readLastTick } from '../jobs/tick-history.ts'
import { singleFlight } from '../single-flight.ts'

/** Milliseconds after which a component counts as failed. */
const timeoutMs = 3000
/** Milliseconds for which a report is reused, so that frequent checks do not load the components. */
const cacheMs = 10_000
/** Seconds after which the minute tick counts as failed: two were missed. */
const maxTickAgeSeconds = 180

/** `unknown` when it cannot be determined because another component failed or nothing has run yet. */
export type ComponentState = 'ok' | 'failed' | 'unknown'

export type Health = {
  status: 'ok' | 'degraded' | 'down'
  parts: Record<'database' | 'cache' | 'queue' | 'objects' | 'tick' | 'migrations', ComponentState>
  /** How long each component took to answer or time out. */
  milliseconds: Record<'database' | 'cache' | 'queue' | 'objects', number>
  /** Seconds since the last completed minute tick. */
  tickAge: number | null
  pendingMigrations: number | null
}

/** The last report of this process, by cache. */
const reports = new WeakMap<object, { health: Health; at: number }>()

/**
 * Reports the state of each component, at most ten seconds old. The panel is down without its database, and
 * degraded when another component has failed.
 */
export async function checkHealth(panel: Panel): Promise<Health> {
  const now = panel.now().getTime()
  const cached = reports.get(panel.cache)
  if (cached && now - cached.at < cacheMs) return cached.health
  // Parallel requests get the old report while this one probes.
  if (cached) cached.at = now
  const health = await singleFlight(panel, 'health', () => checkComponents(panel))
  reports.set(panel.cache, { health, at: now })
  return health
}

async function checkComponents(panel: Panel): Promise<Health> {
  const [database, cache, queue, objects] = await Promise.all([
    probe(checkDatabase(panel)),
    probe(readLastTick(panel)),
    probe(panel.queue.ping()),
    probe(panel.objects.ping()),
  ])
  const tickAge = cache.result ? (panel.now().getTime() - cache.result.getTime()) / 1000 : null
  const pendingMigrations = database.result ?? null
  const parts = {
    database: database.state,
    cache: cache.state,
    queue: queue.state,
    objects: objects.state,
    tick: stateOf(tickAge, (age) => age <= maxTickAgeSeconds),
    migrations: stateOf(pendingMigrations, (count) => count === 0),
  }
  const milliseconds = {
    database: database.milliseconds,
    cache: cache.milliseconds,
    queue: queue.milliseconds,
    objects: objects.milliseconds,
  }
  const isDegraded = Object.values(parts).includes('failed')
  const status = database.state === 'failed' ? 'down' : isDegraded ? 'degraded' : 'ok'
  return { status, parts, milliseconds, tickAge: tickAge && Math.round(tickAge), pendingMigrations }
}

/** Returns how many migrations are pending. Throws when the database does not answer, and when it cannot write. */
async function checkDatabase({ db, transaction }: Panel): Promise<number | null> {
  const pending = await countPendingMigrations(db)
  await verifyWrites(db, transaction)
  return pending
}

const stateOf = (value: number | null, isGood: (value: number) => boolean): ComponentState =>
  value === null ? 'unknown' : isGood(value) ? 'ok' : 'failed'

type ProbeResult<T> = { state: 'ok' | 'failed'; result: T | null; milliseconds: number }

async function probe<T>(work: Promise<T>): Promise<ProbeResult<T>> {
  const startMs = performance.now()
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('The component does not answer.')), timeoutMs)
  const outcome = await Promise.race([work, timeout]).then(
    (result) => ({ state: 'ok' as const, result }),
    () => ({ state: 'failed' as const, result: null }),
  )
  clearTimeout(timer)
  return { ...outcome, milliseconds: Math.round(performance.now() - startMs) }
}
