import { sql } from 'drizzle-orm'
import { batchCalls, type CacheCall, cacheOf, type CacheRow } from '../adapters/cache-batches.ts'
import { cacheTimeoutMs, withCooldown } from '../adapters/cache-cooldown.ts'
import type { Cache } from '../adapters/cache.ts'
import { type Database, prepared, rowsOf } from '../db/database.ts'
import { cacheEntries } from '../db/schema.ts'
import { withTimeout } from '../with-timeout.ts'

/** Expired entries that one statement deletes. */
const pruneBatchSize = 5000

const timedOut = Symbol('timed out')

/**
 * Creates a cache in a table of the database, for several processes without Redis; the clock is the database's. One
 * statement at a time asks for all who wait. A call that takes longer than `timeoutMs` throws, and calls of the next five
 * seconds throw at once. `prune` deletes what has expired.
 */
export function databaseCache(
  db: Database,
  timeoutMs = cacheTimeoutMs,
): { cache: Cache; prune: () => Promise<void> } {
  const guarded = withCooldown(timeoutMs)
  const batched = batchCalls((calls) => inTime(runCalls(db, calls), timeoutMs))
  return {
    cache: {
      ...cacheOf((call) => guarded(() => batched(call)), { encode: JSON.stringify, decode }),
      ping: async () =>
        void (await inTime(db.execute(sql`select 1 from ${cacheEntries} limit 1`), timeoutMs)),
    },
    prune: async () => {
      for (let pruned = pruneBatchSize; pruned === pruneBatchSize;)
        pruned = rowsOf(await db.execute(pruneStatement)).length
    },
  }
}

const decode = <T>(text: string | null) => JSON.parse(text ?? 'null') as T | null

async function inTime<Result>(answer: PromiseLike<Result>, timeoutMs: number): Promise<Result> {
  const result = await withTimeout(Promise.resolve(answer), timeoutMs, timedOut)
  if (result === timedOut) throw new Error(`The table of the cache did not answer within ${timeoutMs} ms.`)
  return result as Result
}

/**
 * Runs calls by one statement. Rows of each kind are locked in one order by all processes, so that none waits for another
 * in a circle.
 */
async function runCalls(db: Database, calls: CacheCall[]): Promise<CacheRow[]> {
  const lists: Record<CacheCall['kind'], unknown[]> = { get: [], set: [], add: [], remove: [], hit: [] }
  for (const { kind, key, json, seconds, count } of calls.toSorted(byKey))
    lists[kind].push(
      kind === 'get' || kind === 'remove' ? key : [key, kind === 'hit' ? count : json, seconds],
    )
  return prepared(db, 'cache_batch', batchStatement).execute({ calls: JSON.stringify(lists) })
}

const byKey = (one: CacheCall, other: CacheCall) => (one.key < other.key ? -1 : 1)

/** Selects the calls of one kind, each as `row`, in their order. */
const callsOf = (kind: CacheCall['kind']) =>
  sql`jsonb_array_elements((select calls->${sql.raw(`'${kind}'`)} from input)) with ordinality batch (row, number)`
const keysOf = (kind: 'get' | 'remove') =>
  sql`array(select row #>> '{}' from ${callsOf(kind)} order by number)`

const expiry = sql`now() + (row->>2)::float8 * interval '1 second'`
const isOver = sql`${cacheEntries.expiresAt} <= now()`

/** Stores values; of `add` only where there is none, or an expired one. */
const storing = (kind: 'set' | 'add') => sql`
  insert into ${cacheEntries} (key, value, expires_at)
  select row->>0, row->>1, ${expiry} from ${callsOf(kind)} order by number
  on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at
  ${kind === 'add' ? sql`where ${isOver}` : sql``}
  returning key`

/** The column rounds to milliseconds: without the one that is taken off, a window of 60 seconds could have 61. */
const counting = sql`
  insert into ${cacheEntries} (key, hits, expires_at)
  select row->>0, (row->>1)::int, ${expiry} from ${callsOf('hit')} order by number
  on conflict (key) do update set
    hits = case when ${isOver} then excluded.hits else ${cacheEntries.hits} + excluded.hits end,
    expires_at = case when ${isOver} then excluded.expires_at else ${cacheEntries.expiresAt} end
  returning key, hits, ceil(extract(epoch from expires_at - now()) - 0.001)::int as remaining`

const removing = sql`
  delete from ${cacheEntries} where key in (
    select key from ${cacheEntries} where key = any(${keysOf('remove')}) order by key for update
  )`

function batchStatement(db: Database) {
  const parts = {
    input: sql`select ${sql.placeholder('calls')}::jsonb as calls`,
    counted: counting,
    added: storing('add'),
    stored: storing('set'),
    removed: removing,
  }
  return db
    .with(...Object.entries(parts).map(([name, part]) => db.$with(name, {}).as(part)))
    .select({
      kind: sql<string>`kind`,
      key: sql<string>`key`,
      value: sql<string | null>`value`,
      hits: sql<number | null>`hits`,
      remaining: sql<number | null>`remaining`,
    })
    .from(
      sql`(
        select 'hit' as kind, key, null as value, hits, remaining from counted
        union all select 'add', key, null, null, null from added
        union all select 'get', key, value, null, null from ${cacheEntries}
        where key = any(${keysOf('get')}) and expires_at > now()
      ) answers`,
    )
    .prepare('cache_batch')
}

const pruneStatement = sql`
  delete from ${cacheEntries} where key in (
    select key from ${cacheEntries} where expires_at < now() order by expires_at
    limit ${sql.raw(String(pruneBatchSize))} for update skip locked
  ) and expires_at < now() returning 1`
