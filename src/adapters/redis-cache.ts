import { ErrorReply } from '@redis/client'
import { withTimeout } from '../with-timeout.ts'
import { cacheTimeoutMs, withCooldown } from './cache-cooldown.ts'
import { askAlone, batchCalls, type CacheCall, cacheOf, type CacheRow } from './cache-batches.ts'
import type { Cache } from './cache.ts'
import type { RedisAddress } from './redis-address.ts'
import { createRedis, expiration, isOfCertificate, type Redis } from './redis-client.ts'
import { countHits } from './redis-hits.ts'

/** Works with a connected client. */
type Call = <Result>(work: (redis: Redis) => Promise<Result>) => Promise<Result>

/** A client that connects, or has connected. */
type Opened = { redis: Redis; connected: Promise<unknown> }

/** Replies after which another server has the data, or the same one later. */
const movedPattern = /^(?:READONLY|MASTERDOWN|LOADING|CLUSTERDOWN|MOVED|TRYAGAIN)/

/**
 * Creates a cache over Redis or Valkey by TCP. It connects with the first call, and anew with the first one after a
 * connection was lost. Commands of one turn of the event loop, and while many ask of a few milliseconds, are sent together.
 * A call that takes longer than `timeoutMs` throws, and calls of the next five seconds throw at once.
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
    cache: cacheOver(call, { timeoutMs, together: address.kind !== 'cluster' }),
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

/** `together`: whether one command may have the keys of several counters, which those of a cluster may not. */
type CacheOptions = { timeoutMs: number; together: boolean }

function cacheOver(call: Call, { timeoutMs, together }: CacheOptions): Cache {
  const guarded = withCooldown(timeoutMs)
  const count = countHits(together)
  const run = async (calls: CacheCall[]) => call((redis) => runCalls(redis, calls, count))
  // Of a cluster one node may be away.
  const asked = together ? batchCalls(run) : askAlone(run)
  return {
    ...cacheOf((each) => guarded(() => asked(each)), { encode, decode }),
    // Answered by every kind of server; a cluster has no other question without a place.
    ping: async () => void (await call((redis) => redis.get('ping'))),
  }
}

/** Sends the commands of all calls together. What Redis refuses of one call is the fault of that call alone. */
async function runCalls(
  redis: Redis,
  calls: CacheCall[],
  count: ReturnType<typeof countHits>,
): Promise<CacheRow[]> {
  const hits = calls.filter(({ kind }) => kind === 'hit')
  const counted = hits.length === 0 ? [] : count(redis, hits).catch(faultsOf(hits))
  const others = calls.filter(({ kind }) => kind !== 'hit')
  const rows = await Promise.all([
    counted,
    ...others.map((each) => runCall(redis, each).catch(faultsOf([each]))),
  ])
  return rows.flat()
}

/** Runs one call that counts nothing; returns the row of its key, or none. */
async function runCall(redis: Redis, { kind, key, json, seconds }: CacheCall): Promise<CacheRow[]> {
  const row = { kind, key, value: null, hits: null, remaining: null }
  const options = { expiration: expiration(seconds) }
  if (kind === 'get') return [{ ...row, value: await redis.get(key) }]
  if (kind === 'remove') await redis.del(key)
  if (kind === 'set') await redis.set(key, json ?? '', options)
  if (kind !== 'add') return []
  const added = await redis.set(key, json ?? '', { ...options, condition: 'NX' })
  return added === 'OK' ? [row] : []
}

/** Returns what makes rows of a refusal, unless it is of the server or the connection as a whole. */
const faultsOf = (calls: CacheCall[]) => (error: unknown) => {
  if (isLost(error)) throw error
  return calls.map(({ kind, key }) => ({ kind, key, value: null, hits: null, remaining: null, fault: error }))
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
