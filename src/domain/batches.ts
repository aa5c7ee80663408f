/** Rows that one statement removes at most: no table is held for long. */
export const batchSize = 1000
/** Statements in a row: a job must come to an end. */
const mostBatches = 20

/** Repeats a removal, which gives how many rows went, until it finds less than a batch; false when there may be more. */
export async function inBatches(remove: () => Promise<number>): Promise<boolean> {
  for (let at = 0; at < mostBatches; at += 1) if ((await remove()) < batchSize) return true
  return false
}
