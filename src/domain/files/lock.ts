import { isUnanswered } from '../../adapters/daemon-error.ts'
import { conflict, tooManyRequests } from '../../errors.ts'
import type { Panel } from '../../panel.ts'

type Server = { uuid: string }

/**
 * Seconds after which the lock of a request that ended without releasing it is free: longer than two calls to a
 * daemon.
 */
const lockSeconds = 30
/** Milliseconds that a request waits for a lock. */
const maxLockWaitMs = 5_000
/** Seconds after which the mark of several long operations expires: no single one takes longer. */
const maxOperationSeconds = 600

const lockKey = ({ uuid }: Server) => `files:${uuid}`
const listingKey = ({ uuid }: Server) => `files-list:${uuid}`
const busyKey = ({ uuid }: Server) => `files-busy:${uuid}`

/** Renews the lock; to be called between the steps of work that takes longer than two calls to a daemon. */
export type RenewLock = () => Promise<void>

/**
 * Runs `work` while no other request of the panel changes files of the server by short operations. Refuses with
 * 409 after waiting 5 seconds. Without the cache nothing is locked; the daemon still does not move an entry over
 * another one. Spec: docs/files.md#trash.
 */
export async function withFileLock<T>(
  panel: Panel,
  server: Server,
  work: (renewLock: RenewLock) => Promise<T>,
): Promise<T> {
  const key = lockKey(server)
  const ownerToken = crypto.randomUUID()
  if (!(await acquireLock(panel, key, ownerToken))) {
    throw conflict('files_busy', 'Other files of the server are being changed. Try again in a moment.')
  }
  let renewedAt = panel.now().getTime()
  const renewLock = async () => {
    const now = panel.now().getTime()
    if (now - renewedAt < (lockSeconds / 6) * 1000) return
    renewedAt = now
    await panel.cache.set(key, ownerToken, lockSeconds).catch(() => undefined)
  }
  try {
    return await work(renewLock)
  } finally {
    await releaseKey(panel, key, ownerToken)
  }
}

/**
 * Runs `work` while no other request lists a folder of the server: a large one takes memory while it is read.
 * Refuses with 429 after waiting 5 seconds. Without the cache nothing is locked.
 */
export async function withListingLock<T>(panel: Panel, server: Server, work: () => Promise<T>): Promise<T> {
  const key = listingKey(server)
  if (!(await acquireLock(panel, key, true))) throw tooManyRequests(1)
  try {
    return await work()
  } finally {
    panel.defer(panel.cache.remove(key).catch(() => undefined))
  }
}

/**
 * Runs `work`, which changes files for up to `seconds`, with the server marked as busy. Waits for the lock before
 * it starts, but does not keep it. The mark stays when the daemon did not answer, since it may still be working.
 * Refuses as `withFileLock` does.
 */
export async function withBusyMark<T>(
  panel: Panel,
  server: Server,
  seconds: number,
  work: () => Promise<T>,
): Promise<T> {
  const key = busyKey(server)
  const ownerToken = crypto.randomUUID()
  await withFileLock(panel, server, () => markBusy(panel, key, ownerToken, seconds))
  try {
    const result = await work()
    await releaseKey(panel, key, ownerToken)
    return result
  } catch (error) {
    if (!isUnanswered(error)) await releaseKey(panel, key, ownerToken)
    throw error
  }
}

/** Refuses with 409 while a long operation changes files of the server. Call it inside `withFileLock`. */
export async function refuseBusy(panel: Panel, server: Server): Promise<void> {
  const ownerToken = await panel.cache.get(busyKey(server)).catch(() => null)
  if (ownerToken !== null)
    throw conflict(
      'file_operation_running',
      'Another operation on the files of the server is still running. Try again later.',
    )
}

/**
 * Returns true once the key is set or the cache fails, false after the maximum wait. Delays grow and vary at
 * random, so that waiting requests do not ask the cache all at once.
 */
async function acquireLock(panel: Panel, key: string, ownerToken: string | true): Promise<boolean> {
  let waitedMs = 0
  for (;;) {
    if (await panel.cache.add(key, ownerToken, lockSeconds).catch(() => true)) return true
    if (waitedMs >= maxLockWaitMs) return false
    const retryDelayMs = (25 + waitedMs / 10) * (0.5 + Math.random())
    await new Promise((resolve) => setTimeout(resolve, retryDelayMs))
    waitedMs += retryDelayMs
  }
}

/** Sets the mark to the owner of one operation; the mark of several has no owner and expires by itself. */
async function markBusy(panel: Panel, key: string, ownerToken: string, seconds: number): Promise<void> {
  try {
    if (await panel.cache.add(key, ownerToken, seconds)) return
    await panel.cache.set(key, 'shared', maxOperationSeconds)
  } catch {
    // Without the cache no request reads marks either.
  }
}

/** Removes the key if this request still owns it. */
async function releaseKey(panel: Panel, key: string, ownerToken: string): Promise<void> {
  try {
    if ((await panel.cache.get(key)) === ownerToken) await panel.cache.remove(key)
  } catch {
    // The key expires by itself.
  }
}
