import pLimit from 'p-limit'

/** Calls to one daemon that run at the same time. */
const maxConcurrency = 4

/**
 * Runs `work` for each item, four at a time, and returns the results in the order of the items. After a failure
 * no further item is begun; the failure is thrown once the running ones have ended.
 */
export async function mapWithConcurrency<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const limit = pLimit(maxConcurrency)
  const results: Result[] = []
  const failures: unknown[] = []
  await limit.map(items, async (item, index) => {
    if (failures.length > 0) return
    try {
      results[index] = await work(item)
    } catch (error) {
      failures.push(error)
    }
  })
  if (failures.length > 0) throw failures[0]
  return results
}
