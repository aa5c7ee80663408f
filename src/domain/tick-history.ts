import { causeOf, log } from '../log.ts'
import type { Panel } from '../panel.ts'

const key = 'tick:last'
/** Seconds for which the cache keeps it. */
const memory = 7 * 86_400

/** When the last tick began that did all of its work; null when the cache does not know. Throws while the cache is away. */
export async function lastTick(panel: Panel): Promise<Date | null> {
  const at = await panel.cache.get<number>(key)
  return at === null ? null : new Date(at)
}

/** The tick that began then counts as the last one. Without the cache it is forgotten, with a warning. */
export async function rememberTick(panel: Panel, begun: Date): Promise<void> {
  try {
    await panel.cache.set(key, begun.getTime(), memory)
  } catch (error) {
    log('warn', 'The tick could not be remembered.', { cause: causeOf(error) })
  }
}
