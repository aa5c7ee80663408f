import type { Database } from '../db/database.ts'
import type { DatabaseHandle } from './postgres.ts'
import { timeStatement } from './statement-stats.ts'

/** Milliseconds for opening a connection, and for the answer to a statement. Daemons wait for half a minute. */
export const databaseTimeoutMs = 10_000

type ErrorEmitter = {
  on: (event: 'error', listener: () => void) => unknown
  off: (event: 'error', listener: () => void) => unknown
}
type Queryable = { query: unknown }
type PooledClient = ErrorEmitter & Queryable & { release: (destroy: boolean) => void }

/** The pools of both drivers. */
type Pool<Client extends PooledClient> = Queryable & {
  on(event: 'connect', listener: (client: Client) => void): unknown
  on(event: 'error', listener: () => void): unknown
  connect: () => Promise<Client>
  end: () => Promise<void>
}

/**
 * Returns a database over the pool of a driver; `open` wraps the pool, or one connection of it, for Drizzle. Statements
 * that do not reach the database fail with SQLSTATE 08006.
 */
export function databaseOverPool<Client extends PooledClient, Opened extends Pool<Client>>(
  pool: Opened,
  open: (connection: Opened | Client) => Database,
): DatabaseHandle {
  addSqlState(pool)
  pool.on('connect', addSqlState)
  // The pool replaces an idle connection that breaks; without a listener the error would end the process.
  pool.on('error', ignoreError)
  // Wrapping a connection costs more than a statement over it.
  const wrapped = new WeakMap<Client, Database>()
  const wrap = (client: Client): Database => {
    const database = wrapped.get(client) ?? open(client)
    wrapped.set(client, database)
    return database
  }
  return {
    db: open(pool),
    transaction: async (work) => {
      const client = await pool.connect().catch((error: unknown) => {
        throw toDatabaseError(error)
      })
      client.on('error', ignoreError)
      let hasLostConnection = false
      try {
        return await wrap(client).transaction(work)
      } catch (error) {
        hasLostConnection = isConnectionLost(error)
        throw error
      } finally {
        client.off('error', ignoreError)
        // A connection that still waits for an answer must not go back to the pool.
        client.release(hasLostConnection)
      }
    },
    close: () => pool.end(),
  }
}

/** Makes `query` fail with errors that have an SQLSTATE, and adds its time to the statistics of the request. */
export function addSqlState(connection: Queryable): void {
  const query = (connection.query as (...input: unknown[]) => unknown).bind(connection)
  connection.query = (...input: unknown[]) => {
    const result = query(...input) as Promise<unknown> | undefined
    // The pool itself calls with a callback.
    return typeof result?.catch === 'function' ? timeStatement(result, toDatabaseError, input[0]) : result
  }
}

/** Returns the error, with SQLSTATE 08006 when it has none: then the statement did not reach the database. */
export function toDatabaseError(error: unknown): Error {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return error as Error
  // A WebSocket fails with an event, which often has no message.
  const reason = typeof message === 'string' && message !== '' ? message : 'the connection failed'
  return Object.assign(new Error(`The database cannot be reached: ${reason}`), { code: '08006' })
}

/** Whether an error, or its cause, is a lost connection. */
const isConnectionLost = (error: unknown): boolean =>
  error instanceof Error && ((error as { code?: unknown }).code === '08006' || isConnectionLost(error.cause))

export const ignoreError = () => undefined
