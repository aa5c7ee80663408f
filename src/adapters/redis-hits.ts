import { ErrorReply } from '@redis/client'
import type { CacheCall, CacheRow } from './cache-batches.ts'
import { expiration, type Redis } from './redis-client.ts'

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

/** Scripts are unknown here, or not for this user. */
const withoutScripts = /^(?:NOPERM|ERR unknown command)/

/**
 * Returns what counts the hits of several keys: `together`, by one command. Where Redis runs no scripts, and in a cluster,
 * where a command has keys of one node only, each key has a transaction.
 */
export function countHits(together: boolean): (redis: Redis, calls: CacheCall[]) => Promise<CacheRow[]> {
  let runsScripts = together
  const alone = async (redis: Redis, calls: CacheCall[]) =>
    Promise.all(calls.map((each) => countAlone(redis, each)))
  return async (redis, calls) => {
    if (!runsScripts) return alone(redis, calls)
    try {
      return await countByScript(redis, calls)
    } catch (error) {
      if (!(error instanceof ErrorReply) || !withoutScripts.test(error.message)) throw error
      runsScripts = false
      return alone(redis, calls)
    }
  }
}

const rowOf = (key: string, hits: unknown, remaining: unknown): CacheRow => ({
  kind: 'hit',
  key,
  value: null,
  hits: Number(hits),
  remaining: Number(remaining),
})

/** Counts hits of one key. A counter that expired between two commands would never do so again, so they are one. */
async function countAlone(redis: Redis, { key, seconds, count }: CacheCall): Promise<CacheRow> {
  const options = { expiration: expiration(seconds), condition: 'NX' as const }
  const [, hits, remaining] = await redis.multi().set(key, '0', options).incrBy(key, count).ttl(key).exec()
  return rowOf(key, hits, remaining)
}

async function countByScript(redis: Redis, calls: CacheCall[]): Promise<CacheRow[]> {
  const options = {
    keys: calls.map(({ key }) => key),
    arguments: calls.flatMap(({ count, seconds }) => [String(count), String(seconds)]),
  }
  const digest = await countDigest
  const counted = (await redis.evalSha(digest, options).catch((error: unknown) => {
    if (!(error instanceof ErrorReply) || !error.message.startsWith('NOSCRIPT')) throw error
    return redis.eval(countScript, options)
  })) as unknown[]
  return calls.map(({ key }, at) => rowOf(key, counted[2 * at], counted[2 * at + 1]))
}
