import { createHook } from 'node:async_hooks'

/** Counts the passwords hashed while `work` runs, and the maximum at once; bcrypt is not counted. */
export async function measureHashes(
  work: () => Promise<unknown>,
): Promise<{ hashes: number; maxConcurrent: number }> {
  const running = new Set<number>()
  let hashes = 0
  let maxConcurrent = 0
  const hook = createHook({
    init: (id, type) => {
      if (type !== 'SCRYPTREQUEST') return
      hashes += 1
      maxConcurrent = Math.max(maxConcurrent, running.add(id).size)
    },
    before: (id) => void running.delete(id),
  }).enable()
  try {
    await work()
  } finally {
    hook.disable()
  }
  return { hashes, maxConcurrent }
}
