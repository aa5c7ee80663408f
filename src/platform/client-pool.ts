import { Client, type ClientConfig } from 'pg'
import type { PoolStatement } from './prepared-query.ts'

/** A connection that is given back by `release`, or closed. */
export type PooledConnection = Client & { release: (destroy: boolean) => void }

/** A connection with what is due on it; times are milliseconds since 1970. */
export type Slot = {
  client: PooledConnection
  /** Sends without a timer of the driver, and without what callers of a connection add to it. */
  send: Client['query']
  idleSince: number
  /** Fails the statement that runs outside a transaction; null without one. */
  fail: ((error: Error) => void) | null
  deadline: number
}

/** What waits for a connection. */
type Taker = { take: (slot: Slot) => void; fail: (error: Error) => void; deadline: number }

export type PoolOptions = { size: number; timeoutMs: number; idleTimeoutMs: number }

/** How many connections are open, idle and allowed, and how much waits for one. */
export type PoolState = { open: number; idle: number; limit: number; waiting: number }

/** The connections of a pool, and what waits for them. */
export type ClientPool = {
  config: ClientConfig
  options: PoolOptions
  slots: Set<Slot>
  idle: Slot[]
  waiting: Taker[]
  connectListeners: ((client: PooledConnection) => void)[]
  /** Resolved when all connections are closed; null while the pool is open. */
  ended: PromiseWithResolvers<void> | null
  sweeper: NodeJS.Timeout
}

/**
 * Opens a pool of at most `size` connections. The driver's own sets three timers for each statement; this one looks at
 * its connections a few times a second. What waits for a connection or an answer for `timeoutMs` fails, and so does its
 * connection.
 */
export function openClientPool(config: ClientConfig, options: PoolOptions): ClientPool {
  const sweeper = setInterval(() => sweep(pool), Math.max(10, Math.min(options.timeoutMs / 10, 500)))
  sweeper.unref()
  const lists = { slots: new Set<Slot>(), idle: [], waiting: [], connectListeners: [] }
  const pool: ClientPool = { config, options, ...lists, ended: null, sweeper }
  return pool
}

const closedError = () => new Error('The pool of connections is closed.')

/** Gives the taker a connection: an idle one, a new one, or the next that is given back. */
export function takeConnection(pool: ClientPool, taker: Taker): void {
  if (pool.ended) return taker.fail(closedError())
  const slot = pool.idle.pop()
  if (slot) taker.take(slot)
  else if (pool.slots.size < pool.options.size) openConnection(pool, taker)
  else pool.waiting.push(taker)
}

function openConnection(pool: ClientPool, taker: Taker): void {
  const { timeoutMs } = pool.options
  const client = new Client({ ...pool.config, connectionTimeoutMillis: timeoutMs }) as PooledConnection
  const send = client.query.bind(client) as Client['query']
  const slot: Slot = { client, send, idleSince: 0, fail: null, deadline: Infinity }
  const query = (statement: PoolStatement | string, values?: unknown[]) =>
    send(withTimeout(statement, timeoutMs), values as never)
  client.query = query as never
  pool.slots.add(slot)
  client.on('error', () => dropConnection(pool, slot))
  client.connect((error: Error | undefined) => {
    if (error) {
      dropConnection(pool, slot)
      taker.fail(error)
      return
    }
    for (const listener of pool.connectListeners) listener(client)
    taker.take(slot)
  })
}

/** Lets the driver time out a statement of its own kind. */
export const withTimeout = (statement: PoolStatement | string, timeoutMs: number): PoolStatement =>
  ({
    ...(typeof statement === 'string' ? { text: statement } : statement),
    query_timeout: timeoutMs,
  }) as PoolStatement

/** Gives a connection to what waits for one, or keeps it. */
export function giveBackConnection(pool: ClientPool, slot: Slot): void {
  if (!pool.slots.has(slot)) return
  if (pool.ended) return dropConnection(pool, slot)
  const next = pool.waiting.shift()
  if (next) return next.take(slot)
  slot.idleSince = Date.now()
  pool.idle.push(slot)
}

/** Closes a connection; what waits may open another. */
export function dropConnection(pool: ClientPool, slot: Slot): void {
  if (!pool.slots.delete(slot)) return
  const at = pool.idle.indexOf(slot)
  if (at >= 0) pool.idle.splice(at, 1)
  slot.client.end().catch(() => undefined)
  const next = pool.waiting.shift()
  if (next) takeConnection(pool, next)
  if (pool.slots.size === 0) pool.ended?.resolve()
}

function sweep(pool: ClientPool): void {
  const now = Date.now()
  for (const slot of pool.slots) {
    if (slot.deadline > now) continue
    slot.fail?.(new Error('The database has not answered in time.'))
    dropConnection(pool, slot)
  }
  while (pool.waiting[0] && pool.waiting[0].deadline <= now)
    pool.waiting.shift()?.fail(new Error('No connection was free in time.'))
  const { idleTimeoutMs } = pool.options
  for (const slot of pool.idle.filter(({ idleSince }) => now - idleSince > idleTimeoutMs))
    dropConnection(pool, slot)
}

/** Closes the pool: nothing begins any more, and what is in progress is finished. */
export function closeClientPool(pool: ClientPool): Promise<void> {
  pool.ended ??= Promise.withResolvers<void>()
  clearInterval(pool.sweeper)
  for (const taker of pool.waiting.splice(0)) taker.fail(closedError())
  for (const slot of pool.idle.splice(0)) dropConnection(pool, slot)
  if (pool.slots.size === 0) pool.ended.resolve()
  return pool.ended.promise
}
