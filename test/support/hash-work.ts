import { createHook } from 'node:async_hooks'

/** How many passwords were hashed while `work` ran, and how many at once at most; those of bcrypt are not seen. */
export async function hashWork(
  work: () => Promise<unknown>,
): Promise<{ hashes: number; mostAtOnce: number }> {
  const running = new Set<number>()
  let hashes = 0
  let mostAtOnce = 0
  const hook = createHook({
    init: (id, type) => {
      if (type !== 'SCRYPTREQUEST') return
      hashes += 1
      mostAtOnce = Math.max(mostAtOnce, running.add(id).size)
    },
    before: (id) => void running.delete(id),
  }).enable()
  try {
    await work()
  } finally {
    hook.disable()
  }
  return { hashes, mostAtOnce }
}
