import { causeOf, log } from '../../log.ts'
import type { Panel } from '../../panel.ts'

const cacheKey = 'tick:last'
/** Lifetime in the cache in seconds. */
const ttlSeconds = 7 * 86_400

/**
 * Returns when the last complete tick began; null when the cache does not know. Throws while the cache is
 * unavailable.
 */
export async function readLastTick(panel: Panel): Promise<Date | null> {
  const at = await panel.cache.get<number>(cacheKey)
  return at === null ? null : new Date(at)
}

/** Stores in the cache when the last complete tick began; logs a warning while the cache is unavailable. */
export async function storeLastTick(panel: Panel, startedAt: Date): Promise<void> {
  try {
    await panel.cache.set(cacheKey, startedAt.getTime(), ttlSeconds)
  } catch (error) {
    log('warn', 'The time of the tick could not be stored in the cache.', { cause: causeOf(error) })
  }
}
