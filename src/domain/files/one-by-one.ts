import { ApiError, daemonFailure } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { about } from './daemon-failures.ts'
import type { Renew } from './lock.ts'

/**
 * Does `work` for one entry after the other, no longer than a request may take. What failed is given back
 * and not thrown, with the name of the entry: those before it are done, those after it were not tried.
 * Null when all are done.
 */
export async function oneByOne<Entry>(
  panel: Panel,
  renew: Renew,
  entries: readonly Entry[],
  nameOf: (entry: Entry) => string,
  work: (entry: Entry) => Promise<void>,
): Promise<unknown> {
  const deadline = panel.now().getTime() + panel.config.longestWait
  for (const [index, entry] of entries.entries()) {
    try {
      if (panel.now().getTime() > deadline) throw daemonFailure(504, 'The node took too long.')
      await renew()
      await work(entry)
    } catch (error) {
      if (!(error instanceof ApiError) || entries.length === 1) return error
      const progress = `${nameOf(entry)} failed, ${index} of ${entries.length} are done:`
      return about(progress, error)
    }
  }
  return null
}
