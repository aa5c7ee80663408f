import { DaemonError } from '../../adapters/daemon.ts'
import { conflict } from '../../errors.ts'
import type { Panel } from '../../panel.ts'

type Server = { uuid: string }

/** Seconds after which a lock is free again when whoever held it is gone: longer than two calls to a daemon. */
const lockSeconds = 30
/** Milliseconds for which the lock is waited for. */
const longestWait = 5_000
/** Seconds for which the mark of several long operations stays: no one of them takes longer. */
const longestOperation = 600

const lockKey = ({ uuid }: Server) => `files:${uuid}`
const busyKey = ({ uuid }: Server) => `files-busy:${uuid}`

/** To be called between the steps of work that takes longer than two calls to a daemon. */
export type Renew = () => Promise<void>

/**
 * Runs `work` while no other request of the panel changes files of the server by short operations. Refuses
 * with 409 after 5 seconds in vain. Without the cache everybody gets through: the daemon still refuses to
 * move anything over what is there. Spec: Client API, file trash: restore never overwrites.
 */
export async function exclusively<T>(
  panel: Panel,
  server: Server,
  work: (renew: Renew) => Promise<T>,
): Promise<T> {
  const key = lockKey(server)
  const holder = crypto.randomUUID()
  if (!(await acquire(panel, key, holder))) {
    throw conflict('Other files of the server are being changed. Try again in a moment.')
  }
  let renewedAt = panel.now().getTime()
  const renew = async () => {
    const now = panel.now().getTime()
    if (now - renewedAt < (lockSeconds / 6) * 1000) return
    renewedAt = now
    await panel.cache.set(key, holder, lockSeconds).catch(() => undefined)
  }
  try {
    return await work(renew)
  } finally {
    await release(panel, key, holder)
  }
}

/**
 * Runs `work`, which changes files for up to `seconds`, with the server marked for `refuseBusy`; it begins
 * while nobody holds the lock, and does not hold it. The mark stays for its time when `work` ends with a
 * `DaemonError` without an answer, since the daemon goes on. Refuses as `exclusively` does.
 */
export async function busily<T>(
  panel: Panel,
  server: Server,
  seconds: number,
  work: () => Promise<T>,
): Promise<T> {
  const key = busyKey(server)
  const holder = crypto.randomUUID()
  await exclusively(panel, server, () => mark(panel, key, holder, seconds))
  try {
    const result = await work()
    await release(panel, key, holder)
    return result
  } catch (error) {
    const mayGoOn = error instanceof DaemonError && error.status === null && error.retryAfter === null
    if (!mayGoOn) await release(panel, key, holder)
    throw error
  }
}

/** No long operation changes files of the server. Refuses with 409; call it inside `exclusively`. */
export async function refuseBusy(panel: Panel, server: Server): Promise<void> {
  const holder = await panel.cache.get(busyKey(server)).catch(() => null)
  if (holder !== null) throw conflict('A longer operation on the files of the server is still going on.')
}

/**
 * True as soon as the key is ours, or the cache is away; false after the longest wait. Pauses grow, for the
 * sake of the cache, and differ by chance: those who wait must not ask all at once again and again.
 */
async function acquire(panel: Panel, key: string, holder: string): Promise<boolean> {
  let waited = 0
  for (;;) {
    if (await panel.cache.add(key, holder, lockSeconds).catch(() => true)) return true
    if (waited >= longestWait) return false
    const pause = (25 + waited / 10) * (0.5 + Math.random())
    await new Promise((resolve) => setTimeout(resolve, pause))
    waited += pause
  }
}

/** The mark of one operation is its own; that of several belongs to nobody and runs out by itself. */
async function mark(panel: Panel, key: string, holder: string, seconds: number): Promise<void> {
  try {
    if (await panel.cache.add(key, holder, seconds)) return
    await panel.cache.set(key, 'several', longestOperation)
  } catch {
    // Without the cache nobody asks for marks either.
  }
}

/** Gives back what is still ours. */
async function release(panel: Panel, key: string, holder: string): Promise<void> {
  try {
    if ((await panel.cache.get(key)) === holder) await panel.cache.remove(key)
  } catch {
    // It runs out by itself.
  }
}
