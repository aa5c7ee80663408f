import { countPendingMigrations } from '../db/migration-state.ts'
import type { Panel } from '../panel.ts'
import { joinFlight } from './stats.ts'
import { lastTick } from './tick-history.ts'

/** Milliseconds after which a part counts as failed. */
const patience = 3000
/** Milliseconds for which a report is given again: asking often does not ask the parts often. */
const freshFor = 10_000
/** Seconds after which the minute tick counts as missing: two were left out. */
const longestTickAge = 180

/** Unknown is what could not be asked, because another part is away or nothing happened yet. */
export type PartState = 'ok' | 'failed' | 'unknown'

export type Health = {
  status: 'ok' | 'degraded' | 'down'
  parts: Record<'database' | 'cache' | 'queue' | 'objects' | 'tick' | 'migrations', PartState>
  /** How long each part took to answer, or until it was given up. */
  milliseconds: Record<'database' | 'cache' | 'queue' | 'objects', number>
  /** Seconds since the last minute tick that did all of its work. */
  tickAge: number | null
  pendingMigrations: number | null
}

/** The last report of this process by its cache, and since when nobody need ask again. */
const reports = new WeakMap<object, { health: Health; at: number }>()

/**
 * The state of each part, at most ten seconds old. The panel is down without its database, and degraded when
 * any other part has failed.
 */
export async function checkHealth(panel: Panel): Promise<Health> {
  const now = panel.now().getTime()
  const known = reports.get(panel.cache)
  if (known && now - known.at < freshFor) return known.health
  // Whoever comes while this one asks hears the old report.
  if (known) known.at = now
  const health = await joinFlight(panel, 'health', () => askParts(panel))
  reports.set(panel.cache, { health, at: now })
  return health
}

async function askParts(panel: Panel): Promise<Health> {
  const [database, cache, queue, objects] = await Promise.all([
    ask(countPendingMigrations(panel.db)),
    ask(lastTick(panel)),
    ask(panel.queue.ping()),
    ask(panel.objects.ping()),
  ])
  const tickAge = cache.result ? (panel.now().getTime() - cache.result.getTime()) / 1000 : null
  const pendingMigrations = database.result ?? null
  const parts = {
    database: database.state,
    cache: cache.state,
    queue: queue.state,
    objects: objects.state,
    tick: judge(tickAge, (age) => age <= longestTickAge),
    migrations: judge(pendingMigrations, (count) => count === 0),
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

const judge = (value: number | null, isGood: (value: number) => boolean): PartState =>
  value === null ? 'unknown' : isGood(value) ? 'ok' : 'failed'

type Answer<T> = { state: 'ok' | 'failed'; result: T | null; milliseconds: number }

async function ask<T>(work: Promise<T>): Promise<Answer<T>> {
  const began = performance.now()
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('The part does not answer.')), patience)
  const outcome = await Promise.race([work, late]).then(
    (result) => ({ state: 'ok' as const, result }),
    () => ({ state: 'failed' as const, result: null }),
  )
  clearTimeout(timer)
  return { ...outcome, milliseconds: Math.round(performance.now() - began) }
}
