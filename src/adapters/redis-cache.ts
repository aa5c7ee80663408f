import { ErrorReply } from '@redis/client'
import { withTimeout } from '../with-timeout.ts'
import { cacheTimeoutMs, withCooldown } from './cache-cooldown.ts'
import type { Cache } from './cache.ts'
import type { RedisAddress } from './redis-address.ts'
import { createRedis, expiration, isOfCertificate, type Redis } from './redis-client.ts'
import { type Call, redisHits } from './redis-hits.ts'

/** A client that connects, or has connected. */
type Opened = { redis: Redis; connected: Promise<unknown> }

/** Replies after which another server has the data, or the same one later. */
const movedPattern = /^(?:READONLY|MASTERDOWN|LOADING|CLUSTERDOWN|MOVED|TRYAGAIN)/

/**
 * Creates a cache over Redis or Valkey by TCP. It connects with the first call, and anew with the first one after a
 * connection was lost. A call that takes longer than `timeoutMs` throws, and calls of the next five seconds throw at once.
 */
export function redisCache(
  address: RedisAddress,
  timeoutMs = cacheTimeoutMs,
): { cache: Cache; close: () => Promise<void> } {
  let current: Opened | null = null
  const drop = async (opened: Opened) => {
    if (current === opened) current = null
    await opened.redis.destroy()
  }
  const call: Call = async (work) => {
    const opened = (current ??= open(address, timeoutMs))
    try {
      const answer = opened.connected.then(() => work(opened.redis))
      return await inTime(answer, timeoutMs)
    } catch (error) {
      if (!isLost(error)) throw error
      drop(opened).catch(() => undefined)
      throw explained(opened.redis.certificateFault() ?? error)
    }
  }
  return {
    cache: cacheOver(call, { timeoutMs, countsTogether: address.kind !== 'cluster' }),
    close: async () => {
      if (current) await drop(current)
    },
  }
}

function open(address: RedisAddress, timeoutMs: number): Opened {
  const redis = createRedis(address, timeoutMs)
  return { redis, connected: redis.connect() }
}

/** Says of a refused certificate whose it is, and what to do; other errors stay as they are. */
function explained(error: unknown): unknown {
  if (!isOfCertificate(error)) return error
  const reason = error.message.replace(/;.*/s, '').replace(/\.?$/, '')
  const advice = 'NODE_EXTRA_CA_CERTS must name the file of its authority'
  return new Error(`The certificate of Redis is refused: ${reason}. ${advice}, and REDIS_URL a name in it.`)
}

const timedOut = Symbol('timed out')

async function inTime<Result>(answer: Promise<Result>, timeoutMs: number): Promise<Result> {
  const result = await withTimeout(answer, timeoutMs, timedOut)
  if (result === timedOut) throw new Error(`Redis did not answer within ${timeoutMs} ms.`)
  return result as Result
}

/** Whether the next call needs a new client. Other refusals, as of a full memory, are of the call alone. */
const isLost = (error: unknown) => !(error instanceof ErrorReply) || movedPattern.test(error.message)

/** `countsTogether`: whether one command may have the keys of several counters, which those of a cluster may not. */
type CacheOptions = { timeoutMs: number; countsTogether: boolean }

function cacheOver(call: Call, { timeoutMs, countsTogether }: CacheOptions): Cache {
  const guarded = withCooldown(timeoutMs)
  const hit = redisHits(call, countsTogether)
  return {
    get: (key) => guarded(() => call(async (redis) => decode(await redis.get(key)))),
    set: async (key, value, seconds) =>
      void (await guarded(() =>
        call((redis) => redis.set(key, encode(value), { expiration: expiration(seconds) })),
      )),
    add: async (key, value, seconds) => {
      const options = { expiration: expiration(seconds), condition: 'NX' as const }
      return (await guarded(() => call((redis) => redis.set(key, encode(value), options)))) === 'OK'
    },
    remove: async (key) => void (await guarded(() => call((redis) => redis.del(key)))),
    hit: (key, seconds) => guarded(() => hit(key, seconds)),
    // Answered by every kind of server; a cluster has no other question without a place.
    ping: async () => void (await call((redis) => redis.get('ping'))),
  }
}

/** As the REST client of Upstash writes values: functions and processes can share a database. */
const encode = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function decode<T>(text: string | null): T | null {
  if (text === null) return null
  try {
    return JSON.parse(text) as T
  } catch {
    return text as T
  }
}
