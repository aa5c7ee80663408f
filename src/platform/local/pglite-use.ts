import type { PGlite } from '@electric-sql/pglite'
import type { PoolState } from '../client-pool.ts'

/**
 * Counts what uses the engine from now on, and returns the state of its only connection: a statement or a transaction
 * has it, and others wait.
 */
export function countUse(engine: Pick<PGlite, 'query' | 'transaction'>): () => PoolState {
  let users = 0
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    users += 1
    try {
      return await work()
    } finally {
      users -= 1
    }
  }
  const query = engine.query.bind(engine)
  const transaction = engine.transaction.bind(engine)
  engine.query = ((...input: Parameters<typeof query>) =>
    counted(() => query(...input))) as typeof engine.query
  engine.transaction = ((...input: Parameters<typeof transaction>) =>
    counted(() => transaction(...input))) as typeof engine.transaction
  return () => ({ open: 1, idle: users === 0 ? 1 : 0, limit: 1, waiting: Math.max(0, users - 1) })
}
