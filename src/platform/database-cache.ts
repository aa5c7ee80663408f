import { sql, type SQL } from 'drizzle-orm'
import { cacheTimeoutMs, withCooldown } from '../adapters/cache-cooldown.ts'
import type { Cache } from '../adapters/cache.ts'
import { type Database, rowsOf } from '../db/database.ts'
import { cacheEntries } from '../db/schema.ts'
import { withTimeout } from '../with-timeout.ts'
import { batchHits } from './hit-batches.ts'

/** Expired entries that one statement deletes. */
const pruneBatchSize = 5000

const timedOut = Symbol('timed out')

/**
 * Creates a cache in a table of the database, for several processes without Redis; the clock is the database's. A call
 * that takes longer than `timeoutMs` throws, and calls of the next five seconds throw at once. `prune` deletes what has
 * expired.
 */
export function databaseCache(
  db: Database,
  timeoutMs = cacheTimeoutMs,
): { cache: Cache; prune: () => Promise<void> } {
  const guarded = withCooldown(timeoutMs)
  const run = async <Row>(statement: SQL): Promise<Row[]> =>
    rowsOf<Row>(await inTime(db.execute(statement), timeoutMs))
  const hit = batchHits((rows) => run(hitStatement(rows)))
  return {
    cache: {
      get: (key) =>
        guarded(async () => {
          const [row] = await run<{ value: string | null }>(
            sql`select value from ${cacheEntries} where key = ${key} and expires_at > now()`,
          )
          return JSON.parse(row?.value ?? 'null')
        }),
      set: async (key, value, seconds) =>
        void (await guarded(() => run(storeStatement(key, value, seconds, sql``)))),
      add: async (key, value, seconds) => {
        const unless = sql`where ${cacheEntries.expiresAt} <= now()`
        return (await guarded(() => run(storeStatement(key, value, seconds, unless)))).length > 0
      },
      remove: async (key) =>
        void (await guarded(() => run(sql`delete from ${cacheEntries} where key = ${key}`))),
      hit: (key, seconds) => guarded(() => hit(key, seconds)),
      ping: async () => void (await run(sql`select 1 from ${cacheEntries} limit 1`)),
    },
    prune: async () => {
      for (let pruned = pruneBatchSize; pruned === pruneBatchSize;)
        pruned = rowsOf(await db.execute(pruneStatement)).length
    },
  }
}

async function inTime<Result>(answer: Promise<Result>, timeoutMs: number): Promise<Result> {
  const result = await withTimeout(answer, timeoutMs, timedOut)
  if (result === timedOut) throw new Error(`The table of the cache did not answer within ${timeoutMs} ms.`)
  return result as Result
}

const expiry = (seconds: number) => sql`now() + ${seconds}::float8 * interval '1 second'`

/** Stores a value over another one only where `unless` holds for that; returns a row when it did. */
const storeStatement = (key: string, value: unknown, seconds: number, unless: SQL) => sql`
  insert into ${cacheEntries} (key, value, expires_at)
  values (${key}, ${JSON.stringify(value)}, ${expiry(seconds)})
  on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at ${unless}
  returning 1`

/**
 * Counts hits of several keys, which are locked in one order by all processes, so that none waits for another in a circle.
 * The column rounds to milliseconds: without the one that is taken off, a window of 60 seconds could have 61.
 */
const hitStatement = (rows: { key: string; hits: number; seconds: number }[]) => {
  const sorted = rows.toSorted((one, other) => (one.key < other.key ? -1 : 1))
  const values = JSON.stringify(sorted.map(({ key, hits, seconds }) => [key, hits, seconds]))
  const isOver = sql`${cacheEntries.expiresAt} <= now()`
  return sql`
    insert into ${cacheEntries} (key, hits, expires_at)
    select row->>0, (row->>1)::int, now() + (row->>2)::float8 * interval '1 second'
    from jsonb_array_elements(${values}::jsonb) with ordinality batch (row, number) order by number
    on conflict (key) do update set
      hits = case when ${isOver} then excluded.hits else ${cacheEntries.hits} + excluded.hits end,
      expires_at = case when ${isOver} then excluded.expires_at else ${cacheEntries.expiresAt} end
    returning key, hits, ceil(extract(epoch from expires_at - now()) - 0.001)::int as remaining`
}

const pruneStatement = sql`
  delete from ${cacheEntries} where key in (
    select key from ${cacheEntries} where expires_at < now() order by expires_at
    limit ${sql.raw(String(pruneBatchSize))} for update skip locked
  ) and expires_at < now() returning 1`
