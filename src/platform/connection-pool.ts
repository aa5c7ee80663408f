import type { Database } from '../db/database.ts'
import type { OpenedDatabase } from './postgres.ts'
import { timingStatement } from './statement-count.ts'

/**
 * Milliseconds after which the database counts as out of reach: for a connection, and for the answer to a statement.
 * Daemons wait for half a minute.
 */
export const longestSilence = 10_000

type Listening = {
  on: (event: 'error', listener: () => void) => unknown
  off: (event: 'error', listener: () => void) => unknown
}
type Querying = { query: unknown }
type PooledClient = Listening & Querying & { release: (destroy: boolean) => void }

/** What the pools of both drivers have in common. */
type Pool<Client extends PooledClient> = Querying & {
  on(event: 'connect', listener: (client: Client) => void): unknown
  on(event: 'error', listener: () => void): unknown
  connect: () => Promise<Client>
  end: () => Promise<void>
}

/** A database over a pool, of which `open` makes what drizzle speaks to. What never reached it fails with SQLSTATE 08006. */
export function overPool<Client extends PooledClient, Opened extends Pool<Client>>(
  pool: Opened,
  open: (connection: Opened | Client) => Database,
): OpenedDatabase {
  nameFailures(pool)
  pool.on('connect', nameFailures)
  // A connection that breaks while it rests is replaced; without a listener it would end the process.
  pool.on('error', ignored)
  return {
    db: open(pool),
    transaction: async (work) => {
      const client = await pool.connect().catch(throwNamed)
      client.on('error', ignored)
      let isLost = false
      try {
        return await open(client).transaction(work)
      } catch (error) {
        isLost = saysLost(error)
        throw error
      } finally {
        client.off('error', ignored)
        // Nobody else is given a connection that still waits for an answer.
        client.release(isLost)
      }
    },
    close: () => pool.end(),
  }
}

/** Lets every failure of `query` carry an SQLSTATE: what has none never reached the database. Its time is counted. */
export function nameFailures(connection: Querying): void {
  const query = (connection.query as (...input: unknown[]) => unknown).bind(connection)
  connection.query = (...input: unknown[]) => {
    const result = query(...input) as Promise<unknown> | undefined
    // The pool itself asks with a callback.
    return typeof result?.catch === 'function' ? timingStatement(result).catch(throwNamed) : result
  }
}

/** For `.catch`: throws the failure with an SQLSTATE. */
export function throwNamed(error: unknown): never {
  const { code, message } = error as { code?: unknown; message?: unknown }
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) throw error
  // A WebSocket fails with an event, which is no error and often says nothing.
  const reason = typeof message === 'string' && message !== '' ? message : 'the connection failed'
  throw Object.assign(new Error(`The database is out of reach: ${reason}`), { code: '08006' })
}

/** Whether a failure means that the connection is of no use any more. */
const saysLost = (error: unknown): boolean =>
  error instanceof Error && ((error as { code?: unknown }).code === '08006' || saysLost(error.cause))

export const ignored = () => undefined
