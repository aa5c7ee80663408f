import { ErrorReply } from '@redis/client'
import { batchCalls, type CacheCall, type CacheRow, hitOf } from './cache-batches.ts'
import type { Cache } from './cache.ts'
import { expiration, type Redis } from './redis-client.ts'

/** Works with a connected client. */
export type Call = <Result>(work: (redis: Redis) => Promise<Result>) => Promise<Result>

/** Counts hits of all keys, and answers the count and the seconds left of each. */
const countScript = `
local counted = {}
for at, key in ipairs(KEYS) do
  local hits = redis.call('INCRBY', key, ARGV[2 * at - 1])
  local remaining = redis.call('TTL', key)
  if remaining < 0 then
    remaining = tonumber(ARGV[2 * at])
    redis.call('EXPIRE', key, remaining)
  end
  counted[2 * at - 1] = hits
  counted[2 * at] = remaining
end
return counted`

/** By this digest a server knows the script. */
const countDigest = crypto.subtle
  .digest('SHA-1', new TextEncoder().encode(countScript))
  .then((digest) => Buffer.from(digest).toString('hex'))

/** Says that scripts are unknown here, or not for this user. */
const withoutScripts = /^(?:NOPERM|ERR unknown command)/

/**
 * Returns what counts hits: `together`, all of one turn of the event loop, and of the time until Redis has answered those
 * before, by one command. Where Redis runs no scripts, and in a cluster, where a command has keys of one node only, each key
 * has a transaction.
 */
export function redisHits(call: Call, together: boolean): Cache['hit'] {
  const alone = async (calls: CacheCall[]) => Promise.all(calls.map((each) => countAlone(call, each)))
  if (!together)
    return async (key, seconds) => {
      const row = await countAlone(call, { kind: 'hit', key, json: null, seconds, count: 1 })
      return hitOf({ row, place: 1, count: 1 })
    }
  let runsScripts = true
  const count = batchCalls(async (calls) => {
    if (!runsScripts) return alone(calls)
    try {
      return await call((redis) => countByScript(redis, calls))
    } catch (error) {
      if (!(error instanceof ErrorReply) || !withoutScripts.test(error.message)) throw error
      runsScripts = false
      return alone(calls)
    }
  })
  return async (key, seconds) => hitOf(await count({ kind: 'hit', key, json: null, seconds, count: 1 }))
}

const rowOf = (key: string, hits: unknown, remaining: unknown): CacheRow => ({
  kind: 'hit',
  key,
  value: null,
  hits: Number(hits),
  remaining: Number(remaining),
})

/** Counts hits of one key. A counter that expired between two commands would never do so again, so they are one. */
async function countAlone(call: Call, { key, seconds, count }: CacheCall): Promise<CacheRow> {
  const options = { expiration: expiration(seconds), condition: 'NX' as const }
  const [, hits, remaining] = await call((redis) =>
    redis.multi().set(key, '0', options).incrBy(key, count).ttl(key).exec(),
  )
  return rowOf(key, hits, remaining)
}

async function countByScript(redis: Redis, calls: CacheCall[]): Promise<CacheRow[]> {
  const options = {
    keys: calls.map(({ key }) => key),
    arguments: calls.flatMap(({ count, seconds }) => [String(count), String(seconds)]),
  }
  const counted = (await redis.evalSha(await countDigest, options).catch((error: unknown) => {
    if (!(error instanceof ErrorReply) || !error.message.startsWith('NOSCRIPT')) throw error
    return redis.eval(countScript, options)
  })) as unknown[]
  return calls.map(({ key }, at) => rowOf(key, counted[2 * at], counted[2 * at + 1]))
}
