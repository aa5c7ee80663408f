/** How many calls to one daemon are under way at once. */
const atOnce = 4

/**
 * Does `work` for each item, some at a time. After a failure no further one is begun; it is thrown once those
 * under way are over.
 */
export async function forSeveral<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = [...items]
  const failures: unknown[] = []
  const worker = async () => {
    while (failures.length === 0) {
      const item = queue.shift()
      if (item === undefined) return
      // oxlint-disable-next-line no-await-in-loop -- one after the other, beside the other workers
      await work(item).catch((error: unknown) => void failures.push(error))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  if (failures.length > 0) throw failures[0]
}
