import { vi } from 'vitest'

/** Waits until `check` passes, long enough for slow machines, and gives what it returns. */
export const until = <T>(check: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(check, { timeout: 20_000, interval: 10 })
