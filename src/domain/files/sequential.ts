import { ApiError, daemonFailure } from '../../errors.ts'
import type { Panel } from '../../panel.ts'
import { withContext } from './daemon-failures.ts'
import type { RenewLock } from './lock.ts'

type SequentialWork<Entry> = {
  entries: readonly Entry[]
  /** The name of an entry in the message of its failure. */
  nameOf: (entry: Entry) => string
  renewLock: RenewLock
  work: (entry: Entry) => Promise<void>
}

/**
 * Runs `work` for one entry after the other until the timeout of a request. Returns null when all are done, else
 * the error of the first failure, which names the entry and the progress: the caller records what was done before
 * it throws the error.
 */
export async function runSequentially<Entry>(
  panel: Panel,
  { entries, nameOf, renewLock, work }: SequentialWork<Entry>,
): Promise<unknown> {
  const deadline = panel.now().getTime() + panel.config.maxWaitMs
  for (const [index, entry] of entries.entries()) {
    try {
      if (panel.now().getTime() > deadline)
        throw daemonFailure(504, 'node_slow', 'The node took too long to answer.')
      await renewLock()
      await work(entry)
    } catch (error) {
      if (!(error instanceof ApiError) || entries.length === 1) return error
      const values = { name: nameOf(entry), done: index, total: entries.length }
      const detail = `${values.name} failed, ${index} of ${entries.length} are done:`
      return withContext({ detail, reason: 'entry_failed', values }, error)
    }
  }
  return null
}
