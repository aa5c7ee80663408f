/** Maximum of rows that one statement deletes, so that no table is locked for long. */
export const batchSize = 1000
/** Maximum of statements in one call, so that a job comes to an end. */
const maxBatches = 20

/**
 * Repeats a deletion, which returns how many rows it deleted, until it deletes less than a batch. Returns false
 * when rows may be left.
 */
export async function deleteInBatches(deleteBatch: () => Promise<number>): Promise<boolean> {
  for (let at = 0; at < maxBatches; at += 1) if ((await deleteBatch()) < batchSize) return true
  return false
}
